"""`assayer paper`: save the full text of papers, as parsed by GROBID, to files."""

import asyncio
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from assayer.errors import AssayerError, InputError
from cluster.cli.options import WithJson, WithProfile
from cluster.cli.output import make_folder, make_names_distinct, make_safe_name, write_files
from cluster.cli.terminal import print_error, print_json
from cluster.settings import Settings
from cluster.settings_loading import load_settings
from cluster.whole_files import read_whole

if TYPE_CHECKING:
    from workers.full_texts.paper_export import PaperExport
    from workers.full_texts.pdf_fetcher import ArchivingPdfFetcher
    from workers.full_texts.tei_reader import TeiFormat

_ENDINGS: "dict[TeiFormat, str]" = {"tei": "tei.xml", "json": "json", "markdown": "md"}
_MAX_BYTES = 200_000_000
_HEAD = 1_024
"""Number of bytes at the start of a file within which the PDF signature must occur."""


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
        typer.Argument(metavar="PAPER...", help="PDF or TEI files (.pdf .xml), URLs of PDFs, arXiv ids or DOIs."),
    ],
    formats: Annotated[
        list[PaperFormat] | None, typer.Option("--format", help="Format; repeat for several. By default markdown.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("out"),
    profile: WithProfile = "laptop",
    as_json: WithJson = False,
) -> None:
    """Save the full text of papers as GROBID reads them: TEI, JSON or Markdown."""
    # Papers that GROBID parsed earlier are taken from the document store.
    settings = load_settings(profile)
    make_folder(out, "Papers")
    exports = asyncio.run(
        _export(sources, [paper_format.value for paper_format in formats or [PaperFormat.markdown]], settings)
    )
    names = make_names_distinct(_name_export(export.source) for export in exports)
    written: list[Path] = []
    for item, name in zip(exports, names, strict=True):
        files = {out / f"{name}.{_ENDINGS[form]}": text for form, text in item.texts.items()}
        written += write_files(files)
        if item.problem is not None:
            print_error("Not saved:", str(item.problem))
    if as_json:
        print_json({"files": written})
    else:
        for file in written:
            typer.echo(file)
    failures = sum(export.problem is not None for export in exports)
    if failures:
        raise typer.Exit(1 if failures < len(exports) else 2)


def _name_export(source: str) -> str:
    return make_safe_name(re.sub(r"(\.tei)?\.(xml|pdf)$", "", source.rstrip("/").split("/")[-1])) or "paper"


async def _export(sources: Sequence[str], forms: "Sequence[TeiFormat]", settings: Settings) -> list[_Exported]:
    from cluster.clock import SystemClock
    from cluster.evidence_sources import get_document_store_url
    from cluster.paper_pdfs import open_pdf_fetcher
    from workers.file_storage import FileStorage
    from workers.full_texts.archive import FullTextArchive
    from workers.full_texts.grobid_pool import GrobidPool
    from workers.full_texts.paper_export import PaperExport
    from workers.full_texts.tei_reader import TeiReader

    clock = SystemClock()
    async with AsyncExitStack() as stack:
        archive = FullTextArchive(FileStorage(get_document_store_url(settings)), settings.full_texts, clock)
        pool = await stack.enter_async_context(GrobidPool(settings.grobid)) if settings.grobid.urls else None
        teis = TeiReader(settings.full_texts.pdf, settings.full_texts.parsers_at_once)
        export = PaperExport(archive, pool, teis, settings.full_texts.work_seconds)
        fetcher = await open_pdf_fetcher(settings, archive, clock, stack)
        return [await _export_paper(source, forms, export, fetcher, settings) for source in sources]


async def _export_paper(
    source: str,
    forms: "Sequence[TeiFormat]",
    export: "PaperExport",
    fetcher: "ArchivingPdfFetcher | None",
    settings: Settings,
) -> _Exported:
    try:
        content = await _read_or_fetch(source, fetcher, export, settings)
        tei = content if _is_xml(source) else await export.obtain_tei(content, source)
        return _Exported(source, {form: await export.convert_tei(tei, form, source) for form in forms}, None)
    except AssayerError as error:
        return _Exported(source, {}, error)


def _is_xml(source: str) -> bool:
    return source.lower().endswith(".xml") and "://" not in source


async def _read_or_fetch(
    source: str, fetcher: "ArchivingPdfFetcher | None", export: "PaperExport", settings: Settings
) -> bytes:
    """Read a file, or fetch the first available copy of a paper given by identifier or URL."""
    from cluster.paper_pdfs import fetch_pdf

    if source.lower().endswith((".pdf", ".xml")) and "://" not in source:
        return await asyncio.to_thread(_read, Path(source))
    return await fetch_pdf(source, settings, fetcher, export.archive)


def _read(path: Path) -> bytes:
    """Read a PDF or TEI file. Raises InputError if its content is not what its name says."""
    content = read_whole(path, _MAX_BYTES)
    if path.suffix.lower() == ".pdf" and b"%PDF-" not in content[:_HEAD]:
        raise InputError(f"{path} is named as a PDF file but is not one.", "Pass a PDF or TEI file.")
    return content
