"""Which cross-encoder reranks, and what it may take."""

from pydantic import Field

from assayer.models import Frozen
from workers._inference import Device, Precision

__all__ = ["RerankerSettings"]


class RerankerSettings(Frozen):
    model: str | None = None
    """The name of a cross-encoder with one output, such as `BAAI/bge-reranker-v2-m3` or `BAAI/bge-reranker-base`, or a
    folder with one. None: no reranking."""
    device: Device = "auto"
    precision: Precision = "auto"
    """`auto` is bfloat16 on a GPU and on a CPU with AMX, else float32."""
    max_tokens: int = Field(default=512, ge=32)
    """Of a query and a text together, where the model reads as many; the longer of the two is cut."""
    callers: int = Field(default=64, ge=1)
    """Whose texts are queued at once; the others wait their turn."""
