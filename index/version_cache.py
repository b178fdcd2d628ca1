"""Cache of open corpus versions. New callers get the current version, and keep it when a newer one is published."""

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
from index.corpus_origin import CorpusOrigin, FolderOrigin, open_or_download
from index.segments.gpus import Device
from index.versions.verification_cache import VerificationCache

T = TypeVar("T")

_LOG = logging.getLogger(__name__)
_AGAIN_SECONDS = 30.0
"""Seconds before another attempt to open a version that could not be opened."""


class VersionCache(Generic[T]):
    """Cache that opens each version once for all callers, in a thread, and drops versions that are no longer current.

    A dropped version is closed only once nothing refers to it, so callers that still hold it can continue to use it."""

    def __init__(
        self,
        name: Callable[[], str],
        opener: Callable[[str], T],
        clock: Callable[[], float] = time.monotonic,
        idle_seconds: float = 0.0,
        check_for_newest: Callable[[], None] | None = None,
    ) -> None:
        """Create a cache. `name` returns the current version, or an empty string if it is not known. In that case
        `check_for_newest` is called in a thread; it must find the current version or raise CorpusError. `clock` returns
        seconds since any fixed moment. Versions other than the current one are dropped `idle_seconds` after their last
        use."""
        self._check_for_newest = check_for_newest
        self._name = name
        self._opener = opener
        self._clock = clock
        self._idle_seconds = idle_seconds
        self._open: WeakValueDictionary[str, T] = WeakValueDictionary()
        self._idle_versions: dict[str, tuple[T, float]] = {}
        """Open versions with the time of their last use."""
        self._opening: dict[str, asyncio.Task[T]] = {}
        self._latest = ""
        """The most recent version that was current and could be opened."""
        self._refused_version: tuple[str, float] = ("", 0.0)
        """Version that could not be opened, and the time of the attempt."""

    async def current(self) -> T:
        """Return the current version. While it is being opened or cannot be opened, the previous version is returned
        instead. Raises CorpusError if there is none."""
        name = self._name()
        if not name and self._check_for_newest is not None:
            await asyncio.to_thread(self._check_for_newest)
            name = self._name()
        if self._latest and name != self._latest and name not in self._open:
            self._prepare(name)
            return await self.at(self._latest)
        try:
            open_version = await self._get(name)
        except CorpusError:
            if self._name() == name:
                raise
            return await self.current()  # it was removed while being opened, so there is a newer one
        self._latest = name
        return self._keep(name, open_version)

    async def at(self, version: str) -> T:
        """Return a version by name. Raises CorpusError if it has been removed."""
        return self._keep(version, await self._get(version))

    def is_current_open(self) -> bool:
        return self._name() in self._open

    def open_current(self) -> None:
        """Start opening the current version, so that it is open before it is needed."""
        name = self._name()
        if name and name not in self._open:
            self._prepare(name)

    async def aclose(self) -> None:
        """Wait for versions that are being opened, and release all versions."""
        await self.wait_until_open()
        self._idle_versions.clear()

    async def wait_until_open(self) -> None:
        """Wait until no version is being opened."""
        await asyncio.gather(*self._opening.values(), return_exceptions=True)

    async def _get(self, version: str) -> T:
        open_version = self._open.get(version)
        return await asyncio.shield(self._start_opening(version)) if open_version is None else open_version

    def _keep(self, version: str, open_version: T) -> T:
        """Record the use of a version, drop those that are no longer needed, and return the version."""
        now = self._clock()
        self._idle_versions[version] = (open_version, now)
        oldest_use = now - self._idle_seconds
        for name in [
            name
            for name, (_, last_use) in self._idle_versions.items()
            if last_use <= oldest_use and name != self._latest
        ]:
            del self._idle_versions[name]
        return open_version

    def _prepare(self, name: str) -> None:
        refused_version, refused_at = self._refused_version
        if name not in self._opening and (name != refused_version or self._clock() - refused_at > _AGAIN_SECONDS):
            self._start_opening(name).add_done_callback(lambda task: self._finish_preparing(name, task))

    def _finish_preparing(self, name: str, task: "asyncio.Task[T]") -> None:
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            if name == self._name():
                self._latest = name
            self._keep(name, task.result())
            return
        self._refused_version = (name, self._clock())
        _LOG.warning("cannot open corpus version %s; still using %s: %s", name, self._latest or "none", error)

    def _start_opening(self, version: str) -> "asyncio.Task[T]":
        task = self._opening.get(version)
        if task is None:
            task = self._opening[version] = asyncio.create_task(self._open_in_thread(version))
            task.add_done_callback(lambda finished_task: self._finish_opening(version, finished_task))
        return task

    def _finish_opening(self, version: str, task: "asyncio.Task[T]") -> None:
        """Forget the task, and retrieve its exception, because all its callers may have been cancelled."""
        del self._opening[version]
        if not task.cancelled():
            task.exception()

    async def _open_in_thread(self, version: str) -> T:
        opened = self._open[version] = await asyncio.to_thread(self._opener, version)
        return opened


class CorpusVersionCache(VersionCache[Corpus]):
    """Cache for the versions of the corpus in a directory, sharded or not. A version that is no longer current closes
    as soon as no caller holds it."""

    def __init__(
        self,
        directory: Path,
        embedder: Embedder,
        proofs: VerificationCache | None = None,
        device: Device = "cpu",
        origin: CorpusOrigin | None = None,
    ) -> None:
        """Create a cache. `origin` is needed only if versions are downloaded into the directory from elsewhere."""
        source = origin or FolderOrigin(directory)

        def open_version(version: str) -> Corpus:
            return open_or_download(
                source, version, lambda name: Corpus.open(directory, embedder, name or None, proofs, device)
            )

        super().__init__(source.get_newest_version, open_version, check_for_newest=source.check_for_newest)
