"""Sentences of a text, for fallbacks and quotes."""

import re
from itertools import pairwise

import sentencex

__all__ = ["sentence_spans", "sentences"]

_MARKUP = re.compile(r"\*\*|__|^[^\S\n]*+(?:[-*•]|\d++[.)])\s++|^#++\s++", re.MULTILINE)


def sentences(text: str, min_words: int = 6) -> list[str]:
    """Sentences of at least `min_words` words, in order, without Markdown marks, on one line each."""
    found = (" ".join(_MARKUP.sub("", one).split()) for one in sentencex.segment("en", text))
    return [one for one in found if len(one.split()) >= min_words]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence, in order; together they are the whole text."""
    starts, at = [0], 0
    for one in sentencex.segment("en", text):
        found = text.find(one, at) if one else -1
        if found > 0:
            starts.append(found)
        at = max(at, found + len(one))
    return list(pairwise([*starts, len(text)]))
