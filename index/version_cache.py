"""Open versions of the corpus: new callers get the current one, and keep it when a newer one is published."""

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
from index.corpus_origin import CorpusOrigin, FolderOrigin, open_from
from index.segments.gpus import Device
from index.versions.verification_cache import VerificationCache

__all__ = ["CorpusVersionCache", "VersionCache"]

T = TypeVar("T")

_LOG = logging.getLogger(__name__)
_IDLE_SECONDS = 7200.0
"""How long a version that is not current any more stays open without being used; an evaluation may wait as long for a
language model."""
_AGAIN_SECONDS = 30.0
"""After which a version that could not be opened is tried again."""


class VersionCache(Generic[T]):
    """Opens each version once for all callers, in a thread, and drops those that were not used for a while.

    A dropped version is closed when nothing refers to it any more: callers that still have it can go on.
    """

    def __init__(
        self,
        name: Callable[[], str],
        opener: Callable[[str], T],
        clock: Callable[[], float] = time.monotonic,
        idle_seconds: float = _IDLE_SECONDS,
        look: Callable[[], None] | None = None,
    ) -> None:
        """`name` returns the current version, empty when there is none; `clock` seconds since any fixed moment; `look`,
        called in a thread when there is no name, finds one out or raises CorpusError."""
        self._look = look
        self._name = name
        self._opener = opener
        self._clock = clock
        self._idle_seconds = idle_seconds
        self._open: WeakValueDictionary[str, T] = WeakValueDictionary()
        self._kept: dict[str, tuple[T, float]] = {}
        """With the time of its last use."""
        self._opening: dict[str, asyncio.Task[T]] = {}
        self._latest = ""
        """The last version that was current and could be opened."""
        self._refused: tuple[str, float] = ("", 0.0)
        """A version that could not be opened, and when that was."""

    async def current(self) -> T:
        """For a new caller. While a new version is being opened, and when it cannot be opened, this is the previous
        one. Raises CorpusError when there is none."""
        name = self._name()
        if not name and self._look is not None:
            await asyncio.to_thread(self._look)
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
        """A version by its name. Raises CorpusError when it has been removed."""
        opened = self._open.get(version)
        if opened is None:
            opened = await asyncio.shield(self._start_opening(version))
        self._kept[version] = (opened, self._clock())
        self._evict_idle()
        return opened

    def is_current_open(self) -> bool:
        return self._name() in self._open

    def open_current(self) -> None:
        """Starts opening the current version, so that it is open before it is needed."""
        name = self._name()
        if name and name not in self._open:
            self._prepare(name)

    async def aclose(self) -> None:
        """Waits for versions that are being opened, and drops all."""
        await self.wait_until_open()
        self._kept.clear()

    async def wait_until_open(self) -> None:
        """Waits until no version is being opened."""
        await asyncio.gather(*self._opening.values(), return_exceptions=True)

    def _prepare(self, name: str) -> None:
        refused, when = self._refused
        if name not in self._opening and (name != refused or self._clock() - when > _AGAIN_SECONDS):
            self._start_opening(name).add_done_callback(lambda task: self._finish_preparing(name, task))

    def _finish_preparing(self, name: str, task: "asyncio.Task[T]") -> None:
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._kept[name] = (task.result(), self._clock())
            return
        self._refused = (name, self._clock())
        _LOG.warning("version %s of the corpus cannot be opened, %s goes on: %s", name, self._latest or "none", error)

    def _start_opening(self, version: str) -> "asyncio.Task[T]":
        task = self._opening.get(version)
        if task is None:
            task = self._opening[version] = asyncio.create_task(self._open_in_thread(version))
            task.add_done_callback(lambda done: self._opening_ended(version, done))
        return task

    def _opening_ended(self, version: str, task: "asyncio.Task[T]") -> None:
        """Reads its error: if its callers were cancelled, nobody else does."""
        del self._opening[version]
        if not task.cancelled():
            task.exception()

    async def _open_in_thread(self, version: str) -> T:
        opened = self._open[version] = await asyncio.to_thread(self._opener, version)
        return opened

    def _evict_idle(self) -> None:
        last = self._clock() - self._idle_seconds
        for version in [one for one, (_, asked) in self._kept.items() if asked < last and one != self._latest]:
            del self._kept[version]


class CorpusVersionCache(VersionCache[Corpus]):
    """The versions of the corpus in a directory, whole or in shards."""

    def __init__(
        self,
        directory: Path,
        embedder: Embedder,
        proofs: VerificationCache | None = None,
        clock: Callable[[], float] = time.monotonic,
        idle_seconds: float = _IDLE_SECONDS,
        device: Device = "cpu",
        origin: CorpusOrigin | None = None,
    ) -> None:
        """`origin` where the versions come from elsewhere into the directory."""
        given = origin or FolderOrigin(directory)

        def opened(version: str) -> Corpus:
            return open_from(
                given, version, lambda name: Corpus.open(directory, embedder, name or None, proofs, device)
            )

        super().__init__(given.newest, opened, clock, idle_seconds, given.look)
