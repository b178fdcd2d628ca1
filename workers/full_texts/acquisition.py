"""Fetch one paper's full text: try PDF locations, best first, until one has a readable PDF of this paper."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from rapidfuzz import fuzz
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt

from assayer.errors import (
    AssayerError,
    DownloadFailed,
    DownloadRefused,
    FullTextError,
    LiteratureError,
    StoredCopyLost,
    Unreadable,
)
from assayer.models import OPEN, Paper, Window
from workers.full_texts.parsed_paper import ParsedPaper
from workers.full_texts.pdf_fetcher import ArchivedPdf
from workers.full_texts.pdf_locations import PdfLocation, list_additional_pdf_locations, list_known_pdf_locations
from workers.full_texts.settings import FullTextSettings
from workers.literature_apis.capabilities import LocatesPdfs
from workers.outbound.source_requests import RequestContext

NO_DATED_COPY = "no free copy is known to date from before the cutoff"
_WORD = re.compile(r"[^\W\d_]{4,}")
_BEGINNING_CHARS = 6_000
"""Number of characters at the start of a document within which its title is expected."""
_RETRY_ONCE_IF_LOST = AsyncRetrying(
    retry=retry_if_exception_type(StoredCopyLost), stop=stop_after_attempt(2), reraise=True
)


class AcquisitionAttempt(NamedTuple):
    """Attempt to fetch one PDF, with its outcome."""

    source: str
    cached: bool
    error: FullTextError | None


class AcquisitionResult(NamedTuple):
    paper: ParsedPaper | None
    attempts: tuple[AcquisitionAttempt, ...] = ()
    given_up: str = ""
    """Why the attempts stopped early, in a few words."""

    @property
    def reason(self) -> str:
        """Return why no paper was obtained: why the attempts stopped early or, if they did not, the error of the
        attempt that came closest to a readable paper."""
        if self.given_up:
            return self.given_up
        errors = [attempt.error for attempt in self.attempts if attempt.error is not None]
        if not errors:
            return "no free copy is known"
        closest_error = max(errors, key=_rank_progress)
        cause = f" ({closest_error.cause.replace('_', ' ')})" if isinstance(closest_error, Unreadable) else ""
        return f"{closest_error.reason}{cause}"


def _rank_progress(error: AssayerError) -> int:
    if isinstance(error, Unreadable):
        return 3
    return 2 if isinstance(error, DownloadRefused) else 1 if isinstance(error, DownloadFailed) else 0


class Documents(Protocol):
    """Fetches and parses documents, as `workers.full_texts.document_store.DocumentStore` does. Callers decide which
    copies to use."""

    async def get(self, location: PdfLocation) -> ArchivedPdf:
        """Fetch the PDF into the archive. Raises FullTextError or StorageError if it cannot be fetched."""
        ...

    async def read(self, sha256: str, source: str, seconds: float) -> ParsedPaper:
        """Return the parsed document that is stored in the archive under its digest. Raises FullTextError if it cannot
        be parsed."""
        ...


class FullTextAcquisition:
    def __init__(self, documents: Documents, settings: FullTextSettings) -> None:
        self._documents = documents
        self._settings = settings

    async def acquire(
        self, paper: Paper, locators: Iterable[LocatesPdfs], context: RequestContext, window: Window = OPEN
    ) -> AcquisitionResult:
        """Fetch a paper's full text. Locators are queried only if no known location works, because their rate limits
        are low."""
        hosts = self._settings.hosts
        candidates = list_known_pdf_locations(paper, hosts, window)[: self._settings.copies]
        has_only_later_versions = bool(list_known_pdf_locations(paper, hosts)) and not candidates
        attempts: list[AcquisitionAttempt] = []
        text = await self._fetch_first_readable(paper, candidates, attempts)
        for locator in locators:
            if text is not None or not paper.identifiers.doi:
                break
            urls = await _locate(locator, paper, context)
            more_candidates = list_additional_pdf_locations(urls, candidates, hosts, window)[: self._settings.copies]
            has_only_later_versions = has_only_later_versions or (
                bool(list_additional_pdf_locations(urls, candidates, hosts)) and not more_candidates
            )
            text = await self._fetch_first_readable(paper, more_candidates, attempts)
            candidates += more_candidates
        given_up = NO_DATED_COPY if has_only_later_versions and not attempts else ""
        return AcquisitionResult(text, tuple(attempts), given_up)

    async def _fetch_first_readable(
        self, paper: Paper, locations: Sequence[PdfLocation], attempts: list[AcquisitionAttempt]
    ) -> ParsedPaper | None:
        for location in locations:
            cached = False
            try:
                async for attempt in _RETRY_ONCE_IF_LOST.copy():
                    with attempt:
                        pdf = await self._documents.get(location)
                        cached = pdf.cached
                        text = await self._documents.read(pdf.sha256, location.url, self._settings.work_seconds)
                check_same_paper(paper, text, location.url)
            except FullTextError as error:
                attempts.append(AcquisitionAttempt(location.source, cached, error))
                continue
            attempts.append(AcquisitionAttempt(location.source, cached, None))
            return text
        return None


async def _locate(locator: LocatesPdfs, paper: Paper, context: RequestContext) -> tuple[str, ...]:
    """Return the locator's PDF URLs; empty if the locator fails. `JournalledPdfLocator` records the failure."""
    try:
        return await locator.pdf_urls(paper.identifiers, context)
    except LiteratureError:
        return ()


def check_same_paper(paper: Paper, text: ParsedPaper, url: str) -> None:
    """Raise Unreadable if the PDF is not the paper but another document, such as a supplement or a poster."""
    if not is_same_paper(paper, text):
        raise Unreadable(
            f"{url} is a different document: {text.title or 'untitled'!r:.120} instead of {paper.title!r:.120}.",
            "",
            "other_document",
        )


def is_same_paper(paper: Paper, text: ParsedPaper) -> bool:
    """Return whether the document's title resembles the paper's, or most words of the paper's title occur near the
    start of the document. Titles of fewer than three long words always match."""
    if text.title and fuzz.token_sort_ratio(paper.title.casefold(), text.title.casefold()) >= 80:
        return True
    title_words = set(_WORD.findall(paper.title.casefold()))
    beginning = " ".join([text.title, *(section.text[:_BEGINNING_CHARS] for section in text.sections[:2])]).casefold()
    common_words = title_words & set(_WORD.findall(beginning))
    return len(title_words) < 3 or len(common_words) >= 0.6 * len(title_words)
