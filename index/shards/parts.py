"""The parts of a corpus on this machine: its shards, or the one whole, by the version of the whole."""

import os
import weakref
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

from index.fit import FitCalibration
from index.searching.asking import Opened
from index.searching.reader import Reader
from index.segments.graphics import CPU
from index.shards.shards import Shards, is_sharded
from index.versions.manifest import read_manifest
from index.versions.proofs import Proofs
from index.versions.versions import Versions

__all__ = ["OfWhole", "Part", "whole_of"]

P = ParamSpec("P")
Out = TypeVar("Out")


class OfWhole(NamedTuple):
    """What is true of a version wherever a part of it is open."""

    version: str
    embedder: str
    dimensions: int
    papers: int
    fit: FitCalibration | None
    shards: int
    """0 where there are none."""

    @property
    def parts(self) -> int:
        return self.shards or 1


def whole_of(directory: Path, version: str | None = None) -> OfWhole:
    """The current version by default. Raises CorpusError when it is not there, or not as it was written."""
    if is_sharded(directory):
        told = Shards(directory).read(version)
        shards = len(told.shards)
        return OfWhole(told.version, told.embedder, told.dimensions, told.papers, told.fit, shards)
    versions = Versions(directory)
    one = read_manifest(versions.current() if version is None else versions.path(version))
    return OfWhole(one.version, one.embedder, one.dimensions, one.papers, one.fit, 0)


class Part:
    """Implements `index.searching.asking.Asked`. While it is open no version that it stands on is removed."""

    def __init__(self, whole: OfWhole, opened: Opened, close: Callable[[], None]) -> None:
        self.whole = whole
        self.days = opened.reader.days()
        """On which its papers were published, each once, in order."""
        self._opened = opened
        self._finish = weakref.finalize(self, close)

    @classmethod
    def open(cls, directory: Path, whole: OfWhole, number: int, proofs: Proofs, device: str = CPU) -> "Part":
        """Raises CorpusError when the version has gone, or a file is not as it was written."""
        with ExitStack() as stack:
            versions = Versions(directory)
            if whole.shards:
                shards = Shards(directory)
                stack.callback(os.close, versions.hold(whole.version))
                version = shards.read(whole.version).shards[number].version
                versions = Versions(shards.shard(number))
            else:
                version = whole.version
            opened = Opened.open(versions, read_manifest(versions.path(version)), proofs, device)
            stack.enter_context(closing(opened))
            return cls(whole, opened, stack.pop_all().close)

    async def ask(self, question: Callable[Concatenate[Reader, P], Out], *args: P.args, **kwargs: P.kwargs) -> Out:
        return await self._opened.ask(question, *args, **kwargs)

    def close(self) -> None:
        """What waits for an answer is cancelled. Nobody has to: it is closed when nothing refers to it any more."""
        self._finish()
