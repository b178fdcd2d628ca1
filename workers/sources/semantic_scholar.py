"""Semantic Scholar (`https://api.semanticscholar.org`): Academic Graph API v1 and Recommendations API v1.

A key gives one request a second over all endpoints, so what can go in one request does: 100 papers a page of a
search, 500 a batch, 1,000 references or citations. Dates without a day count there as the 1st of January, with us
as the last day of the year, so what comes back is looked at again.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal, TypeVar
from urllib.parse import quote

from pydantic import BaseModel

from assayer.models import Identifiers, Operation, Paper
from workers.remote.call import Ask, Call, Remote, Reply
from workers.sources.answers import read
from workers.sources.asking import ask_for
from workers.sources.fields import in_window, prose
from workers.sources.malformed import malformed
from workers.sources.query_words import query_words
from workers.sources.semantic_scholar_papers import (
    FIELDS,
    SOURCE,
    Batch,
    Bulk,
    Found,
    Links,
    Recommended,
    Record,
    SnippetMatch,
    SnippetsFound,
    identifiers_of,
    name_of,
    paper_of,
    section_of,
)
from workers.sources.source import Snippet, Window

__all__ = ["SemanticScholar"]

_GRAPH, _RECOMMENDATIONS = "graph/v1", "recommendations/v1"
_PAGE, _DEEPEST = 100, 1_000
_LINKS, _DEEPEST_LINKS = 1_000, 9_999
_MOST_SNIPPETS, _MOST_RECOMMENDED = 1_000, 500
_BATCH = 500
_ALWAYS = Window()
_ALWAYS_KNOWN = "649def34f8be52c8b66281af98ae884c09aef38b"
"""The paper about Semantic Scholar itself, its documentation's example. A batch without a known id is refused as a
whole (400, `No valid paper ids given`) like a bad request; with this one in it, unknown ids are answered by null."""

S = TypeVar("S", bound=BaseModel)
Params = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class SemanticScholar:
    """Implements Searches, Snippets, Recommends, Cites, Resolves and LocatesPdfs."""

    remote: Remote
    name: ClassVar[str] = SOURCE

    async def search(self, query: str, limit: int, window: Window, ask: Ask) -> list[Paper]:
        """By relevance; at most 1,000."""
        # A hyphenated word matches nothing there.
        words = query_words(query).replace("-", " ")
        found, offset, wanted = list[Record](), 0, min(limit, _DEEPEST)
        while words and len(found) < wanted:
            size = min(_PAGE, wanted - len(found), _DEEPEST - offset)
            paging = (("offset", str(offset)), ("limit", str(size)))
            params = (("query", words), ("fields", FIELDS), *paging, *_days(window))
            page = await self._get("search", f"{_GRAPH}/paper/search", params, Found, ask) or Found()
            found += page.data
            if page.next is None or page.next <= offset or page.next >= _DEEPEST:
                break
            offset = page.next
        return _papers(found, window)[:wanted]

    async def bulk_search(self, query: str, limit: int, window: Window, ask: Ask) -> list[Paper]:
        """Papers with every word of the query, newest first: for sweeps, 1,000 a request."""
        words, found, token = query_words(query), list[Record](), ""
        while words and len(found) < limit:
            params = (("query", words), ("fields", FIELDS), ("sort", "publicationDate:desc"), *_days(window))
            paging = (("token", token),) if token else ()
            page = await self._get("search", f"{_GRAPH}/paper/search/bulk", (*params, *paging), Bulk, ask) or Bulk()
            found += page.data
            if not page.token or page.token == token or not page.data:
                break
            token = page.token
        return _papers(found, window)[:limit]

    async def snippets(self, query: str, limit: int, window: Window, ask: Ask) -> list[Snippet]:
        """Two requests: the snippets, then the records of their papers and of those they cite."""
        words = query_words(query)
        if not words:
            return []
        params = (("query", words), ("limit", str(min(limit, _MOST_SNIPPETS))), *_days(window))
        page = await self._get("snippets", f"{_GRAPH}/snippet/search", params, SnippetsFound, ask)
        matches = page.data if page else ()
        numbers = dict.fromkeys(number for one in matches for number in (one.paper.corpus_id, *one.cited) if number)
        records = await self._batch([f"CorpusId:{number}" for number in numbers], "snippets", ask)
        known = {number: record for number, record in zip(numbers, records, strict=True) if record}
        made = (_snippet(one, known) for one in matches)
        return [snippet for snippet in made if snippet and in_window(snippet.paper, window)]

    async def recommend(self, papers: Sequence[Identifiers], limit: int, ask: Ask) -> list[Paper]:
        names = list(dict.fromkeys(name for paper in papers if (name := name_of(paper))))
        like = await self._like(names, limit, ask)
        if like is None and len(names) > 1:
            known = [record.paper_id for record in await self._batch(names, "neighbours", ask) if record]
            like = await self._like(known, limit, ask)
        found = _papers(like or ())
        # It has recommended papers to themselves.
        return [paper for paper in found if not any(_same(paper.identifiers, one) for one in papers)][:limit]

    async def references(self, paper: Identifiers, limit: int, ask: Ask) -> list[Paper]:
        """Without those that it could not match to a paper."""
        return await self._linked(paper, "references", limit, ask)

    async def citations(self, paper: Identifiers, limit: int, ask: Ask) -> list[Paper]:
        return await self._linked(paper, "citations", limit, ask)

    async def resolve(self, papers: Sequence[Identifiers], ask: Ask) -> list[Paper | None]:
        found = await self._records(papers, "papers", ask)
        return [paper_of(found[paper]) if paper in found else None for paper in papers]

    async def pdf_urls(self, paper: Identifiers, ask: Ask) -> tuple[str, ...]:
        record = (await self._records([paper], "open_access", ask)).get(paper)
        known = paper_of(record) if record else None
        return known.pdf_urls if known else ()

    async def _records(
        self, papers: Sequence[Identifiers], operation: Operation, ask: Ask
    ) -> dict[Identifiers, Record]:
        named = {paper: name for paper in papers if (name := name_of(paper))}
        names = list(dict.fromkeys(named.values()))
        found = dict(zip(names, await self._batch(names, operation, ask), strict=True))
        return {paper: record for paper, name in named.items() if (record := found[name])}

    async def _batch(self, names: Sequence[str], operation: Operation, ask: Ask) -> list[Record | None]:
        """One a name, in order."""
        records = list[Record | None]()
        for start in range(0, len(names), _BATCH - 1):
            asked = names[start : start + _BATCH - 1]
            body = json.dumps({"ids": [*asked, _ALWAYS_KNOWN]})
            call = Call(SOURCE, operation, f"{_GRAPH}/paper/batch", (("fields", FIELDS),), body)
            answer = await ask_for(self.remote, call, ask, partial(_read_batch, size=len(asked) + 1))
            records += answer[:-1]
        return records

    async def _like(self, names: Sequence[str], limit: int, ask: Ask) -> Sequence[Record] | None:
        """None when it does not know one of them.

        For a single paper it looks through all of computer science (the other pool holds recent papers only); when
        that gives nothing, and for several papers, through what it chooses itself.
        """
        if not names:
            return None
        params = (("limit", str(min(limit + len(names), _MOST_RECOMMENDED))), ("fields", FIELDS))
        if len(names) == 1:
            path = f"{_RECOMMENDATIONS}/papers/forpaper/{_in_path(names[0])}"
            for_one = await self._get("neighbours", path, (*params, ("from", "all-cs")), Recommended, ask)
            if for_one is None or for_one.papers:
                return for_one.papers if for_one else None
        body = json.dumps({"positivePaperIds": names})
        call = Call(SOURCE, "neighbours", f"{_RECOMMENDATIONS}/papers/", params, body)
        for_all = await self._ask(call, Recommended, ask)
        return for_all.papers if for_all else None

    async def _linked(
        self, paper: Identifiers, kind: Literal["references", "citations"], limit: int, ask: Ask
    ) -> list[Paper]:
        name, found, offset = name_of(paper), list[Paper](), 0
        while name and len(found) < limit and offset < _DEEPEST_LINKS:
            size = min(_LINKS, _DEEPEST_LINKS - offset)
            params = (("fields", FIELDS), ("offset", str(offset)), ("limit", str(size)))
            page = await self._get(kind, f"{_GRAPH}/paper/{_in_path(name)}/{kind}", params, Links, ask)
            found += _papers(one.paper for one in page.data) if page else ()
            if page is None or page.next is None or page.next <= offset:
                break
            offset = page.next
        return found[:limit]

    async def _get(self, operation: Operation, path: str, params: Params, shape: type[S], ask: Ask) -> S | None:
        return await self._ask(Call(SOURCE, operation, path, params), shape, ask)

    async def _ask(self, call: Call, shape: type[S], ask: Ask) -> S | None:
        """None when it does not know what was asked for."""
        return await ask_for(
            self.remote, call, ask, lambda reply: read(reply, shape, SOURCE) if reply.status == 200 else None
        )


def _read_batch(reply: Reply, size: int) -> tuple[Record | None, ...]:
    records = read(reply, Batch, SOURCE).root
    if len(records) != size:
        raise malformed(
            SOURCE,
            f"{SOURCE} answered a batch of {size} ids with {len(records)} records.",
            "If it happens again, the API has changed.",
        )
    return records


def _in_path(name: str) -> str:
    """One segment: no slash of a DOI leads elsewhere."""
    return quote(name, safe=":")


def _days(window: Window) -> Params:
    if window == _ALWAYS:
        return ()
    return (("publicationDateOrYear", f"{window.after or ''}:{window.before or ''}"),)


def _papers(records: Iterable[Record], window: Window = _ALWAYS) -> list[Paper]:
    """In order, each once."""
    papers = {paper.id: paper for record in records if (paper := paper_of(record)) and in_window(paper, window)}
    return list(papers.values())


def _same(one: Identifiers, other: Identifiers) -> bool:
    pairs = ((one.s2, other.s2), (one.doi, other.doi), (one.arxiv, other.arxiv), (one.acl, other.acl))
    return any(left and left == right for left, right in pairs)


def _snippet(match: SnippetMatch, known: Mapping[str, Record]) -> Snippet | None:
    """None when the record of its paper did not come, or when there is no text."""
    record, text = known.get(match.paper.corpus_id), prose(match.snippet.text)
    paper = paper_of(record) if record else None
    if paper is None or not text:
        return None
    cited = (identifiers_of(known[number]) for number in match.cited if number in known)
    return Snippet(paper, section_of(match), text, tuple(one for one in cited if one != Identifiers()))
