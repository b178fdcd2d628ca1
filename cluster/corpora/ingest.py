"""Ingest papers from each data source, and fetch later changes, as configured in the settings."""

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
from cluster.corpora.shared_pacing import open_shared_pacer
from cluster.settings import Settings
from index.disk_access import hold_folder_lock
from index.hashing import hash64
from index.ingest.arxiv_oai import ArxivHarvest
from index.ingest.duckdb_tables import JoinLimits
from index.ingest.openalex_snapshot import OpenAlexFiles
from index.ingest.pipeline import Ingest, IngestOptions, IngestState, IngestSummary, ReportProgress
from index.ingest.semantic_scholar_datasets import S2Datasets, S2File, S2Files
from index.ingest.source_files import S2_KINDS, SourceKind, StoredFiles, list_s2_dataset_files
from index.ingest.storage_path import StoragePath
from index.versions.manifest import RejectionCount
from workers.embedding.model_profiles import find_adapters
from workers.fetching.resumable_downloads import ResumableDownloader
from workers.outbound.source_pace import Pacer

_S2 = "https://api.semanticscholar.org"
_S2_DATASETS = ("papers", "abstracts", "citations")
"""Data sets ingested into a new folder by default."""
_DAY = dt.timedelta(days=1)


async def ingest_s2_files(
    to: str, files: str, release: str, settings: Settings, report: ReportProgress
) -> IngestSummary:
    """Ingest downloaded Semantic Scholar files. `release` names the release of the files, to which later diffs are
    applied; empty if unknown."""
    with _lock_destination(to):
        return await _ingest(to, "s2", settings, report).run(
            list_s2_dataset_files(files), StoredFiles(), release, complete=True
        )


async def ingest_s2_release(
    to: str, release: str, datasets: Sequence[str], settings: Settings, report: ReportProgress
) -> IngestSummary:
    """Ingest a full release into a new folder, or diffs into a folder that already has a release. Data sets that are
    already in the folder are always updated."""
    if datasets:
        _parse_kinds(datasets)
    key = settings.s2.api_key.get_secret_value()
    address = settings.s2.base_url or _S2
    async with (
        open_shared_pacer(settings, "semantic_scholar") as pace,
        _open_transfers(settings, settings.s2.spacing_seconds, pace) as transfers,
    ):
        service = S2Datasets(transfers, address, key)
        with _lock_destination(to):
            ingest = _ingest(to, "s2", settings, report)
            release_id = (await service.fetch_release(release)).release_id
            links = await _list_s2_links(
                service, ingest, _parse_kinds((*datasets, *ingest.state.kinds) or _S2_DATASETS), release_id
            )
            with _download_folder(ingest) as folder:
                supply = S2Files(service, transfers, links, folder)
                return await ingest.run(supply.sources, supply, max(release_id, ingest.state.until))


async def _list_s2_links(
    service: S2Datasets, ingest: Ingest, kinds: Sequence[SourceKind], release_id: str
) -> dict[S2File, str]:
    """Return links to the complete data sets in the folder's current or newly started release, and to the diffs from
    that release to the wanted one."""
    if not ingest.state.until:
        if ingest.state.built:
            raise InputError(
                f"No release is recorded for the files in {ingest.root}.",
                "Ingest them again with --release, or use a new folder.",
            )
        ingest.begin(release_id)
    current, links = ingest.state.until, dict[S2File, str]()
    for kind in kinds:
        if kind not in ingest.state.kinds:
            links |= await service.list_files(current, kind)
        if release_id > current:
            links |= await service.list_changed_files(current, release_id, kind)
    return links


async def ingest_arxiv(
    to: str,
    since: dt.date | None,
    until: dt.date | None,
    arxiv_set: str | None,
    settings: Settings,
    report: ReportProgress,
) -> IngestSummary:
    """Ingest arXiv records up to yesterday, starting from the last day already ingested. `arxiv_set` has the form
    described in `Ingest.bind_arxiv_set`."""
    yesterday = dt.datetime.now(dt.UTC).date() - _DAY
    last_day = min(until or yesterday, yesterday)
    async with (
        open_shared_pacer(settings, "arxiv") as pace,
        _open_transfers(settings, settings.arxiv.spacing_seconds, pace) as transfers,
    ):
        with _lock_destination(to):
            ingest = _ingest(to, "arxiv", settings, report)
            days_to_request = ingest.days.list_spans_to_request(since, last_day)
            harvest = ArxivHarvest(transfers, settings.ingest.arxiv_url, ingest.bind_arxiv_set(arxiv_set))
            ingest.begin_days(days_to_request)
            harvested = await harvest.harvest(ingest, days_to_request, report)
            return await ingest.join_days(days_to_request, harvested)


async def ingest_openalex(
    to: str, manifest: str | None, merged: Sequence[str], settings: Settings, report: ReportProgress
) -> IngestSummary:
    """Ingest an OpenAlex snapshot; by default, the manifest used in the last run. The ids in the `merged` files are
    removed, and stay removed in later runs that do not list them."""
    async with _open_transfers(settings, 0.0) as transfers:
        with _lock_destination(to):
            ingest = _ingest(to, "openalex", settings, report)
            with _download_folder(ingest) as folder:
                address = manifest or ingest.state.manifest or settings.ingest.openalex_url
                supply = OpenAlexFiles(address, transfers, folder)
                works = await supply.list_sources()
                merged_deletions = StoredFiles.list_sources(merged, "openalex", layer=1, deleted=True) if merged else []
                deletions = {
                    deletion.name: deletion
                    for deletion in (*ingest.list_deletion_sources("openalex"), *merged_deletions)
                }
                ingest.remember_manifest(address)
                return await ingest.run([*works, *deletions.values()], supply, supply.date, complete=True)


async def ingest_jsonl(to: str, files: Sequence[str], settings: Settings, report: ReportProgress) -> IngestSummary:
    with _lock_destination(to):
        ingest = _ingest(to, "jsonl", settings, report)
        sources = enumerate(StoredFiles.list_sources(files, "jsonl"), start=ingest.next_layer)
        return await ingest.run(
            [source.model_copy(update={"layer": layer}) for layer, source in sources], StoredFiles()
        )


def _ingest(to: str, origin: str, settings: Settings, report: ReportProgress) -> Ingest:
    options, own_model = settings.ingest, settings.embedder.model
    published = (
        own_model if find_adapters(own_model) else options.vector_model
    )  # SPECTER2 may have been downloaded to a folder
    limits = JoinLimits(memory_mb=options.memory_mb, threads=options.threads, vector_model=published)
    return Ingest(to, origin, IngestOptions(partitions=options.partitions, jobs=options.jobs, join=limits), report)


def _parse_kinds(datasets: Sequence[str]) -> list[SourceKind]:
    unknown = [dataset for dataset in datasets if dataset not in S2_KINDS]
    if unknown or "papers" not in datasets:
        raise InputError(
            f"Invalid list of datasets: {', '.join(datasets)}.",
            f"Include `papers`. Supported datasets: {', '.join(S2_KINDS)}.",
        )
    return [kind for kind in S2_KINDS if kind in datasets]


@contextmanager
def _download_folder(ingest: Ingest) -> Iterator[Path]:
    """Yield the folder for downloads. Files left there by a failed run are resumed by the next run."""
    folder = (
        ingest.root.local / ".incoming"
        if ingest.root.local
        else _create_private_temp_dir(f"{hash64([str(ingest.root)])[0]:016x}")
    )
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def _create_private_temp_dir(name: str) -> Path:
    """Return a private folder inside the system's temporary directory. Other users can write to that directory, so this
    raises InputError if another user created the folder first."""
    folder = Path(gettempdir()) / f"assayer-incoming-{name}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
        raise InputError(f"{folder} belongs to another user.", "Set TMPDIR to another directory.")
    return folder


@asynccontextmanager
async def _open_transfers(
    settings: Settings, spacing: float, pace: Pacer | None = None
) -> AsyncIterator[ResumableDownloader]:
    limits = settings.ingest.transfers.model_copy(update={"spacing": max(settings.ingest.transfers.spacing, spacing)})
    async with ResumableDownloader(settings.fetching, limits, SystemClock(), pace=pace) as transfers:
        yield transfers


def _lock_destination(to: str) -> AbstractContextManager[None]:
    """Return a lock on the destination. The lock works only on this machine. For a remote address, the caller must
    ensure that only one run uses it."""
    folder = StoragePath.parse(to).local
    if folder is None:
        return nullcontext()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{to} cannot be written: {error.strerror}.") from None
    return hold_folder_lock(folder)


async def fetch_changes(folder: Path, settings: Settings) -> tuple[RejectionCount, ...]:
    """Fetch changes from the folder's data source: Semantic Scholar data sets, arXiv subjects or an OpenAlex manifest.
    Returns the counts of rejected records. Papers ingested from JSON files have no source to query. Raises InputError
    if the folder was not created by ingest, or if its first ingest is incomplete."""
    state = _read_state(folder)
    if not state.built:
        raise InputError(
            f"The first ingest into {folder} is incomplete.", "Run assayer corpus ingest again to complete it."
        )
    summary = await _ingest_changes(folder, state.origin, settings)
    return summary.rejected if summary else ()


async def _ingest_changes(folder: Path, origin: str, settings: Settings) -> IngestSummary | None:
    match origin:
        case "s2":
            return await ingest_s2_release(str(folder), "latest", (), settings, _ignore_progress)
        case "arxiv":
            return await ingest_arxiv(str(folder), None, None, None, settings, _ignore_progress)
        case "openalex":
            return await ingest_openalex(str(folder), None, [], settings, _ignore_progress)
        case _:
            return None


def _read_state(folder: Path) -> IngestState:
    path = folder / "ingest.json"
    try:
        return IngestState.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        raise InputError(
            f"{folder} was not created by assayer corpus ingest: {path.name} is missing or cannot be read.",
            "Create it with assayer corpus ingest, or pass --no-fetch to use upserts/ and deletions.txt as they are.",
        ) from None


def _ignore_progress(stage: str, done: int, total: int) -> None:
    """Ignore progress: nightly runs are unattended, and their report states the duration."""
