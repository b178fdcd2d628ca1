"""OpenAlex (`https://api.openalex.org`): works by words, by identifiers, by what they cite and who cites them.

It meters a budget of the day per key, not requests: looking up one work is free, a list costs 1 credit, a
search 10, and a free key has 10,000 credits, no key 1,000; also at most 100 requests a second. Hence one work is
looked up, several are listed (at most 100 values a filter, 100 works a page, about 4 KB a URL).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar, Literal, NamedTuple

from assayer.models import Identifiers, Operation, Paper, Retraction
from workers.remote.call import Ask, Call, Remote
from workers.sources.answers import read, read_known
from workers.sources.asking import ask_for
from workers.sources.dois import ARXIV_PREFIX, batches, in_path, listable
from workers.sources.fields import in_window
from workers.sources.openalex_works import (
    FIELDS,
    SOURCE,
    Work,
    Works,
    identifiers_of,
    paper_of,
    pdf_urls_of,
    work_id,
)
from workers.sources.query_words import query_words
from workers.sources.source import Window

__all__ = ["OpenAlex"]

_PAGE = 100
_DEEPEST = 10_000
_LONGEST_FILTER = 3000
_FEW = 3
"""Works with every word of a query below which a search for any of them is worth its price."""


class _Key(NamedTuple):
    """One way to name a work, as filters and paths write it."""

    kind: Literal["openalex", "doi", "pmid"]
    value: str

    @property
    def path(self) -> str:
        return f"works/{self.value}" if self.kind == "openalex" else f"works/{self.kind}:{in_path(self.value)}"


def _key(paper: Identifiers) -> _Key | None:
    if work := work_id(paper.openalex):
        return _Key("openalex", work)
    if paper.doi or paper.arxiv:
        return _Key("doi", (paper.doi or f"{ARXIV_PREFIX}{paper.arxiv}").lower())
    return _Key("pmid", paper.pubmed) if paper.pubmed.isdecimal() else None


def _keys(work: Work) -> Iterable[_Key]:
    known = identifiers_of(work)
    yield from (_Key("openalex", known.openalex), _Key("doi", known.doi), _Key("pmid", known.pubmed))


def _papers(works: Iterable[Work]) -> list[Paper]:
    """Each once: lists may move while they are paged through."""
    return list({paper.id: paper for work in works if (paper := paper_of(work))}.values())


def _filter(conditions: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return (("filter", ",".join(conditions)),) if conditions else ()


@dataclass(frozen=True)
class OpenAlex:
    """Implements Searches, Cites, Resolves, Retracts and LocatesPdfs."""

    remote: Remote
    name: ClassVar[str] = SOURCE

    async def search(self, query: str, limit: int, window: Window, ask: Ask) -> list[Paper]:
        """By title, abstract and full text where OpenAlex has it: works with every word, and where these are few
        those with any of the words behind them."""
        words = query_words(query).split()
        if not words:
            return []
        days = [f"from_publication_date:{window.after}"] * (window.after is not None)
        days += [f"to_publication_date:{window.before}"] * (window.before is not None)
        works = await self._list((("search", " ".join(words)), *_filter(days)), limit, "search", ask)
        if len(works) < min(limit, _FEW) and len(words) > 1:
            works += await self._list((("search", " OR ".join(words)), *_filter(days)), limit, "search", ask)
        return [paper for paper in _papers(works) if in_window(paper, window)][:limit]

    async def references(self, paper: Identifiers, limit: int, ask: Ask) -> list[Paper]:
        """In the order in which OpenAlex lists them, which is not the paper's."""
        key = _key(paper)
        work = await self._one(key, "id,referenced_works", "references", ask) if key else None
        cited = [_Key("openalex", name) for text in work.referenced_works if (name := work_id(text))] if work else []
        found = await self._works(cited[:limit], FIELDS, "references", ask)
        return [record for one in cited if one in found and (record := paper_of(found[one]))]

    async def citations(self, paper: Identifiers, limit: int, ask: Ask) -> list[Paper]:
        name = await self._work_id(paper, ask)
        if not name:
            return []
        order = (("sort", "publication_date:desc"),)
        return _papers(await self._list((*_filter([f"cites:{name}"]), *order), limit, "citations", ask))

    async def resolve(self, papers: Sequence[Identifiers], ask: Ask) -> list[Paper | None]:
        found = await self._found(papers, FIELDS, ask)
        return [paper_of(found[paper]) if paper in found else None for paper in papers]

    async def retractions(self, papers: Sequence[Identifiers], ask: Ask) -> Mapping[Identifiers, Retraction]:
        """Without notice and date: OpenAlex only says that Retraction Watch lists the work."""
        found = await self._found(papers, "id,doi,ids,is_retracted", ask)
        notice = Retraction(kind="retracted", source=SOURCE)
        return {paper: notice for paper, work in found.items() if work.is_retracted}

    async def pdf_urls(self, paper: Identifiers, ask: Ask) -> tuple[str, ...]:
        key = _key(paper)
        work = await self._one(key, "id,best_oa_location,locations", "open_access", ask) if key else None
        return pdf_urls_of(work) if work else ()

    async def _work_id(self, paper: Identifiers, ask: Ask) -> str:
        key = _key(paper)
        if key is None or key.kind == "openalex":
            return key.value if key else ""
        work = await self._one(key, "id", "citations", ask)
        return work_id(work.id) if work else ""

    async def _found(self, papers: Sequence[Identifiers], fields: str, ask: Ask) -> dict[Identifiers, Work]:
        named = {paper: key for paper in papers if (key := _key(paper))}
        works = await self._works(list(named.values()), fields, "papers", ask)
        return {paper: works[key] for paper, key in named.items() if key in works}

    async def _works(self, keys: Sequence[_Key], fields: str, operation: Operation, ask: Ask) -> dict[_Key, Work]:
        """Those that OpenAlex knows, in as few requests as it allows."""
        found = dict[_Key, Work]()
        for kind, group in groupby(sorted(set(keys)), key=lambda key: key.kind):
            listed, single = list[_Key](), list[_Key]()
            for key in group:
                (listed if kind != "doi" or listable(key.value) else single).append(key)
            for batch in batches([key.value for key in listed], _PAGE, _LONGEST_FILTER):
                if len(batch) == 1:
                    single.append(_Key(kind, batch[0]))
                    continue
                params = (*_filter([f"{kind}:{'|'.join(batch)}"]), ("select", fields), ("per_page", str(_PAGE)))
                page = await self._page(params, operation, ask)
                found |= {key: work for work in page.results for key in _keys(work)}
            for key in single:
                if work := await self._one(key, fields, operation, ask):
                    found[key] = work
        return found

    async def _one(self, key: _Key, fields: str, operation: Operation, ask: Ask) -> Work | None:
        call = Call(SOURCE, operation, key.path, (("select", fields),))
        return await ask_for(self.remote, call, ask, lambda reply: read_known(reply, Work, SOURCE))

    async def _list(
        self, params: tuple[tuple[str, str], ...], limit: int, operation: Operation, ask: Ask
    ) -> list[Work]:
        """The first works of a list, page by page. `select` and the sizes of pages are added."""
        works, wanted = list[Work](), min(limit, _DEEPEST)
        for number in range(1, -(-wanted // _PAGE) + 1):
            paging = (("select", FIELDS), ("per_page", str(min(wanted, _PAGE))), ("page", str(number)))
            page = await self._page((*params, *paging), operation, ask)
            works += page.results
            if not page.results or number * _PAGE >= (page.meta.count or 0):
                break
        return works[:wanted]

    async def _page(self, params: tuple[tuple[str, str], ...], operation: Operation, ask: Ask) -> Works:
        call = Call(SOURCE, operation, "works", params)
        return await ask_for(self.remote, call, ask, lambda reply: read(reply, Works, SOURCE))
