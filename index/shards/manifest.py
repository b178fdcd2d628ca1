"""What a version of a corpus in shards is made of: one version of each shard."""

from collections.abc import Sequence
from typing import Literal

from assayer.models import Frozen
from index.fit import FitCalibration
from index.reading.sources import SourceFile
from index.versions.manifest import Changes, RejectionCount
from index.versions.sealing import Sealed

__all__ = ["ShardVersion", "ShardedManifest"]


class ShardVersion(Frozen):
    version: str
    papers: int


class ShardedManifest(Sealed):
    format: Literal["shards-1"] = "shards-1"
    embedder: str
    dimensions: int
    exact_up_to: int
    fit: FitCalibration | None
    """Of the whole; None for a corpus too small to measure."""
    shards: tuple[ShardVersion, ...]
    sources: tuple[SourceFile, ...]
    rejected: tuple[RejectionCount, ...]
    """Lines of the sources that were set aside, the most frequent reason first."""
    changes: Changes | None
    """None for a corpus that was built anew."""

    @property
    def papers(self) -> int:
        return sum(one.papers for one in self.shards)

    def built_from(self, sources: Sequence[SourceFile], embedder: str, exact_up_to: int) -> bool:
        """And not updated since."""
        wanted = (tuple(sources), embedder, exact_up_to, None)
        return (self.sources, self.embedder, self.exact_up_to, self.changes) == wanted
