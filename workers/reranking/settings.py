"""Which model reranks, and what it may take."""

from typing import Literal

from pydantic import Field

from assayer.models import Frozen
from workers.torch_runtime import Device, Precision

__all__ = ["RerankerSettings", "RerankingLibrary"]

RerankingLibrary = Literal["sentence-transformers", "FlagEmbedding"]


class RerankerSettings(Frozen):
    model: str | None = None
    """The name of a cross-encoder with one output, such as `BAAI/bge-reranker-v2-m3` or `BAAI/bge-reranker-base`, or a
    folder with one; with the library FlagEmbedding that of a language model. None: no reranking."""
    library: RerankingLibrary = "sentence-transformers"
    """FlagEmbedding: a language model that answers Yes or No, such as `BAAI/bge-reranker-v2-gemma`."""
    device: Device = "auto"
    precision: Precision = "auto"
    max_tokens: int = Field(default=512, ge=32)
    """Of a query and a text together, where the model reads as many; a cross-encoder cuts the longer of the two, a
    language model the text."""
    threads: int | None = Field(default=None, ge=1)
    """Processors that one forward pass uses. None: torch decides, or OMP_NUM_THREADS."""
