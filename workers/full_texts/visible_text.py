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

_WINDOW_LETTERS = 12
"""Number of consecutive letters that are looked up in the pages' text."""
_STEP_LETTERS = 4
_MIN_LETTERS = 30
"""Minimum number of consecutive letters that no page shows for text to be removed. Shorter runs are usually formulas
and symbols that GROBID represents differently."""
_MIN_HIDDEN_LETTERS = 6
"""Minimum number of consecutive letters known to be hidden for text to be removed."""
_MIN_SHOWN_SHARE = 0.5
"""Minimum share of GROBID's letters that the pages must show for the two texts to be comparable."""
_ON_NO_PAGE = "read by GROBID, but not shown on any page"


class _HiddenSpan(NamedTuple):
    start: int
    end: int
    is_known_hidden: bool
    """Whether the text is known to be hidden and therefore already reported."""


class _Pages:
    """The pages' text, in searchable form."""

    def __init__(self, pages: PdfText) -> None:
        letters = "".join(letter for _, letter in _normalise_letters(pages.text))
        self._text = letters
        self._shown_windows = {
            letters[start : start + _WINDOW_LETTERS]
            for start in range(0, len(letters) - _WINDOW_LETTERS + 1, _STEP_LETTERS)
        }
        self._hidden = "\n".join(
            "".join(letter for _, letter in _normalise_letters(item.text)) for item in pages.hidden
        )

    def count_shown_letters(self, text: str) -> tuple[int, int]:
        """Return how many of the text's letters the pages show, and how many letters it has."""
        positioned_letters = list(_normalise_letters(text))
        return sum(self._mark_covered(positioned_letters)), len(positioned_letters)

    def find_hidden_spans(self, text: str) -> Iterator[_HiddenSpan]:
        positioned_letters = list(_normalise_letters(text))
        letters = "".join(letter for _, letter in positioned_letters)
        covered = self._mark_covered(positioned_letters)
        start = 0
        while start < len(positioned_letters):
            end = start + 1
            while end < len(positioned_letters) and covered[end] == covered[start]:
                end += 1
            if not covered[start] and end - start >= _MIN_HIDDEN_LETTERS:
                first, last = self._trim(letters, start, end)
                is_known_hidden = last - first >= _MIN_HIDDEN_LETTERS and letters[first:last] in self._hidden
                if is_known_hidden or last - first >= _MIN_LETTERS:
                    yield _HiddenSpan(
                        positioned_letters[first][0], positioned_letters[last - 1][0] + 1, is_known_hidden
                    )
            start = end

    def _trim(self, letters: str, start: int, end: int) -> tuple[int, int]:
        """Return the range without the letters at either end that the pages do show. These were missed because only
        every `_STEP_LETTERS`-th window is indexed."""
        for _ in range(_STEP_LETTERS - 1):
            if start >= _WINDOW_LETTERS and letters[start - _WINDOW_LETTERS + 1 : start + 1] in self._text:
                start += 1
            if end + _WINDOW_LETTERS <= len(letters) and letters[end - 1 : end + _WINDOW_LETTERS - 1] in self._text:
                end -= 1
        return start, end

    def _mark_covered(self, positioned_letters: list[tuple[int, str]]) -> bytearray:
        letters = "".join(letter for _, letter in positioned_letters)
        covered = bytearray(len(letters))
        for start in range(len(letters) - _WINDOW_LETTERS + 1):
            if letters[start : start + _WINDOW_LETTERS] in self._shown_windows:
                covered[start : start + _WINDOW_LETTERS] = b"\1" * _WINDOW_LETTERS
        return covered


def _normalise_letters(text: str) -> Iterator[tuple[int, str]]:
    """Yield the text's letters and digits after normalisation, with their positions in it."""
    for position, character in enumerate(text):
        normalised = (
            character.casefold() if character.isascii() else unicodedata.normalize("NFKC", character).casefold()
        )
        for letter in normalised:
            if letter.isalnum():
                yield position, letter


def keep_visible_text(paper: ParsedPaper, pages: PdfText) -> ParsedPaper:
    """Return the paper without text that the pages do not show. The removed text is flagged, as is all hidden text on
    the pages, even if GROBID did not read it."""
    if pages.unrendered_pages:
        _LOG.warning(
            "%s: %d of %d pages were not rendered in time: covered text that GROBID read on them is not removed",
            paper.title or "a document", pages.unrendered_pages, pages.pages,
        )  # fmt: skip
    printed_pages = _Pages(pages)
    shares = [printed_pages.count_shown_letters(section.text) for section in paper.sections]
    is_comparable = sum(shown_letters for shown_letters, _ in shares) >= _MIN_SHOWN_SHARE * sum(
        letters for _, letters in shares
    )
    if not is_comparable:
        _LOG.warning("GROBID's text for a document differs too much from its pages to be compared with them")
    remover = _HiddenTextRemover(printed_pages, is_comparable)
    sections = [section.model_copy(update={"text": remover.remove_hidden(section.text)}) for section in paper.sections]
    references = tuple(work for work in paper.references if not remover.is_hidden_citation(work))
    reported = [(f"page {item.page}, {item.why}", item.text) for item in pages.hidden]
    return paper.model_copy(
        update={
            "title": remover.remove_hidden(paper.title),
            "sections": tuple(section for section in sections if any(map(str.isalnum, section.text))),
            "references": references,
            "flags": (
                *paper.flags,
                *build_hidden_flags([*reported, *((_ON_NO_PAGE, text) for text in remover.unreported)]),
            ),
        }
    )


class _HiddenTextRemover:
    """Removes text that no page shows, and collects removed text that is not yet reported as hidden."""

    def __init__(self, pages: _Pages, is_comparable: bool) -> None:
        self._pages = pages
        self._is_comparable = is_comparable
        self.unreported: list[str] = []

    def remove_hidden(self, text: str) -> str:
        pieces: list[str] = []
        position = 0
        for span in self._find_removable_spans(text):
            pieces.append(text[position : span.start])
            position = span.end
            if not span.is_known_hidden:
                self.unreported.append(text[span.start : span.end])
        return "".join((*pieces, text[position:])).strip() if pieces else text

    def is_hidden_citation(self, work: CitedWork) -> bool:
        """Return whether a citation comes from text hidden in the document. It must match text known to be hidden:
        GROBID alters references too much for absence from the visible text to prove anything."""
        return any(
            span.is_known_hidden for text in (work.title, work.raw) for span in self._pages.find_hidden_spans(text)
        )

    def _find_removable_spans(self, text: str) -> Iterator[_HiddenSpan]:
        return (item for item in self._pages.find_hidden_spans(text) if item.is_known_hidden or self._is_comparable)
