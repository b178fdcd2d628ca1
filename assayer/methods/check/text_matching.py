"""Split an idea into paragraphs with their headings, and compare texts by meaning."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.ports import Embedder
from assayer.text.section_titles import ProposalPart, proposal_part_of

Cosines = NDArray[np.float32]
"""Cosine similarities, of shape (n,) or (n, m)."""

_WORD_CHARS = 12


async def compute_similarity(texts: Sequence[str], other_texts: Sequence[str], embedder: Embedder) -> Cosines:
    """Return the cosine similarity of every pair of texts, shape (asked, found)."""
    # Embed both sides as queries: the comparison is symmetric, and embedders cache queries, which repeat here.
    vectors = await embedder.embed([*texts, *other_texts], "query")
    cosines: Cosines = vectors[: len(texts)] @ vectors[len(texts) :].T
    return cosines


def truncate_words(text: str, max_words: int, ellipsis: str = " …") -> str:
    """Truncate a text to `max_words` words. The number of characters is limited as well, because some scripts put no
    spaces between words."""
    words = text.split()
    first_words = " ".join(words[:max_words])
    truncated_text = first_words[: max_words * _WORD_CHARS]
    return truncated_text + (ellipsis if len(words) > max_words or len(truncated_text) < len(first_words) else "")


_HEADING = re.compile(
    r"^(?:#{1,6}\s+(?P<hash>.+)|\*\*(?P<bold>[^*]{3,100})\*\*:?|(?P<number>\d+(?:\.\d+)*[.)]?\s+[A-Z].{2,80}))$"
)
"""Matches a heading; the line must be stripped of white space."""
_LEAD = re.compile(r"^\*\*(?P<lead>[^*]{3,100})\*\*:?\s*(?P<rest>\S.*)$", re.DOTALL)


class Paragraph(NamedTuple):
    heading: str
    kind: ProposalPart
    """Part of the proposal, taken from the nearest heading that indicates one; subheadings inherit it."""
    text: str


def split_into_paragraphs(text: str) -> list[Paragraph]:
    """Return the paragraphs of running text, each with its heading. A heading applies until the next one."""
    paragraphs: list[Paragraph] = []
    heading = ""
    kind: ProposalPart = "other"
    for block in re.split(r"\n\s*\n", text):
        lines: list[str] = []
        for line in block.strip().splitlines():
            match = _HEADING.match(line.strip())
            if match is None:
                lines.append(line.strip())
                continue
            _add_paragraph(paragraphs, heading, kind, lines)
            heading = (match["hash"] or match["bold"] or match["number"]).strip(" :*")
            kind = proposal_part_of(heading) or (kind if match["hash"] is None else "other")
        _add_paragraph(paragraphs, heading, kind, lines)
    return paragraphs


def _add_paragraph(paragraphs: list[Paragraph], heading: str, kind: ProposalPart, lines: list[str]) -> None:
    text = " ".join(lines).strip()
    lines.clear()
    if not text:
        return
    match = _LEAD.match(text)
    if match:
        heading, text = match["lead"].strip(" :"), match["rest"]
    paragraphs.append(Paragraph(heading, proposal_part_of(heading) or kind, text))
