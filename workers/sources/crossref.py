"""Crossref (`https://api.crossref.org`): records by DOI, by words, and the notices of retraction about them.

An e-mail address (`mailto`) leads to the polite pool: lists 3 requests a second, one record by its DOI 10, three at a
time; answers say so in X-Rate-Limit-Limit, X-Rate-Limit-Interval and X-Concurrency-Limit. Retraction Watch's notices
come with the records (`updated-by`, its `source` says whose word it is).

Crossref knows the DOIs of its own members. Those of DataCite are left to others: arXiv's are arXiv's (the DOI holds
the id), OpenAlex lists the rest (Zenodo, institutional repositories).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from assayer.models import Identifiers, Operation, Paper, Retraction
from workers.remote.call import Ask, Call, Remote
from workers.sources.answers import read, read_known
from workers.sources.asking import ask_for
from workers.sources.crossref_works import (
    FIELDS,
    SOURCE,
    Work,
    WorkAnswer,
    WorksAnswer,
    doi_of,
    paper_of,
    retraction_of,
)
from workers.sources.dois import ARXIV_PREFIX, batches, in_path, listable
from workers.sources.fields import in_window
from workers.sources.query_words import query_words
from workers.sources.source import Window

__all__ = ["Crossref"]

_MOST_ROWS = 1000
_BATCH = 50
"""DOIs to a list. More make the answer slower, and the URL longer than proxies like."""
_LONGEST_FILTER = 3000
_TYPES = (
    "journal-article",
    "proceedings-article",
    "posted-content",
    "book-chapter",
    "monograph",
    "report",
    "dissertation",
)
"""Of papers; Crossref also registers journals, figures, grants and reviews."""


@dataclass(frozen=True)
class Crossref:
    """Implements Searches, Resolves and Retracts."""

    remote: Remote
    name: ClassVar[str] = SOURCE

    async def search(self, query: str, limit: int, window: Window, ask: Ask) -> list[Paper]:
        """By title, authors, venue and year as a citation has them; few records have abstracts."""
        words = query_words(query)
        if not words or limit <= 0:
            return []
        conditions = [f"type:{one}" for one in _TYPES]
        conditions += [f"from-pub-date:{window.after}"] * (window.after is not None)
        conditions += [f"until-pub-date:{window.before}"] * (window.before is not None)
        params = (
            ("query.bibliographic", words),
            ("filter", ",".join(conditions)),
            ("rows", str(min(limit, _MOST_ROWS))),
            ("select", FIELDS),
        )
        works = await self._list("search", params, ask)
        return [paper for work in works if (paper := paper_of(work)) and in_window(paper, window)]

    async def resolve(self, papers: Sequence[Identifiers], ask: Ask) -> list[Paper | None]:
        found = await self._works((paper.doi for paper in papers), ask)
        return [paper_of(found[paper.doi]) if paper.doi in found else None for paper in papers]

    async def retractions(self, papers: Sequence[Identifiers], ask: Ask) -> Mapping[Identifiers, Retraction]:
        found = await self._works((paper.doi for paper in papers), ask)
        notices = {paper: retraction_of(found[paper.doi]) for paper in papers if paper.doi in found}
        return {paper: notice for paper, notice in notices.items() if notice}

    async def _works(self, dois: Iterable[str], ask: Ask) -> dict[str, Work]:
        """Those that Crossref knows, in as few requests as it allows. The same requests for records and notices."""
        asked = sorted({doi for doi in dois if doi and not doi.startswith(ARXIV_PREFIX)})
        found, single = dict[str, Work](), [doi for doi in asked if not listable(doi)]
        for batch in batches([doi for doi in asked if listable(doi)], _BATCH, _LONGEST_FILTER):
            if len(batch) == 1:
                single += batch
                continue
            conditions = ",".join(f"doi:{doi}" for doi in batch)
            params = (("filter", conditions), ("rows", str(len(batch))), ("select", FIELDS))
            found |= {doi_of(work): work for work in await self._list("papers", params, ask)}
        for doi in single:
            call = Call(SOURCE, "papers", f"works/{in_path(doi)}")
            answer = await ask_for(self.remote, call, ask, lambda reply: read_known(reply, WorkAnswer, SOURCE))
            if answer is not None:
                found[doi] = answer.message
        return found

    async def _list(self, operation: Operation, params: tuple[tuple[str, str], ...], ask: Ask) -> tuple[Work, ...]:
        call = Call(SOURCE, operation, "works", params)
        answer = await ask_for(self.remote, call, ask, lambda reply: read(reply, WorksAnswer, SOURCE))
        return answer.message.items
