"""One paper's way to its text: candidates best first, until a copy can be had, can be read, and is the paper."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from rapidfuzz import fuzz

from assayer.errors import AssayerError, DownloadFailed, DownloadRefused, FullTextError, LiteratureError, Unreadable
from assayer.models import Paper
from workers.full_texts.candidates import Candidate, candidates, located
from workers.full_texts.copies import Copy
from workers.full_texts.parsed import ParsedPaper
from workers.full_texts.settings import FullTextSettings
from workers.remote.call import Ask
from workers.sources.source import LocatesPdfs

__all__ = ["Acquired", "Acquisition", "GetsCopies", "ReadsDocuments", "Step", "is_about"]

_WORD = re.compile(r"[^\W\d_]{4,}")
_BEGINNING = 6_000
"""Characters in which a paper's own title stands."""


class Step(NamedTuple):
    """One copy that was asked for, and what became of it."""

    source: str
    cached: bool
    error: FullTextError | None


class Acquired(NamedTuple):
    paper: ParsedPaper | None
    steps: tuple[Step, ...] = ()
    given_up: str = ""
    """Why the work ended before its end, in a few words."""

    @property
    def reason(self) -> str:
        """Why there is no paper: the failure that came nearest to one."""
        if self.given_up:
            return self.given_up
        errors = [step.error for step in self.steps if step.error is not None]
        if not errors:
            return "no free copy is known"
        nearest = max(errors, key=_progress)
        cause = f" ({nearest.cause.replace('_', ' ')})" if isinstance(nearest, Unreadable) else ""
        return f"{nearest.reason}{cause}"


def _progress(error: AssayerError) -> int:
    if isinstance(error, Unreadable):
        return 3
    return 2 if isinstance(error, DownloadRefused) else 1 if isinstance(error, DownloadFailed) else 0


class GetsCopies(Protocol):
    """`workers.full_texts.copies.Copies`, here or in another process."""

    async def get(self, candidate: Candidate) -> Copy:
        """Into the archive. Raises FullTextError or StorageError."""
        ...


class ReadsDocuments(Protocol):
    """`workers.full_texts.reader.DocumentReader`, here or in another process."""

    async def read(self, sha256: str, source: str, seconds: float) -> ParsedPaper:
        """What lies in the archive under its digest. Raises FullTextError."""
        ...


class Acquisition:
    def __init__(self, copies: GetsCopies, reader: ReadsDocuments, settings: FullTextSettings) -> None:
        self._copies = copies
        self._reader = reader
        self._settings = settings

    async def acquire(self, paper: Paper, locators: Iterable[LocatesPdfs], ask: Ask) -> Acquired:
        """Locators are asked only when nothing that is known already will do: their turns are counted."""
        tried = candidates(paper, self._settings.hosts)[: self._settings.copies]
        steps: list[Step] = []
        text = await self._first(paper, tried, steps)
        for locator in locators:
            if text is not None or not paper.identifiers.doi:
                break
            urls = await _asked(locator, paper, ask)
            more = located(urls, tried, self._settings.hosts)[: self._settings.copies]
            text = await self._first(paper, more, steps)
            tried += more
        return Acquired(text, tuple(steps))

    async def _first(self, paper: Paper, copies: Sequence[Candidate], steps: list[Step]) -> ParsedPaper | None:
        for candidate in copies:
            cached = False
            try:
                copy = await self._copies.get(candidate)
                cached = copy.cached
                text = await self._reader.read(copy.sha256, candidate.url, self._settings.work_seconds)
                check_subject(paper, text, candidate.url)
            except FullTextError as error:
                steps.append(Step(candidate.source, cached, error))
                continue
            steps.append(Step(candidate.source, cached, None))
            return text
        return None


async def _asked(locator: LocatesPdfs, paper: Paper, ask: Ask) -> tuple[str, ...]:
    """Whoever made the locator journals its failures."""
    try:
        return await locator.pdf_urls(paper.identifiers, ask)
    except LiteratureError:
        return ()


def check_subject(paper: Paper, text: ParsedPaper, url: str) -> None:
    """Raises Unreadable for a copy of something else: a supplement, a poster, a wrong link."""
    if not is_about(paper, text):
        raise Unreadable(
            f"{url} is another document: {text.title or 'untitled'!r:.120} instead of {paper.title!r:.120}.",
            "",
            "other_document",
        )


def is_about(paper: Paper, text: ParsedPaper) -> bool:
    """Whether the words of the paper's title stand where a document names itself; short titles tell too little."""
    if text.title and fuzz.token_sort_ratio(paper.title.casefold(), text.title.casefold()) >= 80:
        return True
    words = set(_WORD.findall(paper.title.casefold()))
    beginning = " ".join([text.title, *(section.text[:_BEGINNING] for section in text.sections[:2])]).casefold()
    found = words & set(_WORD.findall(beginning))
    return len(words) < 3 or len(found) >= 0.6 * len(words)
