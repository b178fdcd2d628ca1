"""Find the references of an idea: the entries of its reference list, and works linked or identified in its text."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from assayer.literature.paper_addresses import find_identifiers
from assayer.literature.paper_identity import parse_arxiv_id
from assayer.models import CitedWork, Idea
from assayer.own_references.kept_words import MaskedNames, keep_words
from assayer.reference_lists.identifiers import arxiv_ids_in, dois_in

_LINK = re.compile(
    r"\[(?P<words>[^\[\]\n]{1,300})\]\(<?(?P<address>https?://[^()\s<>]{1,400}(?:\([^()\s]{0,80}\)[^()\s<>]{0,80}){0,2})>?\)"
)
_TITLE_WORDS = 4
"""Minimum words in a link text for it to count as the title of the linked paper."""


_MIN_LIST_ENTRIES = 3
"""Minimum number of references for them to count as a list."""


class IdeaReferences(NamedTuple):
    entries: tuple[CitedWork, ...]
    masked_names: MaskedNames = frozenset()
    """Names of people that are masked in the idea; they are not used in searches."""


def read_references(idea: Idea) -> IdeaReferences:
    """Return the references of an idea in its order; works mentioned only in the text follow those in the list. If the
    idea is judged blind, removed lines and sections are not read."""
    kept = keep_words(idea)
    entries = list(idea.references)
    known = {name for work in entries for name in (work.doi, work.arxiv) if name}
    # If there is a list, a bare identifier usually belongs to the text itself or to its data.
    for work in [
        *_find_linked_works(kept.text),
        *(_find_identified_works(kept.text) if len(entries) < _MIN_LIST_ENTRIES else ()),
    ]:
        if not known & {work.doi, work.arxiv}:
            known |= {name for name in (work.doi, work.arxiv) if name}
            entries.append(work)
    return IdeaReferences(tuple(entries), kept.masked_names)


def _find_linked_works(body: str) -> Iterator[CitedWork]:
    """Yield the works to which the text links by DOI or arXiv id."""
    for match in _LINK.finditer(body):
        words, address = match["words"], match["address"]
        found = find_identifiers(address)
        work = CitedWork(doi=found.doi, arxiv=found.arxiv, raw=match[0])
        if work.doi or work.arxiv:
            yield work.model_copy(update={"title": words if len(words.split()) >= _TITLE_WORDS else ""})


def _find_identified_works(body: str) -> Iterator[CitedWork]:
    """Yield the works that the text mentions by DOI or arXiv id."""
    for name in arxiv_ids_in(body):
        yield CitedWork(arxiv=name, raw=f"arXiv:{name}")
    for name in dois_in(body):
        yield CitedWork(doi=name, arxiv=parse_arxiv_id(name), raw=name)
