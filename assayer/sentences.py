"""Sentences of a text, for fallbacks and quotes."""

import re

import sentencex

__all__ = ["sentences"]

_MARKUP = re.compile(r"\*\*|__|^\s*(?:[-*•]|\d+[.)])\s+|^#+\s+", re.MULTILINE)


def sentences(text: str, min_words: int = 6) -> list[str]:
    """Sentences of at least `min_words` words, in order, without Markdown marks, on one line each."""
    found = (" ".join(_MARKUP.sub("", one).split()) for one in sentencex.segment("en", text))
    return [one for one in found if len(one.split()) >= min_words]
