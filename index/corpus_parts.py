"""Open parts of a corpus on this machine: its shards, or the whole unsharded corpus."""

import os
import weakref
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

from index.corpus_fit import FitCalibration
from index.search.local_reader import LocalReader
from index.search.version_reader import VersionReader
from index.segments.gpus import Device
from index.shards.shard_store import ShardStore, is_sharded
from index.versions.manifest import read_manifest
from index.versions.verification_cache import VerificationCache
from index.versions.version_store import VersionStore

P = ParamSpec("P")
Out = TypeVar("Out")


class CorpusInfo(NamedTuple):
    """Description of a version, identical wherever its parts are open."""

    version: str
    embedder: str
    dimensions: int
    papers: int
    fit: FitCalibration | None
    shard_count: int
    """Number of shards; 0 for an unsharded corpus."""
    lexical: bool = False
    """True if searches also use the embedder's lexical weights."""

    @property
    def part_count(self) -> int:
        return self.shard_count or 1


def describe_corpus(directory: Path, version: str | None = None) -> CorpusInfo:
    """Describe a version, by default the current one. Raises CorpusError if it is missing or has changed since it was
    written."""
    if is_sharded(directory):
        sharded_manifest = ShardStore(directory).read_manifest(version)
        count = len(sharded_manifest.shards)
        return CorpusInfo(
            sharded_manifest.version,
            sharded_manifest.embedder,
            sharded_manifest.dimensions,
            sharded_manifest.papers,
            sharded_manifest.fit,
            count,
            sharded_manifest.lexical,
        )
    versions = VersionStore(directory)
    manifest = read_manifest(versions.find_current_path() if version is None else versions.get_version_path(version))
    return CorpusInfo(
        manifest.version, manifest.embedder, manifest.dimensions, manifest.papers, manifest.fit, 0, manifest.lexical
    )


class CorpusPart:
    """Open part of a version; implements `index.search.local_reader.ReaderHandle`. The version is not removed while the
    part is open."""

    def __init__(self, info: CorpusInfo, reader: LocalReader, close: Callable[[], None]) -> None:
        self.whole = info
        self.days = reader.reader.list_publication_days()
        """Publication days of the part's papers, unique and sorted."""
        self._reader = reader
        self._finish = weakref.finalize(self, close)

    @classmethod
    def open(
        cls, directory: Path, info: CorpusInfo, number: int, proofs: VerificationCache, device: Device = "cpu"
    ) -> "CorpusPart":
        """Open a part of a version. Raises CorpusError if the version has been removed or a file has changed since it
        was written."""
        with ExitStack() as stack:
            versions = VersionStore(directory)
            if info.shard_count:
                shards = ShardStore(directory)
                stack.callback(os.close, versions.hold_version(info.version))
                version = shards.read_manifest(info.version).shards[number].version
                versions = VersionStore(shards.get_shard_path(number))
            else:
                version = info.version
            reader = LocalReader.open(versions, read_manifest(versions.get_version_path(version)), proofs, device)
            stack.enter_context(closing(reader))
            return cls(info, reader, stack.pop_all().close)

    async def call(
        self, function: Callable[Concatenate[VersionReader, P], Out], *args: P.args, **kwargs: P.kwargs
    ) -> Out:
        return await self._reader.call(function, *args, **kwargs)

    def close(self) -> None:
        """Cancel pending calls. Calling this is optional: a part closes itself once nothing refers to it."""
        self._finish()
