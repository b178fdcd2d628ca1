"""Finds the references of an idea: its list of references, and what it links to or identifies in its text."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from assayer.literature.paper_identity import arxiv_id, doi
from assayer.literature.reference_parser import parse_references
from assayer.models import CitedWork, Idea
from assayer.own_references.kept_words import MaskedNames, kept_words
from assayer.text.headings import Heading, find_headings
from assayer.text.section_titles import is_known_title, opens_part

__all__ = ["IdeaReferences", "read_references"]

_LINK = re.compile(r"\[(?P<words>[^\[\]\n]{1,300})\]\(<?(?P<address>https?://[^()\s<>]{1,400})>?\)")
_ARXIV = re.compile(r"\barxiv(?:\.org/(?:abs|pdf)/|[: ] ?)(?P<id>\d{4}\.\d{4,5}|[a-z-]{2,12}/\d{7})", re.IGNORECASE)
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>\[\]{}|]{1,200}")
_MARKDOWN_LEVELS = 6
_TITLE_WORDS = 4
"""A link of fewer words does not name the paper it leads to."""


_LIST = 3
"""Entries."""


class IdeaReferences(NamedTuple):
    entries: tuple[CitedWork, ...]
    read_by: Literal["grobid", "text"]
    body: str
    """The text that is judged without its lists of references, where passages refer to them."""
    masked_names: MaskedNames = frozenset()
    """Of people who are masked in the idea: no search is made with them."""


def read_references(idea: Idea) -> IdeaReferences:
    """In the idea's order; works that stand only in the text come after those of the list. Of an idea that is judged
    blind they have their authors, and nothing is read in what was cut."""
    kept = kept_words(idea)
    body, listed = _parted(kept.text)
    entries = list(idea.references) or [work for text in listed for work in parse_references(text)]
    read_by: Literal["grobid", "text"] = "grobid" if idea.references else "text"
    known = {name for work in entries for name in (work.doi, work.arxiv) if name}
    # Beside a list, a bare identifier is more often that of the text itself or of its data.
    for work in [*_linked(body), *(_identified(body) if len(entries) < _LIST else ())]:
        if not known & {work.doi, work.arxiv}:
            known |= {name for name in (work.doi, work.arxiv) if name}
            entries.append(work)
    judged = body if idea.unblinded is None else _parted(idea.text)[0]
    return IdeaReferences(tuple(entries), read_by, judged, kept.masked_names)


def _parted(text: str) -> tuple[str, list[str]]:
    """The text without its lists of references, and these without their headings."""
    headings = find_headings(text)
    body, listed, position = list[str](), list[str](), 0
    for place, heading in enumerate(headings):
        if heading.start < position or opens_part(heading.title) != "references":
            continue
        end = _end(heading, headings[place + 1 :], len(text))
        body.append(text[position : heading.start])
        listed.append(text[heading.end : end])
        position = end
    return "\n\n".join([*body, text[position:]]), listed


def _end(heading: Heading, later: Sequence[Heading], otherwise: int) -> int:
    """Where the list under a heading ends. A numbered or bold entry looks like a heading, and is none."""
    ends = (
        one.start
        for one in later
        if (one.level <= min(heading.level, _MARKDOWN_LEVELS))
        or (one.level >= heading.level and is_known_title(one.title))
    )
    return next(ends, otherwise)


def _linked(body: str) -> Iterator[CitedWork]:
    """Works that the text links to by DOI or arXiv id."""
    for match in _LINK.finditer(body):
        words, address = match["words"], match["address"]
        work = CitedWork(doi=doi(address), arxiv=arxiv_id(address), raw=match[0])
        if work.doi or work.arxiv:
            yield work.model_copy(update={"title": words if len(words.split()) >= _TITLE_WORDS else ""})


def _identified(body: str) -> Iterator[CitedWork]:
    """Works that the text names by DOI or arXiv id."""
    for match in _ARXIV.finditer(body):
        yield CitedWork(arxiv=arxiv_id(match["id"]), raw=match[0])
    for match in _DOI.finditer(body):
        if name := doi(match[0]):
            yield CitedWork(doi=name, arxiv=arxiv_id(name), raw=match[0])
