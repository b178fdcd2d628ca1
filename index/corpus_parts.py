"""The parts of a corpus that are opened on this machine: its shards, or the one piece that it is."""

import os
import weakref
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

from index.corpus_fit import FitCalibration
from index.search.corpus_queries import LocalReader
from index.search.version_reader import VersionReader
from index.segments.gpus import Device
from index.shards.shard_store import ShardStore, is_sharded
from index.versions.manifest import read_manifest
from index.versions.verification_cache import VerificationCache
from index.versions.version_store import VersionStore

__all__ = ["CorpusInfo", "CorpusPart", "describe_corpus"]

P = ParamSpec("P")
Out = TypeVar("Out")


class CorpusInfo(NamedTuple):
    """Description of a version, the same wherever its parts are open."""

    version: str
    embedder: str
    dimensions: int
    papers: int
    fit: FitCalibration | None
    shard_count: int
    """0 for a corpus in one piece."""
    lexical: bool = False
    """Whether it is searched by its embedder's lexical weights too."""

    @property
    def part_count(self) -> int:
        return self.shard_count or 1


def describe_corpus(directory: Path, version: str | None = None) -> CorpusInfo:
    """Of the current version by default. Raises CorpusError when it is missing, or has changed since it was written."""
    if is_sharded(directory):
        told = ShardStore(directory).read_manifest(version)
        shards = len(told.shards)
        return CorpusInfo(told.version, told.embedder, told.dimensions, told.papers, told.fit, shards, told.lexical)
    versions = VersionStore(directory)
    one = read_manifest(versions.current_path() if version is None else versions.version_path(version))
    return CorpusInfo(one.version, one.embedder, one.dimensions, one.papers, one.fit, 0, one.lexical)


class CorpusPart:
    """Implements `index.search.corpus_queries.ReaderHandle`. None of its versions is removed while it is open."""

    def __init__(self, whole: CorpusInfo, opened: LocalReader, close: Callable[[], None]) -> None:
        self.whole = whole
        self.days = opened.reader.publication_days()
        """On which its papers were published, each once, in order."""
        self._opened = opened
        self._finish = weakref.finalize(self, close)

    @classmethod
    def open(
        cls, directory: Path, whole: CorpusInfo, number: int, proofs: VerificationCache, device: Device = "cpu"
    ) -> "CorpusPart":
        """Raises CorpusError when the version has been removed, or a file has changed since it was written."""
        with ExitStack() as stack:
            versions = VersionStore(directory)
            if whole.shard_count:
                shards = ShardStore(directory)
                stack.callback(os.close, versions.hold_version(whole.version))
                version = shards.read_manifest(whole.version).shards[number].version
                versions = VersionStore(shards.shard_path(number))
            else:
                version = whole.version
            opened = LocalReader.open(versions, read_manifest(versions.version_path(version)), proofs, device)
            stack.enter_context(closing(opened))
            return cls(whole, opened, stack.pop_all().close)

    async def call(
        self, function: Callable[Concatenate[VersionReader, P], Out], *args: P.args, **kwargs: P.kwargs
    ) -> Out:
        return await self._opened.call(function, *args, **kwargs)

    def close(self) -> None:
        """Pending calls are cancelled. Optional: a part that nothing refers to is closed by itself."""
        self._finish()
