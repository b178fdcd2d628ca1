"""The directory of a corpus in shards: corpora side by side, and versions that name one version of each.

    DIRECTORY/
    ├── current                  the version of the whole that answers; replaced atomically
    ├── lock                     held while a build is running
    ├── shards/NN/               a corpus like any other, of the papers whose ids' hashes say so
    └── versions/VERSION/        manifest.json: which version of each shard

Shards are built and updated with the same functions as a corpus that is one. What a shard calls its current version
answers nobody: it answers once a version of the whole names it. So a nightly update that ends between two shards has
changed nothing, and the next one begins from what answers.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assayer.errors import CorpusError
from assayer.models import Frozen
from index.corpus_fit import FitCalibration
from index.hashing import hash64
from index.records.record_sources import RecordSource
from index.versions.manifest import CorpusChanges, RejectionCount, SealedManifest, read_sealed, write_sealed
from index.versions.version_store import VersionStore

__all__ = ["KEEP_ALL", "ShardStore", "ShardVersion", "ShardedManifest", "is_sharded", "shard_of"]


_LOG = logging.getLogger(__name__)
KEEP_ALL = 2**31
"""`BuildOptions.keep` of a shard: which of its versions are needed is known from the versions of the whole."""
_SHARDS = "shards"


def shard_of(ids: Iterable[str], count: int) -> NDArray[np.int64]:
    """The shard of each paper."""
    return (hash64(ids) % np.uint64(count)).astype(np.int64)


def is_sharded(directory: Path) -> bool:
    return (directory / _SHARDS).is_dir()


class ShardVersion(Frozen):
    version: str
    papers: int


class ShardedManifest(SealedManifest):
    format: Literal["shards-1"] = "shards-1"
    embedder: str
    dimensions: int
    exact_up_to: int
    lexical: bool = False
    """Whether the shards keep the embedder's lexical weights."""
    fit: FitCalibration | None
    """Of the whole; None for a corpus too small to measure."""
    shards: tuple[ShardVersion, ...]
    sources: tuple[RecordSource, ...]
    rejected: tuple[RejectionCount, ...]
    """Lines of the sources that were set aside, the most frequent reason first."""
    changes: CorpusChanges | None
    """None for a corpus that was built anew."""

    @property
    def papers(self) -> int:
        return sum(one.papers for one in self.shards)

    def built_from(self, sources: Sequence[RecordSource], embedder: str, exact_up_to: int, lexical: bool) -> bool:
        """Whether it was built from these, and not updated since."""
        wanted = (tuple(sources), embedder, exact_up_to, lexical, None)
        return (self.sources, self.embedder, self.exact_up_to, self.lexical, self.changes) == wanted


class ShardStore:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.versions = VersionStore(directory)
        """Of the whole."""

    def shard_path(self, number: int) -> Path:
        """The directory of a shard, from 0."""
        return self.directory / _SHARDS / f"{number:02d}"

    def read_manifest(self, version: str | None = None) -> ShardedManifest:
        """Of the current version by default. Raises CorpusError when there is none, or it has changed since it was
        written."""
        directory = self.versions.current_path() if version is None else self.versions.version_path(version)
        return read_sealed(directory, ShardedManifest)

    @contextmanager
    def build_lock(self, count: int | None = None) -> Iterator[int]:
        """Yields the number of shards; `count` for a new corpus. Sets every shard's own current version to the one that
        the whole names. Raises CorpusError while another process builds here, and for a corpus with another number
        of shards or none."""
        self._refuse_other_count(count)
        with self.versions.build_lock():
            (self.directory / _SHARDS).mkdir(exist_ok=True)
            published = self.read_manifest().shards if self.versions.current_version() else ()
            for number, one in enumerate(published):
                shard = VersionStore(self.shard_path(number))
                if shard.current_version() != one.version:
                    shard.set_current(one.version)
            yield count or len(published)

    def publish(self, manifest: ShardedManifest, keep: int) -> None:
        """Makes it the current version, then prunes."""
        if self.versions.version_path(manifest.version).is_dir():
            self.versions.set_current(manifest.version)
        else:
            with self.versions.scratch_directory() as directory:
                write_sealed(manifest, directory)
                self.versions.publish(directory, manifest.version)
        self.prune(keep)

    def prune(self, keep: int) -> None:
        """Keeps the newest versions of the whole, as `keep_only` does. What cannot be removed stays until next time."""
        try:
            self.keep_only(self.versions.newest_versions(keep))
        except OSError as error:
            _LOG.warning("old versions of the corpus in %s stay: %s", self.directory, error)

    def keep_only(self, versions: Iterable[str]) -> None:
        """Removes all versions of the whole but these, the current one and those in use; then, in every shard, the
        versions that none of the others names and that are not in use. Raises OSError."""
        self.versions.keep_only(versions)
        named = self._readable_manifests()
        for place in sorted((self.directory / _SHARDS).glob("*")) if named else ():
            shard, number = VersionStore(place), int(place.name)
            if (place / "versions").is_dir():
                shard.keep_only(one.shards[number].version for one in named if number < len(one.shards))
                shard.prune_segments()

    def _readable_manifests(self) -> list[ShardedManifest]:
        """Of all versions. One that nobody can open here, of another release or of a corpus in one piece that was in
        this directory, goes unless it is the current one or in use."""
        found, others = [], False
        for version in self.versions.whole_versions():
            try:
                found.append(self.read_manifest(version))
            except CorpusError:
                others |= version == self.versions.current_version() or not self.versions.remove(version)
        if found and not others:
            self.versions.remove_segments()
        return found

    def _refuse_other_count(self, count: int | None) -> None:
        version = self.versions.current_version()
        if not version:
            if count is None:
                self.versions.current_path()
            return
        if not is_sharded(self.directory):
            raise CorpusError(
                f"The corpus in {self.directory} is not in shards.",
                "Build it in another directory: ASSAYER_CORPUS__PATH.",
            )
        there = len(self.read_manifest().shards)
        if count not in (None, there):
            raise CorpusError(
                f"The corpus in {self.directory} has {there} shards, not {count}.",
                f"Give --shards {there}, or another directory: ASSAYER_CORPUS__PATH.",
            )
