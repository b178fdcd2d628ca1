"""A night: fetch what has changed, update, try the new version out, and tell what became of it."""

import asyncio
import datetime as dt
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from assayer.errors import AssayerError, InputError
from assayer.ports import Embedder
from index.alone import alone_in
from index.building.acceptance import Acceptance
from index.building.delta import Delta, read_delta
from index.building.making import BuildOptions
from index.building.stages import Stopwatch
from index.building.update import update_corpus
from index.building.writing import OnProgress
from index.disk import writing_to
from index.nights import History, Night
from index.shards.manifest import ShardedManifest
from index.shards.shards import Shards, is_sharded
from index.shards.update import update_shards
from index.versions.manifest import Changes, Manifest, RejectionCount, counted, read_manifest
from index.versions.versions import Versions

__all__ = ["Fetch", "Nightly", "Pending", "pending"]

Fetch = Callable[[], Awaitable[tuple[RejectionCount, ...]]]
"""Brings a folder up to date and tells what was set aside."""


class Pending(NamedTuple):
    """What a folder of ingest holds for the corpus to take: records, and a file of ids to remove."""

    upserts: tuple[Path, ...]
    deletions: Path | None

    def __bool__(self) -> bool:
        return bool(self.upserts or self.deletions)


def pending(folder: Path) -> Pending:
    """`upserts/` and `deletions.txt`, either of which may be missing or empty. Raises InputError for what cannot be
    read."""
    upserts, deletions = folder / "upserts", folder / "deletions.txt"
    try:
        gone = deletions.is_file() and bool(deletions.read_bytes().strip())
        coming = any(upserts.glob("*.parquet"))
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}.") from None
    return Pending((upserts,) if coming else (), deletions if gone else None)


@dataclass(frozen=True)
class Nightly:
    """Of one corpus, in shards or not, and the folder of ingest that it is kept up to date from."""

    directory: Path
    folder: Path
    embedder: Embedder
    now: Callable[[], dt.datetime]
    options: BuildOptions
    usd_per_hour: float | None = None
    """Of this machine."""

    async def run(self, fetch: Fetch, progress: OnProgress | None = None) -> Night:
        """Raises what went wrong, after it was noted; CorpusError when there is no corpus to note it in, InputError
        while another night is at work."""
        manifest = await asyncio.to_thread(_current, self.directory)
        watch, night = Stopwatch(), _before(manifest, self.now())
        with History(self.directory).begun(night):
            try:
                night = await self._work(night, fetch, progress, watch)
            except BaseException as error:
                self._note(night.model_copy(update={"outcome": "failed", "why": _sentence(error)}), watch)
                raise
            return self._note(night, watch)

    async def _work(self, night: Night, fetch: Fetch, progress: OnProgress | None, watch: Stopwatch) -> Night:
        with watch.stage("fetch"):
            aside = await fetch()
        with alone_in(self.folder):  # what ingest brings from here on would be removed untaken
            waiting = await asyncio.to_thread(pending, self.folder)
            if not waiting:
                return night.model_copy(update={"set_aside": aside})
            with watch.stage("read"):
                delta = await asyncio.to_thread(read_delta, waiting.upserts, waiting.deletions, self.embedder)
            manifest, changes = await self._update(delta, progress, watch)
            await asyncio.to_thread(self._taken, waiting)
        done = {
            "outcome": "published" if manifest.version != night.before else "unchanged",
            "after": manifest.version,
            "papers": manifest.papers,
            "set_aside": (*aside, *counted(delta.rejections)),
        }
        return night.having(changes).model_copy(update=done)

    async def _update(
        self, delta: Delta, progress: OnProgress | None, watch: Stopwatch
    ) -> tuple[Manifest | ShardedManifest, Changes]:
        def accept(before: Manifest) -> Acceptance:
            return Acceptance(self.embedder, before.papers, delta.deletions)

        if is_sharded(self.directory):
            whole = await update_shards(delta, self.directory, self.embedder, progress, self.options, accept, watch)
            return whole.manifest, whole.changes
        before = read_manifest(Versions(self.directory).current())
        one = await update_corpus(delta, self.directory, self.embedder, progress, self.options, accept(before), watch)
        return one.manifest, one.changes

    def _taken(self, waiting: Pending) -> None:
        """It waits no more. Killed before, the next night brings the same once more, which changes nothing. Without the
        list of deletions ingest was cut off while it made it: what it knows of them stays until it has."""
        for folder in waiting.upserts:
            shutil.rmtree(folder, ignore_errors=True)
        if waiting.deletions:
            waiting.deletions.unlink(missing_ok=True)
            shutil.rmtree(self.folder / "deletions", ignore_errors=True)

    def _note(self, night: Night, watch: Stopwatch) -> Night:
        seconds = watch.seconds
        usd = None if self.usd_per_hour is None else round(seconds / 3600 * self.usd_per_hour, 4)
        noted = night.model_copy(update={"seconds": seconds, "stages": watch.stages, "usd": usd})
        with writing_to(self.directory):
            History(self.directory).append(noted)
        return noted


def _current(directory: Path) -> Manifest | ShardedManifest:
    return Shards(directory).read() if is_sharded(directory) else read_manifest(Versions(directory).current())


def _before(manifest: Manifest | ShardedManifest, began: dt.datetime) -> Night:
    version = manifest.version
    return Night(began=began, outcome="unchanged", before=version, after=version, papers=manifest.papers)


def _sentence(error: BaseException) -> str:
    if isinstance(error, AssayerError):
        return str(error)
    if isinstance(error, asyncio.CancelledError | KeyboardInterrupt):
        return "It was stopped."
    return f"{type(error).__name__}: {error}"
