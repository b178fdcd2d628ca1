"""PDFs of papers by identifier or address, through the guarded downloader and the document store."""

from collections.abc import Sequence
from contextlib import AsyncExitStack

from assayer.errors import ConfigurationError, FullTextError, InputError
from assayer.literature.paper_identity import arxiv_id, doi, with_arxiv
from assayer.models import Identifiers, Paper, PaperId
from assayer.ports import Clock
from cluster.settings import Settings
from workers.fetching.downloader import Downloader
from workers.full_texts.archive import FullTextArchive
from workers.full_texts.pdf_fetcher import ArchivingPdfFetcher, arxiv_pacer
from workers.full_texts.pdf_locations import PdfLocation, known_pdf_locations
from workers.outbound.claims import InMemoryClaims
from workers.outbound.store import InMemorySharedState


async def fetch_pdf(
    source: str, locations: Sequence[PdfLocation], fetcher: ArchivingPdfFetcher | None, archive: FullTextArchive
) -> bytes:
    """Return the PDF from the first location that has it. Raises FullTextError, or ConfigurationError without a
    fetcher."""
    if fetcher is None:
        raise ConfigurationError(
            f"{source} would have to be fetched, which is off.",
            "Set ASSAYER_FULL_TEXTS__FETCH=true, or give the PDF as a file.",
        )
    failure: FullTextError | None = None
    for location in locations:
        try:
            pdf = await archive.document((await fetcher.get(location)).sha256)
            if pdf is None:  # it was damaged there, and is fetched anew
                pdf = await archive.document((await fetcher.get(location)).sha256)
        except FullTextError as error:
            failure = failure or error
            continue
        if pdf is not None:
            return pdf
    raise failure or FullTextError(f"The copy of {source} in the document store is damaged.", "Fetch it again.")


def pdf_locations(source: str, settings: Settings) -> Sequence[PdfLocation]:
    """Return the locations at which a paper may be available, by its address, arXiv id or DOI. Raises InputError."""

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


async def open_pdf_fetcher(
    settings: Settings, archive: FullTextArchive, clock: Clock, stack: AsyncExitStack
) -> ArchivingPdfFetcher:
    """Open a fetcher that archives what it fetches; it is closed with the stack."""

    downloader = await stack.enter_async_context(Downloader(settings.fetching, clock))
    arxiv = arxiv_pacer(settings.full_texts, InMemorySharedState(clock))
    stack.push_async_callback(arxiv.aclose)
    return ArchivingPdfFetcher(archive, downloader, InMemoryClaims(), arxiv, settings.full_texts)
