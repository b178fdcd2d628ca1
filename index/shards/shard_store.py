"""Manage a sharded corpus's directory: a separate corpus per shard, and versions that name a version of each shard.

    DIRECTORY/
    ├── current                  current version of the whole corpus; replaced atomically
    ├── lock                     held while a build is running
    ├── shards/NN/               a corpus like any other, with the papers assigned to it by the hashes of their ids
    └── versions/VERSION/        manifest.json: the version of each shard

Shards are built and updated with the same functions as an unsharded corpus. Queries do not use a shard's own current
version, but the shard version that the whole corpus's current version names. If a nightly update is interrupted between
two shards, queries are therefore unaffected, and the next update starts from the version in use."""

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
from index.versions.manifest import (
    CorpusChanges,
    OtherFormatError,
    RejectionCount,
    SealedManifest,
    read_sealed,
    write_sealed,
)
from index.versions.version_store import VersionStore

_LOG = logging.getLogger(__name__)
KEEP_ALL = 2**31
"""Value of `BuildOptions.keep` for a shard. The versions of the whole corpus, not the shard's own, determine which
shard versions are needed."""
_SHARDS = "shards"


def assign_shards(ids: Iterable[str], count: int) -> NDArray[np.int64]:
    """Return each paper's shard number, in the order of `ids`."""
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
    """True if the shards store the embedder's lexical weights."""
    fit: FitCalibration | None
    """Fit calibration for the whole corpus; None if it is too small to measure."""
    shards: tuple[ShardVersion, ...]
    sources: tuple[RecordSource, ...]
    rejected: tuple[RejectionCount, ...]
    """Counts of rejected lines in the sources, most frequent reason first."""
    changes: CorpusChanges | None
    """Changes since the previous version; None for a newly built corpus."""

    @property
    def papers(self) -> int:
        return sum(shard.papers for shard in self.shards)

    def is_built_from(
        self, sources: Sequence[RecordSource], embedder: str, exact_up_to: int, has_weights: bool
    ) -> bool:
        """Return whether the version was built from these inputs and has not been updated since."""
        expected = (tuple(sources), embedder, exact_up_to, has_weights, None)
        return (self.sources, self.embedder, self.exact_up_to, self.lexical, self.changes) == expected


class ShardStore:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.versions = VersionStore(directory)
        """Versions of the whole corpus."""

    def get_shard_path(self, number: int) -> Path:
        """Return the directory of a shard, counted from 0."""
        return self.directory / _SHARDS / f"{number:02d}"

    def read_manifest(self, version: str | None = None) -> ShardedManifest:
        """Return a version's manifest, by default the current version's. Raises CorpusError if there is none or it has
        changed since it was written."""
        directory = self.versions.find_current_path() if version is None else self.versions.get_version_path(version)
        return read_sealed(directory, ShardedManifest)

    @contextmanager
    def hold_build_lock(self, count: int | None = None) -> Iterator[int]:
        """Lock the corpus for a build and yield the number of shards; `count` is the number for a new corpus. Every
        shard's current version is set to the one that the whole corpus names. Raises CorpusError if another process is
        building here, if the corpus is not sharded, or if it has a different number of shards."""
        self._require_shard_count(count)
        with self.versions.hold_build_lock():
            (self.directory / _SHARDS).mkdir(exist_ok=True)
            published_shards = self.read_manifest().shards if self.versions.read_current_version() else ()
            for number, shard_version in enumerate(published_shards):
                shard = VersionStore(self.get_shard_path(number))
                if shard.read_current_version() != shard_version.version:
                    shard.set_current(shard_version.version)
            yield count or len(published_shards)

    def publish(self, manifest: ShardedManifest, keep: int) -> None:
        """Make the manifest the current version, then remove old versions."""
        if self.versions.get_version_path(manifest.version).is_dir():
            self.versions.set_current(manifest.version)
        else:
            with self.versions.create_scratch_directory() as directory:
                write_sealed(manifest, directory)
                self.versions.publish(directory, manifest.version)
        self.prune(keep)

    def prune(self, keep: int) -> None:
        """Keep only the newest `keep` versions of the whole corpus; see `keep_only`. Files that cannot be removed stay
        until the next call."""
        try:
            self.keep_only(self.versions.list_newest_versions(keep))
        except OSError as error:
            _LOG.warning("old versions of the corpus in %s were not removed: %s", self.directory, error)

    def keep_only(self, versions: Iterable[str]) -> None:
        """Remove all versions of the whole corpus except these, the current version and versions in use. Then remove,
        in every shard, versions that no remaining version names and that are not in use. Raises OSError if a file
        cannot be removed."""
        self.versions.keep_only(versions)
        manifests = self._read_manifests()
        for place in sorted((self.directory / _SHARDS).glob("*")) if manifests else ():
            shard, number = VersionStore(place), int(place.name)
            if (place / "versions").is_dir():
                shard.keep_only(
                    manifest.shards[number].version for manifest in manifests if number < len(manifest.shards)
                )
                shard.prune_segments()

    def _read_manifests(self) -> list[ShardedManifest]:
        """Return the manifests of all versions. Returns no manifests if any of them cannot be read, because that
        manifest may name any version of a shard. A version in another format, such as one from an unsharded corpus that
        was in this directory before, is removed unless it is current or in use."""
        manifests, has_unreadable = [], False
        for version in self.versions.list_complete_versions():
            try:
                manifests.append(self.read_manifest(version))
            except OtherFormatError:
                has_unreadable |= version == self.versions.read_current_version() or not self.versions.remove(version)
            except CorpusError as error:
                _LOG.warning("old versions of the shards in %s were not removed: %s", self.directory, error)
                return []
        if manifests and not has_unreadable:
            self.versions.remove_segments()
        return manifests

    def _require_shard_count(self, count: int | None) -> None:
        version = self.versions.read_current_version()
        if not version:
            if count is None:
                self.versions.find_current_path()
            return
        if not is_sharded(self.directory):
            raise CorpusError(
                f"The corpus in {self.directory} is not sharded.",
                "Build it in another directory: ASSAYER_CORPUS__PATH.",
            )
        existing_count = len(self.read_manifest().shards)
        if count not in (None, existing_count):
            raise CorpusError(
                f"The corpus in {self.directory} has {existing_count} shards, not {count}.",
                f"Use --shards {existing_count}, or set another directory: ASSAYER_CORPUS__PATH.",
            )
