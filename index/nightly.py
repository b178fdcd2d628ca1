"""A night: fetch what has changed, update, try the new version out, and tell what became of it."""

import asyncio
import datetime as dt
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from assayer.errors import AssayerError, InputError
from assayer.ports import Embedder
from index.acceptance import Acceptance
from index.delta import Delta, read_delta
from index.disk import writing_to
from index.making import BuildOptions
from index.manifest import counted, read_manifest
from index.nights import History, Night
from index.stages import Stopwatch
from index.update import update_corpus
from index.versions import Versions
from index.writing import OnProgress

__all__ = ["Fetched", "Nightly", "fetched"]


class Fetched(NamedTuple):
    """Where what has changed lies: records, as `assayer corpus update` reads them, and a file of ids to remove."""

    upserts: tuple[Path, ...]
    deletions: Path | None

    def __bool__(self) -> bool:
        return bool(self.upserts or self.deletions)


def fetched(folder: Path) -> Fetched:
    """In a folder as ingest leaves it: `upserts/` and `deletions.txt`, either of which may be missing or empty. Raises
    InputError for a folder or a file that cannot be read."""
    upserts, deletions = folder / "upserts", folder / "deletions.txt"
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}.", "Give the one that ingest keeps.")
    try:
        gone = deletions.is_file() and bool(deletions.read_bytes().strip())
        coming = any(upserts.glob("*.parquet"))
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}.") from None
    return Fetched((upserts,) if coming else (), deletions if gone else None)


@dataclass(frozen=True)
class Nightly:
    directory: Path
    embedder: Embedder
    now: Callable[[], dt.datetime]
    options: BuildOptions
    usd_per_hour: float | None = None
    """Of this machine."""

    async def run(self, fetch: Callable[[], Awaitable[Fetched]], progress: OnProgress | None = None) -> Night:
        """Raises what went wrong, after it was noted; CorpusError when there is no corpus to note it in."""
        manifest = await asyncio.to_thread(lambda: read_manifest(Versions(self.directory).current()))
        watch = Stopwatch()
        night = Night(
            began=self.now(),
            seconds=0,
            outcome="unchanged",
            before=manifest.version,
            after=manifest.version,
            papers=manifest.papers,
        )
        try:
            night = await self._work(night, fetch, progress, watch)
        except BaseException as error:
            self._note(night.model_copy(update={"outcome": "failed", "why": _sentence(error)}), watch)
            raise
        return self._note(night, watch)

    async def _work(
        self, night: Night, fetch: Callable[[], Awaitable[Fetched]], progress: OnProgress | None, watch: Stopwatch
    ) -> Night:
        with watch.stage("fetch"):
            found = await fetch()
        if not found:
            return night
        with watch.stage("read"):
            delta = await asyncio.to_thread(read_delta, found.upserts, found.deletions, self.embedder)
        night = night.model_copy(update={"set_aside": counted(delta.rejections)})
        return await self._update(night, delta, progress, watch)

    async def _update(self, night: Night, delta: Delta, progress: OnProgress | None, watch: Stopwatch) -> Night:
        accept = Acceptance(self.embedder, night.papers, delta.deletions)
        summary = await update_corpus(delta, self.directory, self.embedder, progress, self.options, accept, watch)
        manifest = summary.manifest
        if not summary.published or manifest.changes is None:
            return night.model_copy(update={"unchanged": len(delta.upserts), "unknown": len(delta.deletions)})
        done = {"outcome": "published", "after": manifest.version, "papers": manifest.papers}
        return night.model_copy(update=done).having(manifest.changes)

    def _note(self, night: Night, watch: Stopwatch) -> Night:
        seconds = watch.seconds
        usd = None if self.usd_per_hour is None else round(seconds / 3600 * self.usd_per_hour, 4)
        noted = night.model_copy(update={"seconds": seconds, "stages": watch.stages, "usd": usd})
        with writing_to(self.directory):
            History(self.directory).append(noted)
        return noted


def _sentence(error: BaseException) -> str:
    if isinstance(error, AssayerError):
        return str(error)
    if isinstance(error, asyncio.CancelledError | KeyboardInterrupt):
        return "It was stopped."
    return f"{type(error).__name__}: {error}"
