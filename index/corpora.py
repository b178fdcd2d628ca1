"""Which version of a corpus answers whom: who begins gets the current one, and keeps it when others have the next."""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

from assayer.errors import CorpusError
from assayer.ports import Embedder
from index.corpus import Corpus
from index.segments.graphics import CPU
from index.versions.proofs import Proofs
from index.versions.versions import Versions

__all__ = ["Corpora", "OpenVersions"]

T = TypeVar("T")

_LOG = logging.getLogger(__name__)
_IDLE_SECONDS = 7200.0
"""For which a version that is not the current one any more stays open though nobody asks for it; an evaluation may
wait as long for a language model."""
_AGAIN_SECONDS = 30.0
"""After which a version that could not be opened is tried again."""


class OpenVersions(Generic[T]):
    """Opens each version once for all who ask, in a thread, and lets go of those that nobody has asked for in a while.

    What is let go is closed when nobody refers to it any more: whoever still has it goes on.
    """

    def __init__(
        self,
        name: Callable[[], str],
        opener: Callable[[str], T],
        clock: Callable[[], float] = time.monotonic,
        idle_seconds: float = _IDLE_SECONDS,
    ) -> None:
        """`name` tells the current version, empty when there is none; `clock` seconds from any moment on."""
        self._name = name
        self._opener = opener
        self._clock = clock
        self._idle_seconds = idle_seconds
        self._open: WeakValueDictionary[str, T] = WeakValueDictionary()
        self._kept: dict[str, tuple[T, float]] = {}
        """With the time when somebody last asked."""
        self._opening: dict[str, asyncio.Task[T]] = {}
        self._latest = ""
        """The last that was current and could be opened."""
        self._refused: tuple[str, float] = ("", 0.0)
        """A version that could not be opened, and when that was."""

    async def current(self) -> T:
        """For who begins now. While a new version is being opened, and when it cannot be, the one before it goes on.
        Raises CorpusError when there is none at all."""
        name = self._name()
        if self._latest and name != self._latest and name not in self._open:
            self._prepare(name)
            return await self.at(self._latest)
        try:
            opened = await self.at(name)
        except CorpusError:
            if self._name() == name:
                raise
            return await self.current()  # it was removed while it was being opened: there is a newer one
        self._latest = name
        return opened

    async def at(self, version: str) -> T:
        """The version with which somebody has begun. Raises CorpusError when it is not there any more."""
        opened = self._open.get(version)
        if opened is None:
            opened = await asyncio.shield(self._begin(version))
        self._kept[version] = (opened, self._clock())
        self._let_go()
        return opened

    def look(self) -> None:
        """Begins to open the current version, so that it is open before anybody begins with it."""
        name = self._name()
        if name and name not in self._open:
            self._prepare(name)

    async def aclose(self) -> None:
        """What is being opened is waited for, and let go like all others."""
        await self.settle()
        self._kept.clear()

    async def settle(self) -> None:
        """Waits until nothing is being opened any more."""
        await asyncio.gather(*self._opening.values(), return_exceptions=True)

    def _prepare(self, name: str) -> None:
        refused, when = self._refused
        if name not in self._opening and (name != refused or self._clock() - when > _AGAIN_SECONDS):
            self._begin(name).add_done_callback(lambda task: self._opened(name, task))

    def _opened(self, name: str, task: "asyncio.Task[T]") -> None:
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._kept[name] = (task.result(), self._clock())
            return
        self._refused = (name, self._clock())
        _LOG.warning("version %s of the corpus cannot be opened, %s goes on: %s", name, self._latest or "none", error)

    def _begin(self, version: str) -> "asyncio.Task[T]":
        task = self._opening.get(version)
        if task is None:
            task = self._opening[version] = asyncio.create_task(self._opened_in_a_thread(version))
            task.add_done_callback(lambda done: self._ended(version, done))
        return task

    def _ended(self, version: str, task: "asyncio.Task[T]") -> None:
        """Whoever waited for it may be gone, and its error is then nobody's."""
        del self._opening[version]
        if not task.cancelled():
            task.exception()

    async def _opened_in_a_thread(self, version: str) -> T:
        opened = self._open[version] = await asyncio.to_thread(self._opener, version)
        return opened

    def _let_go(self) -> None:
        last = self._clock() - self._idle_seconds
        for version in [one for one, (_, asked) in self._kept.items() if asked < last and one != self._latest]:
            del self._kept[version]


class Corpora(OpenVersions[Corpus]):
    """The versions of the corpus in a directory, whole or in shards."""

    def __init__(
        self,
        directory: Path,
        embedder: Embedder,
        proofs: Proofs | None = None,
        clock: Callable[[], float] = time.monotonic,
        idle_seconds: float = _IDLE_SECONDS,
        device: str = CPU,
    ) -> None:
        super().__init__(
            Versions(directory).name,
            lambda version: Corpus.open(directory, embedder, version or None, proofs, device),
            clock,
            idle_seconds,
        )
