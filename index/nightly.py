"""Run nightly updates: fetch what has changed, update the corpus, test the new version, and record the run.

The history is `history.jsonl` in the corpus directory. A run writes one line when it begins and another when it ends;
readers of the file replace the first by the second."""

import asyncio
import datetime as dt
import fcntl
import shutil
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, NamedTuple

from pydantic import ValidationError

from assayer.errors import AssayerError, CorpusError, InputError
from assayer.models import Frozen
from assayer.ports import Embedder
from index.building.acceptance import Acceptance
from index.building.text_embedding import OnProgress
from index.building.update import Delta, StageTime, Stopwatch, read_delta, update_corpus
from index.building.version_builder import BuildOptions
from index.content_reader import ContentReader
from index.disk_access import append_line, explain_disk_errors, hold_folder_lock
from index.segments.gpus import open_gpus
from index.shards.shard_store import ShardedManifest, ShardStore, is_sharded
from index.shards.update import update_shards
from index.versions.manifest import CorpusChanges, Manifest, RejectionCount, count_rejections, read_manifest
from index.versions.version_store import VersionStore

FetchChanges = Callable[[], Awaitable[tuple[RejectionCount, ...]]]
"""Function that updates an ingest folder and returns how many rows were rejected, by reason."""
NightlyOutcome = Literal["published", "unchanged", "failed", "running", "cut off"]
"""Outcome of a nightly run. `cut off`: the run is no longer running but did not record its end."""
_FILE = "history.jsonl"
_CUT_OFF = "It was killed, or the machine stopped."


class PendingChanges(NamedTuple):
    """Changes in an ingest folder that the corpus has not applied yet: records, and a file of ids to remove."""

    upserts: tuple[Path, ...]
    deletions: Path | None

    def __bool__(self) -> bool:
        return bool(self.upserts or self.deletions)


def find_pending_changes(folder: Path) -> PendingChanges:
    """Return the pending changes from `upserts/` and `deletions.txt`, either of which may be missing or empty. Raises
    InputError if a file cannot be read."""
    upserts, deletions = folder / "upserts", folder / "deletions.txt"
    try:
        has_deletions = deletions.is_file() and bool(deletions.read_bytes().strip())
        has_upserts = any(upserts.glob("*.parquet"))
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}.") from None
    return PendingChanges((upserts,) if has_upserts else (), deletions if has_deletions else None)


class NightlyRun(Frozen):
    began: dt.datetime
    seconds: float = 0.0
    outcome: NightlyOutcome
    why: str = ""
    """Problem that ended a failed or interrupted run: what happened, where, and what to do; empty for other runs."""
    before: str
    """Current version before the run; empty if there was none on this machine."""
    after: str
    """Current version after the run; equal to `before` unless a version was published."""
    papers: int
    """Number of papers in the current version."""
    new: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    """Number of records that changed nothing."""
    unknown: int = 0
    """Number of deletions that named papers not in the corpus."""
    embedded: int = 0
    """Number of texts that were embedded."""
    set_aside: tuple[RejectionCount, ...] = ()
    stages: tuple[StageTime, ...] = ()
    usd: float | None = None
    """Price of the machine time in US dollars; None if no price per hour is set."""
    contents_read: int = 0
    """Number of papers from which a language model extracted names and claims; the others were left to pattern
    matching."""
    contents_left: tuple[RejectionCount, ...] = ()
    """Number of papers left to pattern matching although a model was supposed to read them, by reason."""
    contents_usd: float | None = None
    """Cost of the model in US dollars; None if no model was used."""

    def copy_with_changes(self, changes: CorpusChanges) -> "NightlyRun":
        names = ("new", "changed", "removed", "unchanged", "unknown", "embedded")
        return self.model_copy(update={name: getattr(changes, name) for name in names})


@dataclass(frozen=True)
class NightlyUpdate:
    """Updates a corpus, sharded or not, from an ingest folder."""

    directory: Path
    folder: Path
    embedder: Embedder
    now: Callable[[], dt.datetime]
    options: BuildOptions
    usd_per_hour: float | None = None
    """Price per hour of this machine in US dollars."""
    reader: ContentReader | None = None
    """Reader of names and claims in new or changed papers; None leaves them to pattern matching."""
    prepare: Callable[[], object] | None = None
    """Function that first fetches the corpus from elsewhere, where another process may have updated it."""
    publish: Callable[[], object] | None = None
    """Function that publishes the current version for readers elsewhere, or does nothing if it is already published.
    Pending changes are removed only after it succeeds."""

    async def run(self, fetch: FetchChanges, progress: OnProgress | None = None) -> NightlyRun:
        """Run the update and record it in the history, including any error, which is then raised. Raises CorpusError if
        there is no corpus, and InputError if another run is in progress."""
        watch, record = Stopwatch(), await asyncio.to_thread(self._create_record)
        with NightlyHistory(self.directory).record_run(record):
            try:
                record = await self._fetch_corpus(record, watch)
                record = await self._fetch_and_update(record, fetch, progress, watch)
            except BaseException as error:
                self._record(record.model_copy(update={"outcome": "failed", "why": _format_error(error)}), watch)
                raise
            return self._record(record, watch)

    def _create_record(self) -> NightlyRun:
        """Return the record for a run that begins now, without a version if the corpus has yet to be fetched. Raises
        CorpusError if there is no corpus and nothing fetches it."""
        began = self.now()
        try:
            return _begin_run(_read_current_version(self.directory), began)
        except CorpusError:
            if self.prepare is None:
                raise
        with explain_disk_errors(self.directory):
            self.directory.mkdir(parents=True, exist_ok=True)
        return NightlyRun(began=began, outcome="unchanged", before="", after="", papers=0)

    async def _fetch_corpus(self, record: NightlyRun, watch: Stopwatch) -> NightlyRun:
        if self.prepare is None:
            return record
        with watch.stage("bring"):
            await asyncio.to_thread(self.prepare)
        return _begin_run(await asyncio.to_thread(_read_current_version, self.directory), record.began)

    async def _fetch_and_update(
        self, record: NightlyRun, fetch: FetchChanges, progress: OnProgress | None, watch: Stopwatch
    ) -> NightlyRun:
        open_gpus(self.options.device)  # fails early if there is no suitable GPU, before texts are embedded
        with watch.stage("fetch"):
            rejections = await fetch()
        with hold_folder_lock(
            self.folder
        ):  # otherwise changes that ingest adds now would be removed without being applied
            pending = await asyncio.to_thread(find_pending_changes, self.folder)
            if not pending:
                await self._publish(watch)  # an earlier run may have failed to publish
                return record.model_copy(update={"set_aside": rejections})
            with watch.stage("read"):
                delta = await asyncio.to_thread(read_delta, pending.upserts, pending.deletions, self.embedder)
            manifest, changes = await self._update(delta, progress, watch)
            await self._publish(watch)
            await asyncio.to_thread(self._remove_applied, pending)
        update = {
            "outcome": "published" if manifest.version != record.before else "unchanged",
            "after": manifest.version,
            "papers": manifest.papers,
            "set_aside": (*rejections, *count_rejections(delta.rejections)),
        }
        return record.copy_with_changes(changes).model_copy(update=update | self._read())

    async def _publish(self, watch: Stopwatch) -> None:
        if self.publish is not None:
            with watch.stage("publish elsewhere"):
                await asyncio.to_thread(self.publish)

    def _read(self) -> dict[str, object]:
        if self.reader is None:
            return {}
        left_counts = tuple(RejectionCount(reason=reason, count=count) for reason, count in self.reader.left.items())
        return {"contents_read": self.reader.read, "contents_left": left_counts, "contents_usd": self.reader.usd}

    async def _update(
        self, delta: Delta, progress: OnProgress | None, watch: Stopwatch
    ) -> tuple[Manifest | ShardedManifest, CorpusChanges]:
        accept = Acceptance(self.embedder, _read_current_version(self.directory).papers, delta.deletions)
        if is_sharded(self.directory):
            sharded_update = await update_shards(
                delta, self.directory, self.embedder, progress, self.options, accept, watch, self.reader
            )
            return sharded_update.manifest, sharded_update.changes
        part = await update_corpus(
            delta, self.directory, self.embedder, progress, self.options, accept, watch, self.reader
        )
        return part.manifest, part.changes

    def _remove_applied(self, pending: PendingChanges) -> None:
        """Remove the changes that were applied. If a run is killed before this step, the next run applies them again,
        which changes nothing. If `deletions.txt` is missing, ingest was interrupted before writing it, and `deletions/`
        stays for the next ingest run."""
        for folder in pending.upserts:
            shutil.rmtree(folder, ignore_errors=True)
        if pending.deletions:
            pending.deletions.unlink(missing_ok=True)
            shutil.rmtree(self.folder / "deletions", ignore_errors=True)

    def _record(self, record: NightlyRun, watch: Stopwatch) -> NightlyRun:
        seconds = watch.seconds
        usd = None if self.usd_per_hour is None else round(seconds / 3600 * self.usd_per_hour, 4)
        final_record = record.model_copy(update={"seconds": seconds, "stages": watch.stages, "usd": usd})
        with explain_disk_errors(self.directory):
            NightlyHistory(self.directory).append(final_record)
        return final_record


def _read_current_version(directory: Path) -> Manifest | ShardedManifest:
    return (
        ShardStore(directory).read_manifest()
        if is_sharded(directory)
        else read_manifest(VersionStore(directory).find_current_path())
    )


def _begin_run(manifest: Manifest | ShardedManifest, began: dt.datetime) -> NightlyRun:
    version = manifest.version
    return NightlyRun(began=began, outcome="unchanged", before=version, after=version, papers=manifest.papers)


def _format_error(error: BaseException) -> str:
    if isinstance(error, AssayerError):
        return str(error)
    if isinstance(error, asyncio.CancelledError | KeyboardInterrupt):
        return "It was stopped."
    return f"{type(error).__name__}: {error}"


class NightlyHistory:
    """History of a corpus's nightly runs. Lines are appended whole; a line that a power failure left incomplete is
    ignored."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = directory / _FILE

    @contextmanager
    def record_run(self, record: NightlyRun) -> Iterator[None]:
        """Record that a run is in progress, and lock the history until it ends. Raises InputError if another run is in
        progress, and CorpusError if the history cannot be written."""
        with ExitStack() as stack:
            stack.enter_context(hold_folder_lock(self._directory, "night.lock"))
            with explain_disk_errors(self._directory):
                file = stack.enter_context(self._path.open("ab"))
                fcntl.flock(file, fcntl.LOCK_EX)  # readers hold this lock only briefly
                self.append(record.model_copy(update={"outcome": "running"}))
            yield

    def append(self, record: NightlyRun) -> None:
        """Append a run to the history. Raises OSError if it cannot be written."""
        append_line(self._path, record.model_dump_json())

    def list_runs(self, last: int | None = None) -> list[NightlyRun]:
        """Return all runs, or only the `last` most recent runs, oldest first."""
        try:
            with self._path.open("rb") as file:
                is_running = _is_in_progress(file)
                lines = file.read().splitlines()
        except FileNotFoundError:
            return []
        records = _merge_run_lines([record for line in lines if (record := _parse_line(line))], is_running)
        return records if last is None else records[max(0, len(records) - last) :]


def _merge_run_lines(lines: list[NightlyRun], is_running: bool) -> list[NightlyRun]:
    """Merge the lines of each run into one entry. Runs never overlap; the last run may be in progress."""
    records: list[NightlyRun] = []
    for record in lines:
        if records and records[-1].outcome == "running" and records[-1].began == record.began:
            records.pop()
        records.append(record)
    cut_off_update = {"outcome": "cut off", "why": _CUT_OFF}
    last = len(records) - 1 if is_running else len(records)
    return [
        record.model_copy(update=cut_off_update) if record.outcome == "running" and place != last else record
        for place, record in enumerate(records)
    ]


def _is_in_progress(file: IO[bytes]) -> bool:
    """Return whether a run holds the lock. If not, take a shared lock until the file is closed."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _parse_line(line: bytes) -> NightlyRun | None:
    try:
        return NightlyRun.model_validate_json(line)
    except ValidationError:
        return None
