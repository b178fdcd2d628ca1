"""OpenAlex (`https://api.openalex.org`): find works by words, by identifiers, or by the works that they cite.

OpenAlex limits credits per day and key. Looking up one work is free, a list costs 1 credit, and a search costs 10; the
daily limit is 10,000 credits with a free key and 1,000 without. At most 100 requests per second are allowed. A single
work is therefore looked up, and several are listed (at most 100 values per filter, 100 works per page, about 4 KB per
URL)."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar, Literal, NamedTuple

from pydantic import Field

from assayer.cutoff import papers_within
from assayer.literature.openalex_fields import collect_work_identifiers, parse_work_id, rebuild_abstract
from assayer.models import Identifiers, Operation, Paper, Retraction, Window
from workers.literature_apis.query_encoding import (
    ARXIV_PREFIX,
    is_allowed_in_filter,
    path_segment,
    strip_to_words,
    url_batches,
)
from workers.literature_apis.record_fields import (
    ApiObject,
    CountOrNone,
    ObjectOrNone,
    TextOrEmpty,
    TrueOrFalse,
    ValidEntries,
    clean_prose,
    compute_last_day,
    distinct_links,
    make_paper_id,
    one_line,
    parse_date,
    title_line,
    web_link,
)
from workers.outbound.source_requests import (
    RequestContext,
    SourceFetcher,
    SourceRequest,
    fetch_json,
    fetch_parsed,
    parse_json,
)

_PAGE = 100
_MAX_OFFSET = 10_000
_MAX_FILTER_CHARS = 3000
_FEW = 3
"""Minimum number of works that contain every word. If there are fewer, a second search for any of the words follows."""


class _WorkKey(NamedTuple):
    """A work's identifier, in the form used in filters and paths."""

    kind: Literal["openalex", "doi", "pmid"]
    value: str

    @property
    def path(self) -> str:
        return f"works/{self.value}" if self.kind == "openalex" else f"works/{self.kind}:{path_segment(self.value)}"


def _work_key(paper: Identifiers) -> _WorkKey | None:
    if work := parse_work_id(paper.openalex):
        return _WorkKey("openalex", work)
    if paper.doi or paper.arxiv:
        return _WorkKey("doi", (paper.doi or f"{ARXIV_PREFIX}{paper.arxiv}").lower())
    return _WorkKey("pmid", paper.pubmed) if paper.pubmed.isdecimal() else None


class _Named(ApiObject):
    display_name: TextOrEmpty = ""


class _Authorship(ApiObject):
    author: ObjectOrNone[_Named] = None
    raw_author_name: TextOrEmpty = ""


class _Location(ApiObject):
    is_oa: TrueOrFalse = False
    landing_page_url: TextOrEmpty = ""
    pdf_url: TextOrEmpty = ""
    source: ObjectOrNone[_Named] = None


class _Ids(ApiObject):
    pmid: TextOrEmpty = ""
    pmcid: TextOrEmpty = ""


class OpenAlexWork(ApiObject):
    id: str
    doi: TextOrEmpty = ""
    ids: ObjectOrNone[_Ids] = None
    display_name: TextOrEmpty = ""
    publication_date: TextOrEmpty = ""
    authorships: ValidEntries[_Authorship] = ()
    primary_location: ObjectOrNone[_Location] = None
    best_oa_location: ObjectOrNone[_Location] = None
    locations: ValidEntries[_Location] = ()
    abstract_inverted_index: ObjectOrNone[dict[str, list[int]]] = None
    cited_by_count: CountOrNone = None
    is_retracted: TrueOrFalse = False
    referenced_works: ValidEntries[str] = ()


def _work_keys(work: OpenAlexWork) -> Iterable[_WorkKey]:
    known = identifiers_of(work)
    yield from (_WorkKey("openalex", known.openalex), _WorkKey("doi", known.doi), _WorkKey("pmid", known.pubmed))


def _papers(works: Iterable[OpenAlexWork]) -> list[Paper]:
    """Return the papers without duplicates. Duplicates occur because lists may shift while pages are being read."""
    return list({paper.id: paper for work in works if (paper := paper_of(work))}.values())


def _days(window: Window) -> list[str]:
    """Return the filter conditions for the window."""
    from_filter = [f"from_publication_date:{window.after}"] * (window.after is not None)
    return from_filter + [f"to_publication_date:{window.before}"] * (window.before is not None)


def _filter(conditions: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return (("filter", ",".join(conditions)),) if conditions else ()


SOURCE = "openalex"


class _Meta(ApiObject):
    count: CountOrNone = None


class OpenAlexWorkList(ApiObject):
    """One page of a list."""

    meta: _Meta = _Meta()
    results: ValidEntries[OpenAlexWork] = Field()


@dataclass(frozen=True)
class OpenAlex:
    """Client for OpenAlex. Implements SearchesPapers, ListsReferences, ListsCitingPapers, ResolvesIdentifiers,
    ReportsRetractions and LocatesPdfs."""

    remote: SourceFetcher
    name: ClassVar[str] = SOURCE

    async def search(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Paper]:
        """Search title, abstract and, if OpenAlex has it, full text. Works that contain every word come first; if there
        are few, works with any of the words follow."""
        words = strip_to_words(query).split()
        if not words:
            return []
        days = _days(window)
        works = await self._list_works((("search", " ".join(words)), *_filter(days)), limit, "search", context)
        if len(works) < min(limit, _FEW) and len(words) > 1:
            works += await self._list_works((("search", " OR ".join(words)), *_filter(days)), limit, "search", context)
        return papers_within(_papers(works), window)[:limit]

    async def references(self, paper: Identifiers, limit: int, context: RequestContext) -> list[Paper]:
        """Return the references in OpenAlex's order. It differs from the order in the paper."""
        key = _work_key(paper)
        work = await self._fetch_work(key, "id,referenced_works", "references", context) if key else None
        cited = (
            [_WorkKey("openalex", name) for text in work.referenced_works if (name := parse_work_id(text))]
            if work
            else []
        )
        found = await self._works(cited[:limit], FIELDS, "references", context)
        return [record for item in cited if item in found and (record := paper_of(found[item]))]

    async def citing(self, paper: Identifiers, limit: int, window: Window, context: RequestContext) -> list[Paper]:
        """Return the citing papers, newest first."""
        key = _work_key(paper)
        if key and key.kind != "openalex":
            work = await self._fetch_work(key, "id", "citations", context)
            name = parse_work_id(work.id) if work else ""
        else:
            name = key.value if key else ""
        if not name:
            return []
        params = (*_filter([f"cites:{name}", *_days(window)]), ("sort", "publication_date:desc"))
        works = await self._list_works(params, limit, "citations", context)
        return papers_within(_papers(works), window)[:limit]

    async def resolve(self, papers: Sequence[Identifiers], context: RequestContext) -> list[Paper | None]:
        found = await self._works_by_paper(papers, FIELDS, "papers", context)
        return [paper_of(found[paper]) if paper in found else None for paper in papers]

    async def retractions(
        self, papers: Sequence[Identifiers], context: RequestContext
    ) -> Mapping[Identifiers, Retraction]:
        """Return retractions without notice or date, because OpenAlex says only that Retraction Watch lists the
        work."""
        found = await self._works_by_paper(papers, "id,doi,ids,is_retracted", "retractions", context)
        notice = Retraction(kind="retracted", source=SOURCE)
        return {paper: notice for paper, work in found.items() if work.is_retracted}

    async def pdf_urls(self, paper: Identifiers, context: RequestContext) -> tuple[str, ...]:
        key = _work_key(paper)
        work = await self._fetch_work(key, "id,best_oa_location,locations", "open_access", context) if key else None
        return pdf_urls_of(work) if work else ()

    async def _works_by_paper(
        self, papers: Sequence[Identifiers], fields: str, operation: Operation, context: RequestContext
    ) -> dict[Identifiers, OpenAlexWork]:
        keys_by_paper = {paper: key for paper in papers if (key := _work_key(paper))}
        works = await self._works(list(keys_by_paper.values()), fields, operation, context)
        return {paper: works[key] for paper, key in keys_by_paper.items() if key in works}

    async def _works(
        self, keys: Sequence[_WorkKey], fields: str, operation: Operation, context: RequestContext
    ) -> dict[_WorkKey, OpenAlexWork]:
        """Return the works that OpenAlex knows, with as few requests as it allows."""
        found = dict[_WorkKey, OpenAlexWork]()
        for kind, group in groupby(sorted(set(keys)), key=lambda key: key.kind):
            listed, single = list[_WorkKey](), list[_WorkKey]()
            for key in group:
                (listed if kind != "doi" or is_allowed_in_filter(key.value) else single).append(key)
            for batch in url_batches([key.value for key in listed], _PAGE, _MAX_FILTER_CHARS):
                if len(batch) == 1:
                    single.append(_WorkKey(kind, batch[0]))
                    continue
                params = (*_filter([f"{kind}:{'|'.join(batch)}"]), ("select", fields), ("per_page", str(_PAGE)))
                page = await self._fetch_page(params, operation, context)
                found |= {key: work for work in page.results for key in _work_keys(work)}
            for key in single:
                if work := await self._fetch_work(key, fields, operation, context):
                    found[key] = work
        return found

    async def _fetch_work(
        self, key: _WorkKey, fields: str, operation: Operation, context: RequestContext
    ) -> OpenAlexWork | None:
        request = SourceRequest(SOURCE, operation, key.path, (("select", fields),))
        return await fetch_json(self.remote, request, context, OpenAlexWork)

    async def _list_works(
        self, params: tuple[tuple[str, str], ...], limit: int, operation: Operation, context: RequestContext
    ) -> list[OpenAlexWork]:
        """Return the first works in a list, read page by page. Adds the parameters for fields and paging."""
        works, max_works = list[OpenAlexWork](), min(limit, _MAX_OFFSET)
        for number in range(1, -(-max_works // _PAGE) + 1):
            page_params = (("select", FIELDS), ("per_page", str(min(max_works, _PAGE))), ("page", str(number)))
            page = await self._fetch_page((*params, *page_params), operation, context)
            works += page.results
            if not page.results or number * _PAGE >= (page.meta.count or 0):
                break
        return works[:max_works]

    async def _fetch_page(
        self, params: tuple[tuple[str, str], ...], operation: Operation, context: RequestContext
    ) -> OpenAlexWorkList:
        request = SourceRequest(SOURCE, operation, "works", params)
        return await fetch_parsed(
            self.remote, request, context, lambda response: parse_json(response, OpenAlexWorkList, SOURCE)
        )


FIELDS = (
    "id,doi,ids,display_name,publication_date,authorships,primary_location,best_oa_location,locations,"
    "abstract_inverted_index,cited_by_count,is_retracted"
)
"""Fields for `select`, which accepts only root fields."""


def _day(text: str) -> dt.date | None:
    """Parse a date. OpenAlex writes 1 for an unknown month or day, so the last day of the possible period is
    returned."""
    day = parse_date(text)
    if day is None or day.day > 1:
        return day
    return compute_last_day(day.year, None if day.month == 1 else day.month)


def _locations(work: OpenAlexWork) -> list[_Location]:
    return [location for location in (work.primary_location, work.best_oa_location, *work.locations) if location]


def identifiers_of(work: OpenAlexWork) -> Identifiers:
    ids = work.ids or _Ids()
    addresses = distinct_links(
        *(url for location in _locations(work) for url in (location.landing_page_url, location.pdf_url))
    )
    return collect_work_identifiers(parse_work_id(work.id), work.doi, ids.pmid, ids.pmcid, addresses)


def pdf_urls_of(work: OpenAlexWork) -> tuple[str, ...]:
    free = (work.best_oa_location, *(location for location in work.locations if location.is_oa))
    return distinct_links(*(location.pdf_url for location in free if location))


def paper_of(work: OpenAlexWork) -> Paper | None:
    """Convert a work to a paper; None if it lacks a title or usable id and so could not be cited."""
    identifiers, title, home = identifiers_of(work), title_line(work.display_name), work.primary_location
    if not title or not identifiers.openalex:
        return None
    names = (
        one_line((authorship.author and authorship.author.display_name) or authorship.raw_author_name)
        for authorship in work.authorships
    )
    return Paper(
        id=make_paper_id(SOURCE, identifiers.openalex),
        title=title,
        abstract=clean_prose(rebuild_abstract(work.abstract_inverted_index)),
        authors=tuple(name for name in names if name),
        publication_date=_day(work.publication_date),
        venue=one_line(home.source.display_name) if home and home.source else "",
        url=web_link(home.landing_page_url if home else "") or web_link(work.doi) or web_link(work.id),
        citation_count=work.cited_by_count,
        source=SOURCE,
        identifiers=identifiers,
        retraction=Retraction(kind="retracted", source=SOURCE) if work.is_retracted else None,
        pdf_urls=pdf_urls_of(work),
    )
