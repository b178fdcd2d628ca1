"""Cuts texts into passages of whole sentences."""

from collections.abc import Iterator
from typing import NamedTuple

import sentencex

__all__ = ["PASSAGE_WORDS", "Span", "spans"]

PASSAGE_WORDS = 200
"""What the packaged model reads at once, less the paper's title."""


class Span(NamedTuple):
    """Characters of a text, from `start` up to `end`."""

    start: int
    end: int


def spans(text: str, words: int = PASSAGE_WORDS, slack: float = 0.5) -> list[Span]:
    """Passages of about `words` words that end where sentences end, in order, without gaps.

    A sentence longer than a passage is cut between words. A text up to `slack` longer than `words` stays
    whole, and a shorter rest joins the passage before it.
    """
    if len(text.split()) <= words:
        return [Span(0, len(text))] if text.strip() else []
    found: list[Span] = []
    start = end = count = 0
    for piece in _pieces(text, words):
        size = len(text[piece.start : piece.end].split())
        if count and count + size > words:
            found.append(Span(start, end))
            start, count = piece.start, 0
        end, count = piece.end, count + size
    if not count:
        return found
    if found and count < words * slack and _words(text, found[-1]) + count <= words * (1 + slack):
        start = found.pop().start
    return [*found, Span(start, end)]


def _words(text: str, span: Span) -> int:
    return len(text[span.start : span.end].split())


def _pieces(text: str, words: int) -> Iterator[Span]:
    """Sentences, the endless ones cut."""
    for sentence in sentencex.get_sentence_boundaries("en", text):
        start, end = sentence["start_index"], sentence["end_index"]
        if len(text[start:end].split()) <= words:
            yield Span(start, end)
        else:
            yield from _cut(text, start, end, words)


def _cut(text: str, start: int, end: int, words: int) -> Iterator[Span]:
    while start < end:
        rest = text[start:end].split(maxsplit=words)
        stop = end - len(rest[words]) if len(rest) > words else end
        yield Span(start, stop)
        start = stop
