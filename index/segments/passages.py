"""Split papers into passages of whole sentences, and build the texts that are embedded and indexed."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.text.sentences import sentence_spans
from index.arrays import load_array
from index.segments.paper_store import PaperStore

PASSAGE_WORDS = 200
"""Maximum number of words per passage, so that it fits in the packaged model's input together with the paper's
title."""
ABSTRACT = -1
"""Section number that stands for the abstract."""
_LOCATIONS = "places.npy"


class TextSpan(NamedTuple):
    """Characters `start` to `end` (exclusive) in a text."""

    start: int
    end: int


def split_passages(text: str, words: int = PASSAGE_WORDS) -> list[TextSpan]:
    """Split a text into passages of up to `words` words that end where sentences end, in order and without gaps.

    A sentence that is longer than a passage is split between words. If the last passage has fewer than half of
    `words`, it is joined to the one before it, unless both together have more than one and a half times `words`."""
    if len(text.split()) <= words:
        return [TextSpan(0, len(text))] if text.strip() else []
    spans: list[TextSpan] = []
    start = end = count = 0
    for piece in _split_sentences(text, words):
        size = len(text[piece.start : piece.end].split())
        if count and count + size > words:
            spans.append(TextSpan(start, end))
            start, count = piece.start, 0
        end, count = piece.end, count + size
    if not count:
        return spans
    if spans and count < 0.5 * words and _count_words(text, spans[-1]) + count <= 1.5 * words:
        start = spans.pop().start
    return [*spans, TextSpan(start, end)]


def _count_words(text: str, span: TextSpan) -> int:
    return len(text[span.start : span.end].split())


def _split_sentences(text: str, words: int) -> Iterator[TextSpan]:
    """Yield the sentences in a text; sentences longer than a passage are split."""
    for start, end in sentence_spans(text):
        if len(text[start:end].split()) <= words:
            yield TextSpan(start, end)
        else:
            yield from _split_sentence(text, start, end, words)


def _split_sentence(text: str, start: int, end: int, words: int) -> Iterator[TextSpan]:
    while start < end:
        remaining_words = text[start:end].split(maxsplit=words)
        stop = end - len(remaining_words[words]) if len(remaining_words) > words else end
        yield TextSpan(start, stop)
        start = stop


class PassageLocation(NamedTuple):
    """Location of a passage: characters `start` to `end` (exclusive) in a section of the paper in row `paper`."""

    paper: int
    section: int
    start: int
    end: int


def build_paper_text(title: str, abstract: str) -> str:
    """Return the text that is embedded and indexed for a paper. It also serves as the abstract's first passage."""
    return f"{title}\n{abstract}"


def build_passage_text(title: str, text: str, place: PassageLocation) -> str:
    """Return the text that is embedded and indexed for a passage: the paper's title followed by the passage. `text` is
    the abstract or section that contains the passage."""
    return f"{title}\n{text[place.start : place.end].strip()}"


def list_passage_locations(row: int, abstract: str, sections: Iterable[str]) -> list[PassageLocation]:
    """Return the locations of the passages in the abstract and full text. The abstract's first passage is left out,
    because the paper's own text covers it."""
    places = [PassageLocation(row, ABSTRACT, *span) for span in split_passages(abstract)[1:]]
    for number, text in enumerate(sections):
        places += [PassageLocation(row, number, *span) for span in split_passages(text)]
    return places


def write_locations(places: NDArray[np.int32], directory: Path) -> None:
    np.save(directory / _LOCATIONS, places)


def read_locations(directory: Path) -> NDArray[np.int32]:
    """Return the passage locations: one row per passage, with the columns of PassageLocation, sorted by paper."""
    return load_array(directory / _LOCATIONS)


class IndexedText(NamedTuple):
    text: str
    record: Mapping[str, Any]
    """Columns of the paper that the text belongs to."""


def iterate_paper_texts(store: PaperStore) -> Iterator[IndexedText]:
    for record in store.read_all_indexed_columns():
        yield IndexedText(build_paper_text(record["title"], record["abstract"]), record)


def iterate_passage_texts(store: PaperStore, places: NDArray[np.int32]) -> Iterator[IndexedText]:
    """Yield the texts of passages. `places` must have the columns of PassageLocation and be sorted by paper, so that
    each record is read only once."""
    row, record = -1, {}
    for columns in places.tolist():
        spot = PassageLocation(*columns)
        if spot.paper != row:
            row, record = spot.paper, store.read_indexed_columns(spot.paper)
        text = record["abstract"] if spot.section == ABSTRACT else record["sections"][spot.section]["text"]
        yield IndexedText(build_passage_text(record["title"], text, spot), record)
