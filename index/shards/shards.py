"""The directory of a corpus in shards: corpora side by side, and versions that name one version of each.

    DIRECTORY/
    ├── current                  the version of the whole that answers; replaced atomically
    ├── lock                     held while somebody builds
    ├── shards/NN/               a corpus like any other, of the papers whose ids' hashes say so
    └── versions/VERSION/        manifest.json: which version of each shard

Shards are built and updated with the same functions as a corpus that is one. What a shard calls its current version
answers nobody: it answers once a version of the whole names it. So a night that ends between two shards has changed
nothing, and the next one begins from what answers.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assayer.errors import CorpusError
from index.ids import hashed
from index.shards.manifest import ShardedManifest
from index.versions.sealing import read_sealed, write_sealed
from index.versions.versions import Versions

__all__ = ["KEEP_ALL", "Shards", "is_sharded", "shard_of"]

KEEP_ALL = 2**31
"""`BuildOptions.keep` of a shard: which of its versions may go is known only where those of the whole are."""
_SHARDS = "shards"


def shard_of(ids: Iterable[str], count: int) -> NDArray[np.int64]:
    """The shard of each paper."""
    return (hashed(ids) % np.uint64(count)).astype(np.int64)


def is_sharded(directory: Path) -> bool:
    return (directory / _SHARDS).is_dir()


class Shards:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.versions = Versions(directory)
        """Of the whole."""

    def shard(self, number: int) -> Path:
        """The directory of a shard, from 0."""
        return self.directory / _SHARDS / f"{number:02d}"

    def read(self, version: str | None = None) -> ShardedManifest:
        """Of the current version by default. Raises CorpusError when there is none, or it is not as it was written."""
        directory = self.versions.current() if version is None else self.versions.path(version)
        return read_sealed(directory, ShardedManifest)

    @contextmanager
    def building(self, count: int | None = None) -> Iterator[int]:
        """Tells how many shards there are; `count` for a corpus that is begun. Every shard's own current version is
        then the one that answers. Raises CorpusError while another process builds here, and for a corpus that has
        another number of shards or none."""
        self._refuse_other_count(count)
        with self.versions.building():
            (self.directory / _SHARDS).mkdir(exist_ok=True)
            published = self.read().shards if self.versions.name() else ()
            for number, one in enumerate(published):
                shard = Versions(self.shard(number))
                if shard.name() != one.version:
                    shard.point_at(one.version)
            yield count or len(published)

    def publish(self, manifest: ShardedManifest, keep: int) -> None:
        """Makes it the current version, then prunes."""
        if self.versions.path(manifest.version).is_dir():
            self.versions.point_at(manifest.version)
        else:
            with self.versions.unfinished() as directory:
                write_sealed(manifest, directory)
                self.versions.publish(directory, manifest.version)
        self.prune(keep)

    def prune(self, keep: int) -> None:
        """Removes all but the newest versions of the whole and those that somebody reads; then, in every shard, the
        versions that none of the others names and nobody reads."""
        self.versions.retain(self.versions.newest(keep))
        kept = [self.read(version) for version in self.versions.newest(KEEP_ALL)]
        for number in range(len(kept[0].shards)):
            shard = Versions(self.shard(number))
            shard.retain(manifest.shards[number].version for manifest in kept)
            shard.prune_segments()

    def _refuse_other_count(self, count: int | None) -> None:
        version = self.versions.name()
        if not version:
            if count is None:
                self.versions.current()
            return
        if not is_sharded(self.directory):
            raise CorpusError(
                f"The corpus in {self.directory} is not in shards.",
                "Build it in another directory: ASSAYER_CORPUS__PATH.",
            )
        there = len(self.read().shards)
        if count not in (None, there):
            raise CorpusError(
                f"The corpus in {self.directory} has {there} shards, not {count}.",
                f"Give --shards {there}, or another directory: ASSAYER_CORPUS__PATH.",
            )
