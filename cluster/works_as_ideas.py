"""Ideas read from published works that are named by arXiv id, DOI or URL, and from submissions at OpenReview: from the
full text if it can be fetched, otherwise from the title and abstract of the record."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assayer.errors import AssayerError, InputError
from assayer.ideas.parsing import idea_of_document
from assayer.ideas.records import idea_of_record
from assayer.models import Document, FrontMatterField, Idea, Identifiers, Paper, Section, UnreadPart
from cluster.clock import SystemClock
from cluster.evidence_sources import RECORD_SOURCES, get_document_store_url
from cluster.settings import Settings
from workers.documents import PdfLimits
from workers.documents.document_ideas import Bibliography, add_left_out, read_pdf_idea
from workers.documents.idea_files import Outcome, RejectedInput
from workers.documents.limits import DocumentLimits
from workers.file_storage import FileStorage
from workers.full_texts.archive import FullTextArchive
from workers.full_texts.openreview_notes import Note, OpenReviewNotes, is_withdrawn, parse_venue
from workers.literature_apis.capabilities import ResolvesIdentifiers
from workers.outbound.source_requests import RequestContext
from workers.outbound.store import InMemoryResponseCache, InMemorySharedState

if TYPE_CHECKING:
    from workers.full_texts.pdf_fetcher import ArchivingPdfFetcher

_PATIENCE_SECONDS = 60.0
_REMEDY = "Run with --profile online, or set the base URL of a source such as ASSAYER_ARXIV__BASE_URL."
_FORUM = "https://openreview.net/forum?id="


@dataclass(frozen=True)
class WorksAsIdeas:
    """Implements `workers.documents.idea_files.WorkReader`."""

    settings: Settings
    sources: Sequence[ResolvesIdentifiers]
    archive: FullTextArchive
    fetcher: "ArchivingPdfFetcher | None"
    notes: OpenReviewNotes | None
    bibliography: Bibliography | None

    async def read(self, work: Identifiers, address: str, source: str) -> Outcome:
        """Return the idea in a work or, if `address` names a venue, the ideas in the submissions to it. `address` is
        the URL that was passed; empty if an identifier was passed instead. Raises InputError if the work cannot be
        found or read."""
        venue = parse_venue(address)
        if venue or work.openreview:
            return await self._read_submissions(venue, work.openreview, source)
        return [await self._read_work(work, address, source)]

    async def _read_submissions(self, venue: str, forum: str, source: str) -> Outcome:
        """Return the submissions to a venue, or the one in a forum, each with its forum's URL as source."""
        if self.notes is None:
            raise InputError(
                f"{source} cannot be fetched, because fetching is disabled.",
                "Run with --profile online, or set ASSAYER_FULL_TEXTS__FETCH=true.",
            )
        notes = await self.notes.fetch_submissions(venue) if venue else [await self.notes.fetch_submission(forum)]
        readers = asyncio.Semaphore(DocumentLimits().documents_at_once)

        async def read(note: Note) -> Idea | RejectedInput:
            source = f"{_FORUM}{note.get('forum') or note.get('id')}"
            if is_withdrawn(note):
                return RejectedInput(source=source, message=f"{source} was withdrawn or rejected without a review.")
            try:
                async with readers:
                    return await self._read_submission(note, source)
            except AssayerError as error:
                return RejectedInput(source=source, message=str(error))

        return list(await asyncio.gather(*map(read, notes)))

    async def _read_submission(self, note: Note, source: str) -> Idea:
        """Return the idea of a note: from its PDF, otherwise from the fields of its form."""
        idea = idea_of_record({"content": note["content"]}, source)
        if not note["content"].get("pdf"):
            return add_left_out(idea, [UnreadPart(part="the full text", reason="the submission has no PDF")])
        try:
            full_text_idea = await self._read_full_text(source, None, source)
        except AssayerError as error:
            return add_left_out(idea, [UnreadPart(part="the full text", reason=str(error))])
        return full_text_idea.model_copy(update={"title": idea.title})

    async def _read_work(self, work: Identifiers, address: str, source: str) -> Idea:
        if self.fetcher is None and not self.sources:
            raise InputError(f"{source} cannot be looked up, because no literature source is enabled.", _REMEDY)
        record, failures = await self._find_record(work)
        display_name = address or (f"arXiv:{work.arxiv}" if work.arxiv else work.doi) or source
        if self.fetcher is not None:
            try:
                return await self._read_full_text(display_name, record, source)
            except AssayerError as error:
                failures.append(str(error))
        else:
            failures.append("fetching full texts is disabled (ASSAYER_FULL_TEXTS__FETCH)")
        reasons = " ".join(failures)
        if record is None:
            raise InputError(
                f"{source} was not found. {reasons}".strip(), "Check the identifier, or pass the text as a file."
            )
        return _build_abstract_idea(record, source, reasons)

    async def _find_record(self, work: Identifiers) -> tuple[Paper | None, list[str]]:
        """Return the first record that has an abstract, otherwise the first record, or None, and the sources'
        errors."""
        records: list[Paper] = []
        failures: list[str] = []
        for source in self.sources:
            try:
                papers = await source.resolve([work], RequestContext("ideas", _PATIENCE_SECONDS))
            except AssayerError as error:
                failures.append(str(error))
                continue
            records += [paper for paper in papers if paper is not None]
            if any(paper.abstract for paper in records):
                break
        return next((paper for paper in records if paper.abstract), records[0] if records else None), failures

    async def _read_full_text(self, display_name: str, record: Paper | None, source: str) -> Idea:
        from cluster.paper_pdfs import fetch_pdf

        pdf = await fetch_pdf(display_name, self.settings, self.fetcher, self.archive)
        idea = await read_pdf_idea(pdf, source, PdfLimits(), self.bibliography)
        return idea.model_copy(update={"title": record.title}) if record else idea


def _build_abstract_idea(paper: Paper, source: str, reason: str) -> Idea:
    document = Document(
        title=paper.title,
        front_matter=(FrontMatterField(name="authors", value="; ".join(paper.authors)),),
        sections=(Section(title="Abstract", text=paper.abstract),) if paper.abstract else (),
        left_out=(UnreadPart(part="the full text", reason=reason),),
    )
    return idea_of_document(document, source)


@asynccontextmanager
async def open_works(settings: Settings, bibliography: Bibliography | None = None) -> AsyncIterator[WorksAsIdeas]:
    """Open a reader of works that uses the enabled literature sources and, if enabled, fetches full texts."""
    clock = SystemClock()
    active_sources = {name: source for name, source in settings.sources.items() if source.on}
    async with AsyncExitStack() as stack:
        archive = FullTextArchive(FileStorage(get_document_store_url(settings)), settings.full_texts, clock)
        fetcher = notes = None
        if settings.full_texts.fetch:
            from cluster.paper_pdfs import open_pdf_fetcher
            from workers.fetching.downloader import Downloader

            downloader = await stack.enter_async_context(Downloader(settings.fetching, clock))
            notes = OpenReviewNotes(downloader, settings.full_texts.hosts.openreview_apis)
            fetcher = await open_pdf_fetcher(settings, archive, clock, stack)
        sources: list[ResolvesIdentifiers] = []
        if active_sources:
            from workers.outbound.source_gateway import SourceGateway

            cache, state = InMemoryResponseCache(clock), InMemorySharedState(clock)
            gateway = await stack.enter_async_context(SourceGateway(active_sources, cache, state, clock))
            record_sources = (make(gateway) for name, make in RECORD_SOURCES.items() if name in active_sources)
            sources = [source for source in record_sources if isinstance(source, ResolvesIdentifiers)]
        yield WorksAsIdeas(settings, sources, archive, fetcher, notes, bibliography)
