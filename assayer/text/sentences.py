"""Sentence segmentation of texts, for passages and quotes."""

import re
from collections.abc import Iterator
from itertools import pairwise

import sentencex

_MAX_CHARS_AT_ONCE = 10_000
"""Maximum characters segmented at once, because the segmenter takes quadratic time on text with many unclosed
quotes."""
_CUTS = ("\n\n", "\n", ". ", " ")
"""Separators at which longer texts are cut before segmentation, in order of preference."""
_MARKUP = re.compile(r"\*\*|__|^[^\S\n]*+(?:[-*•]|\d++[.)])\s++|^#++\s++", re.MULTILINE)


def sentences(text: str, min_words: int = 6) -> list[str]:
    """Return the sentences of at least `min_words` words, in order, without Markdown marks, each on one line."""
    found = (" ".join(_MARKUP.sub("", segment).split()) for segment in _segments(text))
    return [item for item in found if len(item.split()) >= min_words]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of each sentence, in order; together they cover the whole text."""
    starts, at = [0], 0
    for segment in _segments(text):
        found = text.find(segment, at) if segment else -1
        if found > 0:
            starts.append(found)
        at = max(at, found + len(segment))
    return list(pairwise([*starts, len(text)]))


def sentence_boundaries(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each sentence, in order, as reported by the segmenter."""
    start = 0
    for piece in _pieces(text):
        for sentence_boundary in sentencex.get_sentence_boundaries("en", piece):
            yield start + sentence_boundary["start_index"], start + sentence_boundary["end_index"]
        start += len(piece)


def _segments(text: str) -> Iterator[str]:
    for piece in _pieces(text):
        yield from sentencex.segment("en", piece)


def _pieces(text: str) -> Iterator[str]:
    """Yield consecutive pieces that together make up the whole text."""
    start = 0
    while len(text) - start > _MAX_CHARS_AT_ONCE:
        end = _cut(text, start)
        yield text[start:end]
        start = end
    yield text[start:]


def _cut(text: str, start: int) -> int:
    end = start + _MAX_CHARS_AT_ONCE
    for mark in _CUTS:
        if (at := text.rfind(mark, start, end)) > start:
            return at + len(mark)
    return end
