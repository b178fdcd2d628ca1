"""Sentences of a text: for passages, fallbacks and quotes."""

import re
from collections.abc import Iterator
from itertools import pairwise

import sentencex

__all__ = ["sentence_boundaries", "sentence_spans", "sentences"]

_MOST_AT_ONCE = 10_000
"""Characters: the segmenter takes time that grows with the square of a text full of quotes that are never closed."""
_CUTS = ("\n\n", "\n", ". ", " ")
"""Where longer texts are cut for it, the best first."""
_MARKUP = re.compile(r"\*\*|__|^[^\S\n]*+(?:[-*•]|\d++[.)])\s++|^#++\s++", re.MULTILINE)


def sentences(text: str, min_words: int = 6) -> list[str]:
    """Sentences of at least `min_words` words, in order, without Markdown marks, on one line each."""
    found = (" ".join(_MARKUP.sub("", one).split()) for one in _segments(text))
    return [one for one in found if len(one.split()) >= min_words]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence, in order; together they are the whole text."""
    starts, at = [0], 0
    for one in _segments(text):
        found = text.find(one, at) if one else -1
        if found > 0:
            starts.append(found)
        at = max(at, found + len(one))
    return list(pairwise([*starts, len(text)]))


def sentence_boundaries(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence, in order, as the segmenter has them."""
    start = 0
    for piece in _pieces(text):
        for one in sentencex.get_sentence_boundaries("en", piece):
            yield start + one["start_index"], start + one["end_index"]
        start += len(piece)


def _segments(text: str) -> Iterator[str]:
    for piece in _pieces(text):
        yield from sentencex.segment("en", piece)


def _pieces(text: str) -> Iterator[str]:
    """Together they are the whole text."""
    start = 0
    while len(text) - start > _MOST_AT_ONCE:
        end = _cut(text, start)
        yield text[start:end]
        start = end
    yield text[start:]


def _cut(text: str, start: int) -> int:
    end = start + _MOST_AT_ONCE
    for mark in _CUTS:
        if (at := text.rfind(mark, start, end)) > start:
            return at + len(mark)
    return end
