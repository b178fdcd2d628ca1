"""Settings for the reranking model and its resources."""

from typing import Literal

from pydantic import Field

from assayer.models import Frozen
from workers.torch_runtime import Device, Precision

RerankingLibrary = Literal["sentence-transformers", "FlagEmbedding"]


class RerankerSettings(Frozen):
    model: str | None = None
    """The model's name or folder; None disables reranking. sentence-transformers needs a cross-encoder with one output,
    such as `BAAI/bge-reranker-v2-m3` or `BAAI/bge-reranker-base`; FlagEmbedding needs a language model."""
    library: RerankingLibrary = "sentence-transformers"
    """Library that loads the model. FlagEmbedding is for language models that answer Yes or No, such as
    `BAAI/bge-reranker-v2-gemma`."""
    device: Device = "auto"
    precision: Precision = "auto"
    max_tokens: int = Field(default=512, ge=32)
    """Maximum number of tokens in a query and a text together; the model's own maximum also applies. A cross-encoder
    truncates the longer of the two; a language model truncates the text."""
    threads: int | None = Field(default=None, ge=1)
    """CPU threads for one forward pass. None means OMP_NUM_THREADS or, if that is not set, torch's default."""
