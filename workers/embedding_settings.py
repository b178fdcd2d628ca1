"""Which model embeds texts, and how. Apart from the embedder: reading settings loads no numerical library."""

from pydantic import Field

from assayer.models import Frozen
from workers._inference import Device, Precision

__all__ = ["PACKAGED", "EmbedderSettings"]

PACKAGED = "all-MiniLM-L6-v2"
"""The model that comes as a package: 384 dimensions, 256 tokens."""


class EmbedderSettings(Frozen):
    model: str = PACKAGED
    """The packaged model, the name of any sentence-transformers model, or a folder with one."""
    query_prefix: str = ""
    """Put before queries, for models that were trained so; BGE: `Represent this sentence for searching
    relevant passages: `."""
    passage_prefix: str = ""
    device: Device = "auto"
    precision: Precision = "auto"
    """`auto` is bfloat16 on a GPU and on a CPU with AMX, else float32. Both may search one corpus."""
    memo: int = Field(default=4096, ge=0)
    """Query vectors kept, the least recently used go first."""
