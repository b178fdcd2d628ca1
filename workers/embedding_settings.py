"""Which model embeds texts, and how. Apart from the embedder: reading settings loads no numerical library."""

from pydantic import Field

from assayer.models import Frozen
from workers._inference import Device, Precision
from workers.embedding_models import Pooling, Usage, known

__all__ = ["PACKAGED", "EmbedderSettings"]

PACKAGED = "all-MiniLM-L6-v2"
"""The model that comes as a package: 384 dimensions, 256 tokens."""


class EmbedderSettings(Frozen):
    """`pooling`, the prefixes and `max_tokens` are known of usual models (see `workers.embedding_models`) and read from
    the configuration of others; what is set here is stronger."""

    model: str = PACKAGED
    """The packaged model, the name of any sentence-transformers model, or a folder with one."""
    query_prefix: str | None = None
    """Put before queries, for models that were trained so."""
    passage_prefix: str | None = None
    pooling: Pooling | None = None
    max_tokens: int | None = Field(default=None, ge=16)
    """Of a text, its prefix included; the rest is not read. No more than the model can read in any case."""
    device: Device = "auto"
    precision: Precision = "auto"
    """Of any precision, vectors may be searched with those of another in one corpus."""
    threads: int | None = Field(default=None, ge=1)
    """Processors that one forward pass uses. None: torch decides, or OMP_NUM_THREADS."""
    memo: int = Field(default=4096, ge=0)
    """Query vectors kept, the least recently used go first."""

    @property
    def usage(self) -> Usage:
        chosen = {field: value for field, value in self._set._asdict().items() if value is not None}
        return known(self.model)._replace(**chosen)

    @property
    def name(self) -> str:
        """The model, and what is set otherwise than is usual with it: all that changes vectors, but for the precision,
        which changes them less than it changes rankings."""
        labels = ("pooling", "query", "passage", "tokens")
        said = zip(labels, self._set, known(self.model), strict=True)
        return self.model + "".join(
            f" {label}={mine!r}" for label, mine, usual in said if mine is not None and mine != usual
        )

    @property
    def _set(self) -> Usage:
        return Usage(self.pooling, self.query_prefix, self.passage_prefix, self.max_tokens)
