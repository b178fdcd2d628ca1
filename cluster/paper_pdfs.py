"""Fetch papers' PDFs by identifier or URL, with the guarded downloader, and archive them in the document store."""

from collections.abc import Sequence
from contextlib import AsyncExitStack

from assayer.errors import ConfigurationError, FullTextError, InputError
from assayer.literature.paper_identity import add_arxiv_id, find_doi, parse_arxiv_id
from assayer.models import Identifiers, Paper, PaperId
from assayer.ports import Clock
from cluster.settings import Settings
from workers.fetching.downloader import Downloader
from workers.full_texts.archive import FullTextArchive
from workers.full_texts.pdf_fetcher import ArchivingPdfFetcher, create_arxiv_pacer
from workers.full_texts.pdf_locations import PdfLocation, list_known_pdf_locations
from workers.outbound.claims import InMemoryClaims
from workers.outbound.store import InMemorySharedState


async def fetch_pdf(
    source: str, settings: Settings, fetcher: ArchivingPdfFetcher | None, archive: FullTextArchive
) -> bytes:
    """Return a paper's PDF from the first location that has it. `source` is a URL, an arXiv id or a DOI.

    Raises InputError if it is anything else or no location is known; FullTextError if no location has the PDF;
    ConfigurationError if there is no fetcher because fetching is disabled."""
    locations = _list_pdf_locations(source, settings)
    if fetcher is None:
        raise ConfigurationError(
            f"{source} cannot be downloaded, because downloading full texts is disabled.",
            "Set ASSAYER_FULL_TEXTS__FETCH=true, or pass the PDF file.",
        )
    failure: FullTextError | None = None
    for location in locations:
        try:
            pdf = await archive.read_document((await fetcher.get(location)).sha256)
            if pdf is None:  # the archived copy was damaged and has been removed; fetch it again
                pdf = await archive.read_document((await fetcher.get(location)).sha256)
        except FullTextError as error:
            failure = failure or error
            continue
        if pdf is not None:
            return pdf
    raise failure or FullTextError(f"The copy of {source} in the document store is damaged.", "Fetch it again.")


def _list_pdf_locations(source: str, settings: Settings) -> Sequence[PdfLocation]:
    urls = (source,) if source.startswith(("http://", "https://")) else ()
    identifiers = (
        Identifiers() if urls else add_arxiv_id(Identifiers(doi=find_doi(source), arxiv=parse_arxiv_id(source)))
    )
    if not urls and identifiers == Identifiers():
        raise InputError(
            f"{source!r} is not a PDF file, a TEI file, a URL, an arXiv id or a DOI.",
            "Files end in .pdf or .xml; an arXiv id looks like 2401.01234.",
        )
    paper = Paper(id=PaperId(source), title=source, abstract="", source="asked", identifiers=identifiers, pdf_urls=urls)
    locations = list_known_pdf_locations(paper, settings.full_texts.hosts)
    if not locations:
        raise InputError(f"No free copy of {source} is known.", "Pass the URL of its PDF, or the PDF file.")
    return locations


async def open_pdf_fetcher(
    settings: Settings, archive: FullTextArchive, clock: Clock, stack: AsyncExitStack
) -> ArchivingPdfFetcher | None:
    """Open a fetcher that archives the PDFs it downloads, or return None if fetching is disabled. The fetcher is closed
    together with `stack`."""
    if not settings.full_texts.fetch:
        return None
    downloader = await stack.enter_async_context(Downloader(settings.fetching, clock))
    arxiv = create_arxiv_pacer(settings.full_texts, InMemorySharedState(clock))
    stack.push_async_callback(arxiv.aclose)
    return ArchivingPdfFetcher(archive, downloader, InMemoryClaims(), arxiv, settings.full_texts)
