"""How a build is spread over a cluster."""

from pathlib import Path

from pydantic import Field

from assayer.models import Frozen
from workers.embedding_settings import EmbedderSettings

__all__ = ["Share", "Wanted"]


class Share(Frozen):
    """What each embedding process takes."""

    processes: int | None = Field(default=None, ge=1)
    """None: as many as the cluster has GPUs, or processors but one where it has none."""
    cpus: float = Field(default=1.0, gt=0)
    gpus: float | None = Field(default=None, ge=0)
    """None: one where the cluster has any."""
    texts: int = Field(default=2048, ge=1)
    """Embedded and stored together: what a process that dies has to do again."""


class Wanted(Frozen):
    sources: tuple[Path, ...]
    """On a disk that every node has."""
    directory: Path
    """Of the corpus; such a disk too."""
    vectors: str
    """An fsspec address that every node can write to."""
    embedder: EmbedderSettings
    share: Share = Share()
    shards: int | None = Field(default=None, ge=1)
    """None: a corpus that is one."""
    embed_anew: bool = False
