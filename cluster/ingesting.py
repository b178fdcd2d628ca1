"""Ingest as the operator asks for it: one run for each origin, composed from the settings."""

import datetime as dt
import os
import shutil
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from tempfile import gettempdir

from assayer.errors import InputError
from cluster.settings import Settings
from index.alone import alone_in
from index.ids import hashed
from index.ingest import (
    ArxivHarvest,
    Files,
    Ingest,
    IngestOptions,
    IngestSummary,
    JoinLimits,
    OpenAlexFiles,
    S2Datasets,
    S2Files,
    s2_files,
)
from index.ingest.ingesting import Report
from index.ingest.kinds import S2_KINDS, KindName
from index.ingest.places import Place
from index.ingest.s2_service import S2File
from workers.fetching.transfers import Transfers

__all__ = ["ingest_arxiv", "ingest_jsonl", "ingest_openalex", "ingest_s2_files", "ingest_s2_release"]

_S2 = "https://api.semanticscholar.org"
_S2_DATASETS = ("papers", "abstracts", "citations")
"""Of a new folder, if nobody says otherwise."""
_DAY = dt.timedelta(days=1)


async def ingest_s2_files(to: str, files: str, release: str, settings: Settings, report: Report) -> IngestSummary:
    """`release` is that of the files, from which diffs may lead on; empty when nobody knows."""
    with _alone(to):
        return await _ingest(to, "s2", settings, report).run(s2_files(files), Files(), release, complete=True)


async def ingest_s2_release(
    to: str, release: str, datasets: Sequence[str], settings: Settings, report: Report
) -> IngestSummary:
    """A full release into a new folder, diffs into one that has a release. Datasets that the folder has are kept up to
    date in any case."""
    if datasets:
        _kinds(datasets)
    key = settings.s2.api_key.get_secret_value()
    async with _transfers(settings, settings.s2.spacing_seconds) as transfers:
        service = S2Datasets(transfers, settings.s2.base_url or _S2, key)
        with _alone(to):
            ingest = _ingest(to, "s2", settings, report)
            wanted = (await service.release(release)).release_id
            links = await _s2_links(service, ingest, _kinds((*datasets, *ingest.holding.kinds) or _S2_DATASETS), wanted)
            with _incoming(ingest) as folder:
                supply = S2Files(service, transfers, links, folder)
                return await ingest.run(supply.sources, supply, max(wanted, ingest.holding.until))


async def _s2_links(service: S2Datasets, ingest: Ingest, kinds: Sequence[KindName], wanted: str) -> dict[S2File, str]:
    """Whole datasets of the release that is there, or is begun now, and what leads from it to the one wanted."""
    if not ingest.holding.until:
        if ingest.holding.built:
            raise InputError(
                f"Nobody said of which release the files in {ingest.root} are.",
                "Ingest them again with --release, or begin a new folder.",
            )
        ingest.begin(wanted)
    there, links = ingest.holding.until, dict[S2File, str]()
    for kind in kinds:
        if kind not in ingest.holding.kinds:
            links |= await service.files(there, kind)
        if wanted > there:
            links |= await service.changes(there, wanted, kind)
    return links


async def ingest_arxiv(
    to: str, since: dt.date | None, until: dt.date | None, subjects: str | None, settings: Settings, report: Report
) -> IngestSummary:
    """Days that are over, from the last that is in. `subjects` as `Ingest.of_subjects` takes them."""
    yesterday = dt.datetime.now(dt.UTC).date() - _DAY
    last = min(until or yesterday, yesterday)
    async with _transfers(settings, settings.arxiv.spacing_seconds) as transfers:
        with _alone(to):
            ingest = _ingest(to, "arxiv", settings, report)
            held = ingest.holding.until
            first = _first_day(dt.date.fromisoformat(held) if held else None, since, last)
            harvest = ArxivHarvest(transfers, settings.ingest.arxiv_url, ingest.of_subjects(subjects))
            taken = await harvest.take_in(ingest, first, last, report)
            return await ingest.finish(taken, max(held, last.isoformat()))


def _first_day(held: dt.date | None, since: dt.date | None, last: dt.date) -> dt.date:
    """Where to begin: `since`, or once more the last day that is in, as arXiv tells harvesters to: its day is not ours,
    and may have brought something after we asked. Behind `last` when there is no new day."""
    if held is None and since is None:
        raise InputError("Nothing was harvested yet.", "Say with --from on which day to begin.")
    if held and since and since > held + _DAY:
        raise InputError(f"The days between {held} and {since} would be missing.", "Leave out --from.")
    if since or held is None:
        return since or last
    return held if held < last else last + _DAY


async def ingest_openalex(
    to: str, manifest: str | None, merged: Sequence[str], settings: Settings, report: Report
) -> IngestSummary:
    """Without a manifest that of the last time. Merged ids stay gone in runs that do not name them again."""
    async with _transfers(settings, 0.0) as transfers:
        with _alone(to):
            ingest = _ingest(to, "openalex", settings, report)
            with _incoming(ingest) as folder:
                address = manifest or ingest.holding.manifest or settings.ingest.openalex_url
                supply = OpenAlexFiles(address, transfers, folder)
                works = await supply.sources()
                gone = Files.sources(merged, "openalex", layer=1, deleted=True) if merged else []
                named = {one.name: one for one in (*ingest.deletions("openalex"), *gone)}
                ingest.at_manifest(address)
                return await ingest.run([*works, *named.values()], supply, supply.date, complete=True)


async def ingest_jsonl(to: str, files: Sequence[str], settings: Settings, report: Report) -> IngestSummary:
    with _alone(to):
        ingest = _ingest(to, "jsonl", settings, report)
        sources = enumerate(Files.sources(files, "jsonl"), start=ingest.next_layer)
        return await ingest.run([one.model_copy(update={"layer": layer}) for layer, one in sources], Files())


def _ingest(to: str, origin: str, settings: Settings, report: Report) -> Ingest:
    given = settings.ingest
    limits = JoinLimits(memory_mb=given.memory_mb, threads=given.threads, vector_model=given.vector_model)
    return Ingest(to, origin, IngestOptions(partitions=given.partitions, jobs=given.jobs, join=limits), report)


def _kinds(datasets: Sequence[str]) -> list[KindName]:
    unknown = [one for one in datasets if one not in S2_KINDS]
    if unknown or "papers" not in datasets:
        raise InputError(
            f"Datasets cannot be {', '.join(datasets)}.", f"`papers` is needed; there are: {', '.join(S2_KINDS)}."
        )
    return [kind for kind in S2_KINDS if kind in datasets]


@contextmanager
def _incoming(ingest: Ingest) -> Iterator[Path]:
    """Where files lie while they are fetched. What a run that failed has left there is gone on with by the next."""
    folder = ingest.root.local / ".incoming" if ingest.root.local else _own(f"{hashed([str(ingest.root)])[0]:016x}")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def _own(name: str) -> Path:
    """In the temporary directory, where others may write too. Raises InputError if they have made it before us."""
    folder = Path(gettempdir()) / f"assayer-incoming-{name}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
        raise InputError(f"{folder} belongs to somebody else.", "Give another temporary directory: TMPDIR.")
    return folder


@asynccontextmanager
async def _transfers(settings: Settings, spacing: float) -> AsyncIterator[Transfers]:
    limits = settings.ingest.transfers.model_copy(update={"spacing": max(settings.ingest.transfers.spacing, spacing)})
    async with Transfers(settings.fetching, limits, _Clock()) as transfers:
        yield transfers


class _Clock:
    def now(self) -> dt.datetime:
        return dt.datetime.now(dt.UTC)

    def monotonic(self) -> float:
        return time.monotonic()


def _alone(to: str) -> AbstractContextManager[None]:
    """On this machine. An address elsewhere is the caller's to keep to one run."""
    folder = Place.of(to).local
    if folder is None:
        return nullcontext()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{to} cannot be written: {error.strerror}.") from None
    return alone_in(folder)
