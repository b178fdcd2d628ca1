"""What the fallbacks extract from: paragraphs of the idea under their headings, and sentences near to each other."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.ports import Embedder
from assayer.text.section_titles import ProposalPart, proposal_part_of

__all__ = [
    "NEAR_COSINE",
    "QUOTE_WORDS",
    "READ_FROM_COSINE",
    "SAME_COSINE",
    "Cosines",
    "Paragraph",
    "first_words",
    "idea_paragraphs",
    "overlap_score",
    "similarity",
]


Cosines = NDArray[np.float32]
"""Shape (n,) or (n, m)."""

READ_FROM_COSINE = {"method": 0.50, "idea": 0.45}
"""Cosine of a paper with a method, or with the idea, from which its sentences are looked at."""
NEAR_COSINE = 0.55
"""Cosine of two sentences from which they are about the same thing."""
SAME_COSINE = 0.72
"""Cosine of two sentences from which they say nearly the same."""
OVERLAP_COSINES = (0.35, 0.85)
"""Cosines that count as no and as full overlap in the scores."""
QUOTE_WORDS = 40
_WORD_CHARS = 12


async def similarity(asked: Sequence[str], found: Sequence[str], embedder: Embedder) -> Cosines:
    """Cosines, shape (asked, found)."""
    # Both sides as queries: the comparison is symmetric, and embedders remember queries, which repeat here.
    vectors = await embedder.embed([*asked, *found], "query")
    cosines: Cosines = vectors[: len(asked)] @ vectors[len(asked) :].T
    return cosines


def overlap_score(cosine: float) -> float:
    low, high = OVERLAP_COSINES
    return round(10 * min(1.0, max(0.0, (cosine - low) / (high - low))), 1)


def first_words(text: str, most: int, ellipsis: str = " …") -> str:
    """At most so many words, and no more characters than they have: some scripts put no space between words."""
    words = text.split()
    chosen = " ".join(words[:most])
    begun = chosen[: most * _WORD_CHARS]
    return begun + (ellipsis if len(words) > most or len(begun) < len(chosen) else "")


_HEADING = re.compile(
    r"^(?:#{1,6}\s+(?P<hash>.+)|\*\*(?P<bold>[^*]{3,100})\*\*:?|(?P<number>\d+(?:\.\d+)*[.)]?\s+[A-Z].{2,80}))$"
)
"""Of a line without white space around it."""
_LEAD = re.compile(r"^\*\*(?P<lead>[^*]{3,100})\*\*:?\s*(?P<rest>\S.*)$", re.DOTALL)


class Paragraph(NamedTuple):
    heading: str
    kind: ProposalPart
    """By the nearest heading that tells; sub-headings inherit."""
    text: str


def idea_paragraphs(text: str) -> list[Paragraph]:
    """Paragraphs of running text; a heading applies until the next one."""
    found: list[Paragraph] = []
    heading = ""
    kind: ProposalPart = "other"
    for block in re.split(r"\n\s*\n", text):
        lines: list[str] = []
        for line in block.strip().splitlines():
            match = _HEADING.match(line.strip())
            if match is None:
                lines.append(line.strip())
                continue
            _add_paragraph(found, heading, kind, lines)
            heading = (match["hash"] or match["bold"] or match["number"]).strip(" :*")
            kind = proposal_part_of(heading) or (kind if match["hash"] is None else "other")
        _add_paragraph(found, heading, kind, lines)
    return found


def _add_paragraph(found: list[Paragraph], heading: str, kind: ProposalPart, lines: list[str]) -> None:
    text = " ".join(lines).strip()
    lines.clear()
    if not text:
        return
    match = _LEAD.match(text)
    if match:
        heading, text = match["lead"].strip(" :"), match["rest"]
    found.append(Paragraph(heading, proposal_part_of(heading) or kind, text))
