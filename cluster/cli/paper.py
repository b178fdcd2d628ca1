"""`assayer paper`: full texts as GROBID reads them, as files."""

import asyncio
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from assayer.errors import AssayerError, ConfigurationError, FullTextError, InputError
from cluster.cli.options import WithProfile
from cluster.cli.output import distinct_names, make_folder, safe_name, write_files
from cluster.cli.terminal import print_error
from cluster.settings import PROFILES, Settings
from cluster.settings_loading import load_settings

if TYPE_CHECKING:
    from assayer.ports import Clock
    from workers.full_texts.acquisition import PdfFetcher
    from workers.full_texts.archive import FullTextArchive
    from workers.full_texts.paper_export import PaperExport
    from workers.full_texts.pdf_locations import PdfLocation
    from workers.full_texts.tei_reader import TeiFormat

__all__ = ["paper"]

_ENDINGS: "dict[TeiFormat, str]" = {"tei": "tei.xml", "json": "json", "markdown": "md"}
_MOST_BYTES = 200_000_000
_HEAD = 1_024
"""Bytes in which a PDF says that it is one."""


class PaperFormat(StrEnum):
    tei = "tei"
    json = "json"
    markdown = "markdown"


class _Exported(NamedTuple):
    source: str
    texts: "dict[TeiFormat, str]"
    problem: AssayerError | None


def paper(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="PAPER...", help="PDF or TEI files (.pdf .xml), addresses of PDFs, arXiv ids or DOIs."),
    ],
    formats: Annotated[
        list[PaperFormat] | None, typer.Option("--format", help="May be repeated; Markdown unless given.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("out"),
    profile: WithProfile = PROFILES[0],
) -> None:
    """Save the full text of papers as GROBID reads them: TEI, JSON or Markdown."""
    # What GROBID has read once is taken from the store of documents.
    settings = load_settings(profile)
    make_folder(out, "Papers")
    exported = asyncio.run(_export(sources, [one.value for one in formats or [PaperFormat.markdown]], settings))
    names = distinct_names(_name(one.source) for one in exported)
    for one, name in zip(exported, names, strict=True):
        files = {out / f"{name}.{_ENDINGS[form]}": text for form, text in one.texts.items()}
        for file in write_files(files):
            typer.echo(file)
        if one.problem is not None:
            print_error("Not saved:", str(one.problem))
    failures = sum(one.problem is not None for one in exported)
    if failures:
        raise typer.Exit(1 if failures < len(exported) else 2)


def _name(source: str) -> str:
    return safe_name(re.sub(r"(\.tei)?\.(xml|pdf)$", "", source.rstrip("/").split("/")[-1])) or "paper"


async def _export(sources: Sequence[str], forms: "Sequence[TeiFormat]", settings: Settings) -> list[_Exported]:
    from cluster.clock import SystemClock
    from cluster.evidence_sources import document_store_url
    from workers.file_storage import FileStorage
    from workers.full_texts.archive import FullTextArchive
    from workers.full_texts.grobid_pool import GrobidPool
    from workers.full_texts.paper_export import PaperExport
    from workers.full_texts.tei_reader import TeiReader

    clock = SystemClock()
    async with AsyncExitStack() as stack:
        archive = FullTextArchive(FileStorage(document_store_url(settings)), settings.full_texts, clock)
        pool = await stack.enter_async_context(GrobidPool(settings.grobid)) if settings.grobid.urls else None
        teis = TeiReader(settings.full_texts.pdf, settings.full_texts.parsers_at_once)
        export = PaperExport(archive, pool, teis, settings.full_texts.work_seconds)
        fetcher = None
        if settings.full_texts.fetch:
            fetcher = await _fetcher(settings, archive, clock, stack)
        return [await _exported(source, forms, export, fetcher, settings) for source in sources]


async def _exported(
    source: str, forms: "Sequence[TeiFormat]", export: "PaperExport", fetcher: "PdfFetcher | None", settings: Settings
) -> _Exported:
    try:
        content = await _content(source, fetcher, export, settings)
        tei = content if _is_xml(source) else await export.tei(content, source)
        return _Exported(source, {form: await export.text(tei, form, source) for form in forms}, None)
    except AssayerError as error:
        return _Exported(source, {}, error)


def _is_xml(source: str) -> bool:
    return source.lower().endswith(".xml") and "://" not in source


async def _content(source: str, fetcher: "PdfFetcher | None", export: "PaperExport", settings: Settings) -> bytes:
    """Of a file, or of the first copy that can be had."""
    if source.lower().endswith((".pdf", ".xml")) and "://" not in source:
        return await asyncio.to_thread(_read, Path(source))
    locations = _locations(source, settings)
    if fetcher is None:
        raise ConfigurationError(
            f"{source} would have to be fetched, which is off.",
            "Set ASSAYER_FULL_TEXTS__FETCH=true, or give the PDF as a file.",
        )
    failure: FullTextError | None = None
    for location in locations:
        try:
            pdf = await export.archive.document((await fetcher.get(location)).sha256)
            if pdf is None:  # it was damaged there, and is fetched anew
                pdf = await export.archive.document((await fetcher.get(location)).sha256)
        except FullTextError as error:
            failure = failure or error
            continue
        if pdf is not None:
            return pdf
    raise failure or FullTextError(f"The copy of {source} in the document store is damaged.", "Fetch it again.")


def _locations(source: str, settings: Settings) -> "Sequence[PdfLocation]":
    """Raises InputError."""
    from assayer.literature.paper_identity import arxiv_id, doi, with_arxiv
    from assayer.models import Identifiers, Paper, PaperId
    from workers.full_texts.pdf_locations import known_pdf_locations

    urls = (source,) if source.startswith(("http://", "https://")) else ()
    named = Identifiers() if urls else with_arxiv(Identifiers(doi=doi(source), arxiv=arxiv_id(source)))
    if not urls and named == Identifiers():
        raise InputError(
            f"{source!r} is no PDF or TEI file, no address, no arXiv id and no DOI.",
            "Files end in .pdf or .xml; an arXiv id looks like 2401.01234.",
        )
    paper = Paper(id=PaperId(source), title=source, abstract="", source="asked", identifiers=named, pdf_urls=urls)
    found = known_pdf_locations(paper, settings.full_texts.hosts)
    if not found:
        raise InputError(f"No free copy of {source} is known.", "Give the address of its PDF, or the file.")
    return found


def _read(path: Path) -> bytes:
    """Raises InputError."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InputError(f"{path} has more than {_MOST_BYTES // 10**6} MB.", "Full texts are smaller.")
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", "Check the path.") from None
    if path.suffix.lower() == ".pdf" and b"%PDF-" not in content[:_HEAD]:
        raise InputError(f"{path} is no PDF.", "Its name says that it is one, its content does not.")
    return content


async def _fetcher(
    settings: Settings, archive: "FullTextArchive", clock: "Clock", stack: AsyncExitStack
) -> "PdfFetcher":
    from workers.concurrency.claims import InMemoryClaims
    from workers.fetching.downloader import Downloader
    from workers.full_texts.pdf_fetcher import ArchivingPdfFetcher, RepositoryPace
    from workers.remote.rate_limit import InMemoryRateLimitStore

    downloader = await stack.enter_async_context(Downloader(settings.fetching, clock))
    pace = RepositoryPace(settings.full_texts, InMemoryRateLimitStore(clock), clock)
    return ArchivingPdfFetcher(archive, downloader, InMemoryClaims(clock), pace, settings.full_texts)
