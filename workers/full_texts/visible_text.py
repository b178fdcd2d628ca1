"""Remove hidden text from GROBID's output, that is, text that the PDF's rendered pages do not show. GROBID reads hidden
text too.

GROBID's text is compared with the text on the rendered pages letter by letter, ignoring spaces, hyphens and
punctuation, because the two break lines differently."""

import logging
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from assayer.models import CitedWork
from assayer.text.sanitise import build_hidden_flags
from workers.documents.pdf_reader import PdfText
from workers.full_texts.parsed_paper import ParsedPaper

_LOG = logging.getLogger(__name__)

_WINDOW = 12
"""Number of consecutive letters that are looked up in the pages' text."""
_STEP = 4
_MIN_LETTERS = 30
"""Minimum number of consecutive letters that no page shows for text to be removed. Shorter runs are usually formulas
and symbols that GROBID represents differently."""
_MIN_HIDDEN_LETTERS = 6
"""Minimum number of consecutive letters known to be hidden for text to be removed."""
_SHOWN = 0.5
"""Minimum share of GROBID's letters that the pages must show for the two texts to be comparable."""
_NOWHERE = "read by GROBID, but not shown on any page"


class _Stretch(NamedTuple):
    start: int
    end: int
    hidden: bool
    """Whether the text is known to be hidden and therefore already reported."""


class _Pages:
    """The pages' text, in searchable form."""

    def __init__(self, pages: PdfText) -> None:
        shown = "".join(letter for _, letter in _normalise_letters(pages.text))
        self._text = shown
        self._shown = {shown[start : start + _WINDOW] for start in range(0, len(shown) - _WINDOW + 1, _STEP)}
        self._hidden = "\n".join(
            "".join(letter for _, letter in _normalise_letters(item.text)) for item in pages.hidden
        )

    def share(self, text: str) -> tuple[int, int]:
        """Return how many of the text's letters the pages show, and how many letters it has."""
        places = list(_normalise_letters(text))
        return sum(self._mark_covered(places)), len(places)

    def unshown(self, text: str) -> Iterator[_Stretch]:
        places = list(_normalise_letters(text))
        letters = "".join(letter for _, letter in places)
        covered = self._mark_covered(places)
        at = 0
        while at < len(places):
            end = at + 1
            while end < len(places) and covered[end] == covered[at]:
                end += 1
            if not covered[at] and end - at >= _MIN_HIDDEN_LETTERS:
                first, last = self._trim(letters, at, end)
                hidden = last - first >= _MIN_HIDDEN_LETTERS and letters[first:last] in self._hidden
                if hidden or last - first >= _MIN_LETTERS:
                    yield _Stretch(places[first][0], places[last - 1][0] + 1, hidden)
            at = end

    def _trim(self, letters: str, at: int, end: int) -> tuple[int, int]:
        """Return the range without the letters at either end that the pages do show. These were missed because only
        every `_STEP`-th window is indexed."""
        for _ in range(_STEP - 1):
            if at >= _WINDOW and letters[at - _WINDOW + 1 : at + 1] in self._text:
                at += 1
            if end + _WINDOW <= len(letters) and letters[end - 1 : end + _WINDOW - 1] in self._text:
                end -= 1
        return at, end

    def _mark_covered(self, places: list[tuple[int, str]]) -> bytearray:
        letters = "".join(letter for _, letter in places)
        covered = bytearray(len(letters))
        for at in range(len(letters) - _WINDOW + 1):
            if letters[at : at + _WINDOW] in self._shown:
                covered[at : at + _WINDOW] = b"\1" * _WINDOW
        return covered


def _normalise_letters(text: str) -> Iterator[tuple[int, str]]:
    """Yield the text's letters and digits after normalisation, with their positions in it."""
    for place, character in enumerate(text):
        plain = character.casefold() if character.isascii() else unicodedata.normalize("NFKC", character).casefold()
        for letter in plain:
            if letter.isalnum():
                yield place, letter


def keep_visible_text(paper: ParsedPaper, pages: PdfText) -> ParsedPaper:
    """Return the paper without text that the pages do not show. The removed text is flagged, as is all hidden text on
    the pages, even if GROBID did not read it."""
    if pages.unlooked_pages:
        _LOG.warning(
            "%s: %d of %d pages were not rendered in time: covered text that GROBID read on them is not removed",
            paper.title or "a document", pages.unlooked_pages, pages.pages,
        )  # fmt: skip
    printed_pages = _Pages(pages)
    shares = [printed_pages.share(section.text) for section in paper.sections]
    comparable = sum(shown for shown, _ in shares) >= _SHOWN * sum(letters for _, letters in shares)
    if not comparable:
        _LOG.warning("GROBID's text for a document differs too much from its pages to be compared with them")
    cut = _Cut(printed_pages, comparable)
    sections = [section.model_copy(update={"text": cut.shown(section.text)}) for section in paper.sections]
    references = tuple(work for work in paper.references if not cut.is_hidden_citation(work))
    reported = [(f"page {item.page}, {item.why}", item.text) for item in pages.hidden]
    return paper.model_copy(
        update={
            "title": cut.shown(paper.title),
            "sections": tuple(section for section in sections if any(map(str.isalnum, section.text))),
            "references": references,
            "flags": (*paper.flags, *build_hidden_flags([*reported, *((_NOWHERE, text) for text in cut.unreported)])),
        }
    )


class _Cut:
    """Removes text that no page shows, and collects removed text that is not yet reported as hidden."""

    def __init__(self, pages: _Pages, comparable: bool) -> None:
        self._pages = pages
        self._comparable = comparable
        self.unreported: list[str] = []

    def shown(self, text: str) -> str:
        pieces: list[str] = []
        done = 0
        for stretch in self._cut(text):
            pieces.append(text[done : stretch.start])
            done = stretch.end
            if not stretch.hidden:
                self.unreported.append(text[stretch.start : stretch.end])
        return "".join((*pieces, text[done:])).strip() if pieces else text

    def is_hidden_citation(self, work: CitedWork) -> bool:
        """Return whether a citation comes from text hidden in the document. It must match text known to be hidden:
        GROBID alters references too much for absence from the visible text to prove anything."""
        return any(stretch.hidden for text in (work.title, work.raw) for stretch in self._pages.unshown(text))

    def _cut(self, text: str) -> Iterator[_Stretch]:
        return (item for item in self._pages.unshown(text) if item.hidden or self._comparable)
