"""The same text in the English of somebody who learnt it late: articles dropped, agreement broken, nothing added."""

import re
from typing import NamedTuple

__all__ = ["PoorerText", "in_poorer_english"]

_SWAPS = {
    "is": "are",
    "are": "is",
    "has": "have",
    "have": "has",
    "was": "were",
    "were": "was",
    "does": "do",
    "this": "these",
    "these": "this",
    "uses": "use",
    "shows": "show",
    "requires": "require",
    "provides": "provide",
    "allows": "allow",
    "makes": "make",
    "remains": "remain",
    "information": "informations",
    "research": "researches",
    "evidence": "evidences",
    "knowledge": "knowledges",
    "much": "many",
    "fewer": "less",
}
_WORD = re.compile(r"(?P<article>\b(?:a|an|the) (?=\w))|\b[a-z]{2,12}\b|(?P<other>\b\w+\b)")
_FENCE = re.compile(r"^\s{0,3}(?:```|~~~|#|\|)|^Title:", re.M)
_ARTICLES_KEPT = 4
"""Every fourth article stays, as people do not err everywhere."""
_AGREEMENTS_KEPT = 3


class PoorerText(NamedTuple):
    text: str
    changed: float
    """Share of the words that were dropped or changed."""


def in_poorer_english(text: str) -> PoorerText:
    """Always the same for the same text. Headings, tables and words in capitals stay as they are."""
    words = changed = articles = agreements = 0

    def poorer(match: "re.Match[str]") -> str:
        nonlocal words, changed, articles, agreements
        words += 1
        if match["article"]:
            articles += 1
            if articles % _ARTICLES_KEPT:
                changed += 1
                return ""
        elif match[0] in _SWAPS:
            agreements += 1
            if agreements % _AGREEMENTS_KEPT:
                changed += 1
                return _SWAPS[match[0]]
        return match[0]

    lines = [line if _FENCE.match(line) else _WORD.sub(poorer, line) for line in text.split("\n")]
    return PoorerText("\n".join(lines), changed / words if words else 0.0)
