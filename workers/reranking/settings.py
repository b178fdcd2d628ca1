"""Which cross-encoder reranks, and what it may take."""

from pydantic import Field

from assayer.models import Frozen
from workers.torch_runtime import Device, Precision

__all__ = ["RerankerSettings"]


class RerankerSettings(Frozen):
    model: str | None = None
    """The name of a cross-encoder with one output, such as `BAAI/bge-reranker-v2-m3` or `BAAI/bge-reranker-base`, or a
    folder with one. None: no reranking."""
    device: Device = "auto"
    precision: Precision = "auto"
    max_tokens: int = Field(default=512, ge=32)
    """Of a query and a text together, where the model reads as many; the longer of the two is cut."""
    threads: int | None = Field(default=None, ge=1)
    """Processors that one forward pass uses. None: torch decides, or OMP_NUM_THREADS."""
