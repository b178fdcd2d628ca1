"""Ingest as the operator asks for it, composed from the settings: one run for each origin, and fetching its changes."""

import datetime as dt
import os
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from tempfile import gettempdir

from pydantic import ValidationError

from assayer.errors import InputError
from cluster.clock import SystemClock
from cluster.corpora.shared_turns import open_shared_turns
from cluster.settings import Settings
from index.disk_access import folder_lock
from index.hashing import hash64
from index.ingest import (
    ArxivHarvest,
    Ingest,
    IngestOptions,
    IngestState,
    IngestSummary,
    JoinLimits,
    OpenAlexFiles,
    S2Datasets,
    S2Files,
    StoredFiles,
    s2_dataset_files,
)
from index.ingest.pipeline import ReportProgress
from index.ingest.semantic_scholar_datasets import S2File
from index.ingest.source_files import S2_KINDS, SourceKind
from index.ingest.storage_path import StoragePath
from index.versions.manifest import RejectionCount
from workers.fetching.resumable_downloads import RequestPace, ResumableDownloader

__all__ = ["fetch_changes", "ingest_arxiv", "ingest_jsonl", "ingest_openalex", "ingest_s2_files", "ingest_s2_release"]


_S2 = "https://api.semanticscholar.org"
_S2_DATASETS = ("papers", "abstracts", "citations")
"""Of a new folder, if nobody says otherwise."""
_DAY = dt.timedelta(days=1)


async def ingest_s2_files(
    to: str, files: str, release: str, settings: Settings, report: ReportProgress
) -> IngestSummary:
    """`release` is that of the files, from which diffs may lead on; empty when nobody knows."""
    with _exclusive(to):
        return await _ingest(to, "s2", settings, report).run(
            s2_dataset_files(files), StoredFiles(), release, complete=True
        )


async def ingest_s2_release(
    to: str, release: str, datasets: Sequence[str], settings: Settings, report: ReportProgress
) -> IngestSummary:
    """A full release into a new folder, diffs into one that has a release. Datasets that the folder has are kept up to
    date in any case."""
    if datasets:
        _kinds(datasets)
    key = settings.s2.api_key.get_secret_value()
    address = settings.s2.base_url or _S2
    async with (
        open_shared_turns(settings, "semantic_scholar") as pace,
        _transfers(settings, settings.s2.spacing_seconds, pace) as transfers,
    ):
        service = S2Datasets(transfers, address, key)
        with _exclusive(to):
            ingest = _ingest(to, "s2", settings, report)
            wanted = (await service.release(release)).release_id
            links = await _s2_links(service, ingest, _kinds((*datasets, *ingest.state.kinds) or _S2_DATASETS), wanted)
            with _download_folder(ingest) as folder:
                supply = S2Files(service, transfers, links, folder)
                return await ingest.run(supply.sources, supply, max(wanted, ingest.state.until))


async def _s2_links(service: S2Datasets, ingest: Ingest, kinds: Sequence[SourceKind], wanted: str) -> dict[S2File, str]:
    """Whole datasets of the release that is there, or is begun now, and what leads from it to the one wanted."""
    if not ingest.state.until:
        if ingest.state.built:
            raise InputError(
                f"Nobody said of which release the files in {ingest.root} are.",
                "Ingest them again with --release, or begin a new folder.",
            )
        ingest.begin(wanted)
    there, links = ingest.state.until, dict[S2File, str]()
    for kind in kinds:
        if kind not in ingest.state.kinds:
            links |= await service.files(there, kind)
        if wanted > there:
            links |= await service.changes(there, wanted, kind)
    return links


async def ingest_arxiv(
    to: str,
    since: dt.date | None,
    until: dt.date | None,
    subjects: str | None,
    settings: Settings,
    report: ReportProgress,
) -> IngestSummary:
    """Days that are over, from the last that is in. `subjects` as `Ingest.bind_subjects` takes them."""
    yesterday = dt.datetime.now(dt.UTC).date() - _DAY
    last = min(until or yesterday, yesterday)
    async with (
        open_shared_turns(settings, "arxiv") as pace,
        _transfers(settings, settings.arxiv.spacing_seconds, pace) as transfers,
    ):
        with _exclusive(to):
            ingest = _ingest(to, "arxiv", settings, report)
            asked = ingest.days.to_ask(since, last)
            harvest = ArxivHarvest(transfers, settings.ingest.arxiv_url, ingest.bind_subjects(subjects))
            ingest.begin_days(asked)
            taken = await harvest.harvest(ingest, asked, report)
            return await ingest.join_days(asked, taken)


async def ingest_openalex(
    to: str, manifest: str | None, merged: Sequence[str], settings: Settings, report: ReportProgress
) -> IngestSummary:
    """Without a manifest that of the last time. Merged ids stay gone in runs that do not name them again."""
    async with _transfers(settings, 0.0) as transfers:
        with _exclusive(to):
            ingest = _ingest(to, "openalex", settings, report)
            with _download_folder(ingest) as folder:
                address = manifest or ingest.state.manifest or settings.ingest.openalex_url
                supply = OpenAlexFiles(address, transfers, folder)
                works = await supply.sources()
                gone = StoredFiles.sources(merged, "openalex", layer=1, deleted=True) if merged else []
                named = {one.name: one for one in (*ingest.deletions("openalex"), *gone)}
                ingest.remember_manifest(address)
                return await ingest.run([*works, *named.values()], supply, supply.date, complete=True)


async def ingest_jsonl(to: str, files: Sequence[str], settings: Settings, report: ReportProgress) -> IngestSummary:
    with _exclusive(to):
        ingest = _ingest(to, "jsonl", settings, report)
        sources = enumerate(StoredFiles.sources(files, "jsonl"), start=ingest.next_layer)
        return await ingest.run([one.model_copy(update={"layer": layer}) for layer, one in sources], StoredFiles())


def _ingest(to: str, origin: str, settings: Settings, report: ReportProgress) -> Ingest:
    given = settings.ingest
    limits = JoinLimits(memory_mb=given.memory_mb, threads=given.threads, vector_model=given.vector_model)
    return Ingest(to, origin, IngestOptions(partitions=given.partitions, jobs=given.jobs, join=limits), report)


def _kinds(datasets: Sequence[str]) -> list[SourceKind]:
    unknown = [one for one in datasets if one not in S2_KINDS]
    if unknown or "papers" not in datasets:
        raise InputError(
            f"Datasets cannot be {', '.join(datasets)}.", f"`papers` is needed; there are: {', '.join(S2_KINDS)}."
        )
    return [kind for kind in S2_KINDS if kind in datasets]


@contextmanager
def _download_folder(ingest: Ingest) -> Iterator[Path]:
    """Where files lie while they are fetched. What a run that failed has left there is gone on with by the next."""
    folder = (
        ingest.root.local / ".incoming"
        if ingest.root.local
        else _private_folder(f"{hash64([str(ingest.root)])[0]:016x}")
    )
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def _private_folder(name: str) -> Path:
    """In the temporary directory, where others may write too. Raises InputError if they have made it before us."""
    folder = Path(gettempdir()) / f"assayer-incoming-{name}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
        raise InputError(f"{folder} belongs to somebody else.", "Give another temporary directory: TMPDIR.")
    return folder


@asynccontextmanager
async def _transfers(
    settings: Settings, spacing: float, pace: RequestPace | None = None
) -> AsyncIterator[ResumableDownloader]:
    limits = settings.ingest.transfers.model_copy(update={"spacing": max(settings.ingest.transfers.spacing, spacing)})
    async with ResumableDownloader(settings.fetching, limits, SystemClock(), pace=pace) as transfers:
        yield transfers


def _exclusive(to: str) -> AbstractContextManager[None]:
    """On this machine. An address elsewhere is the caller's to keep to one run."""
    folder = StoragePath.parse(to).local
    if folder is None:
        return nullcontext()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{to} cannot be written: {error.strerror}.") from None
    return folder_lock(folder)


async def fetch_changes(folder: Path, settings: Settings) -> tuple[RejectionCount, ...]:
    """Of the datasets, the set or the manifest that the folder was made from; nobody is asked for papers that came from
    files. Tells what was set aside. Raises InputError for a folder that ingest did not make, or not to its end."""
    holding = _read_state(folder)
    if not holding.built:
        raise InputError(f"The first ingest into {folder} has not ended.", "Run assayer corpus ingest again.")
    summary = await _ingest_changes(folder, holding.origin, settings)
    return summary.rejected if summary else ()


async def _ingest_changes(folder: Path, origin: str, settings: Settings) -> IngestSummary | None:
    match origin:
        case "s2":
            return await ingest_s2_release(str(folder), "latest", (), settings, _no_progress)
        case "arxiv":
            return await ingest_arxiv(str(folder), None, None, None, settings, _no_progress)
        case "openalex":
            return await ingest_openalex(str(folder), None, [], settings, _no_progress)
        case _:
            return None


def _read_state(folder: Path) -> IngestState:
    path = folder / "ingest.json"
    try:
        return IngestState.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        raise InputError(
            f"{folder} is not a folder that ingest made: {path.name} is missing or cannot be read.",
            "Make one with assayer corpus ingest, or give --no-fetch to take upserts/ and deletions.txt as they are.",
        ) from None


def _no_progress(stage: str, done: int, total: int) -> None:
    """Nobody watches at night; the report tells how long it took."""
