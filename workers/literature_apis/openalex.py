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
    encode_path_segment,
    is_allowed_in_filter,
    split_into_url_batches,
    strip_to_words,
)
from workers.literature_apis.record_fields import (
    ApiObject,
    CountOrNone,
    ObjectOrNone,
    TextOrEmpty,
    TrueOrFalse,
    ValidEntries,
    check_link,
    clean_line,
    clean_prose,
    clean_title,
    compute_last_day,
    list_distinct_links,
    make_paper_id,
    parse_date,
)
from workers.outbound.source_requests import (
    RequestContext,
    SourceFetcher,
    SourceRequest,
    fetch_json,
    fetch_parsed,
    parse_json,
)

_PAGE_WORKS = 100
_MAX_OFFSET = 10_000
_MAX_FILTER_CHARS = 3000
_MIN_FULL_MATCHES = 3
"""Minimum number of works that contain every word. If there are fewer, a second search for any of the words follows."""


class _WorkKey(NamedTuple):
    """A work's identifier, in the form used in filters and paths."""

    kind: Literal["openalex", "doi", "pmid"]
    value: str

    @property
    def path(self) -> str:
        return (
            f"works/{self.value}" if self.kind == "openalex" else f"works/{self.kind}:{encode_path_segment(self.value)}"
        )


def _build_work_key(paper: Identifiers) -> _WorkKey | None:
    if work := parse_work_id(paper.openalex):
        return _WorkKey("openalex", work)
    if paper.doi or paper.arxiv:
        return _WorkKey("doi", (paper.doi or f"{ARXIV_PREFIX}{paper.arxiv}").lower())
    return _WorkKey("pmid", paper.pubmed) if paper.pubmed.isdecimal() else None


class _NamedEntity(ApiObject):
    display_name: TextOrEmpty = ""


class _Authorship(ApiObject):
    author: ObjectOrNone[_NamedEntity] = None
    raw_author_name: TextOrEmpty = ""


class _Location(ApiObject):
    is_oa: TrueOrFalse = False
    landing_page_url: TextOrEmpty = ""
    pdf_url: TextOrEmpty = ""
    source: ObjectOrNone[_NamedEntity] = None


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


def _list_work_keys(work: OpenAlexWork) -> Iterable[_WorkKey]:
    identifiers = parse_identifiers(work)
    yield from (
        _WorkKey("openalex", identifiers.openalex),
        _WorkKey("doi", identifiers.doi),
        _WorkKey("pmid", identifiers.pubmed),
    )


def _parse_papers(works: Iterable[OpenAlexWork]) -> list[Paper]:
    """Return the papers without duplicates. Duplicates occur because lists may shift while pages are being read."""
    return list({paper.id: paper for work in works if (paper := parse_paper(work))}.values())


def _build_date_conditions(window: Window) -> list[str]:
    """Return the filter conditions for the window."""
    from_filter = [f"from_publication_date:{window.after}"] * (window.after is not None)
    return from_filter + [f"to_publication_date:{window.before}"] * (window.before is not None)


def _build_filter(conditions: Sequence[str]) -> tuple[tuple[str, str], ...]:
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
        date_conditions = _build_date_conditions(window)
        works = await self._list_works(
            (("search", " ".join(words)), *_build_filter(date_conditions)), limit, "search", context
        )
        if len(works) < min(limit, _MIN_FULL_MATCHES) and len(words) > 1:
            works += await self._list_works(
                (("search", " OR ".join(words)), *_build_filter(date_conditions)), limit, "search", context
            )
        return papers_within(_parse_papers(works), window)[:limit]

    async def references(self, paper: Identifiers, limit: int, context: RequestContext) -> list[Paper]:
        """Return the references in OpenAlex's order. It differs from the order in the paper."""
        key = _build_work_key(paper)
        work = await self._fetch_work(key, "id,referenced_works", "references", context) if key else None
        cited_keys = (
            [_WorkKey("openalex", name) for text in work.referenced_works if (name := parse_work_id(text))]
            if work
            else []
        )
        works_by_key = await self._fetch_works(cited_keys[:limit], FIELDS, "references", context)
        return [record for item in cited_keys if item in works_by_key and (record := parse_paper(works_by_key[item]))]

    async def citing(self, paper: Identifiers, limit: int, window: Window, context: RequestContext) -> list[Paper]:
        """Return the citing papers, newest first."""
        key = _build_work_key(paper)
        if key and key.kind != "openalex":
            work = await self._fetch_work(key, "id", "citations", context)
            name = parse_work_id(work.id) if work else ""
        else:
            name = key.value if key else ""
        if not name:
            return []
        params = (*_build_filter([f"cites:{name}", *_build_date_conditions(window)]), ("sort", "publication_date:desc"))
        works = await self._list_works(params, limit, "citations", context)
        return papers_within(_parse_papers(works), window)[:limit]

    async def resolve(self, papers: Sequence[Identifiers], context: RequestContext) -> list[Paper | None]:
        works_by_paper = await self._fetch_works_by_paper(papers, FIELDS, "papers", context)
        return [parse_paper(works_by_paper[paper]) if paper in works_by_paper else None for paper in papers]

    async def retractions(
        self, papers: Sequence[Identifiers], context: RequestContext
    ) -> Mapping[Identifiers, Retraction]:
        """Return retractions without notice or date, because OpenAlex says only that Retraction Watch lists the
        work."""
        works_by_paper = await self._fetch_works_by_paper(papers, "id,doi,ids,is_retracted", "retractions", context)
        notice = Retraction(kind="retracted", source=SOURCE)
        return {paper: notice for paper, work in works_by_paper.items() if work.is_retracted}

    async def pdf_urls(self, paper: Identifiers, context: RequestContext) -> tuple[str, ...]:
        key = _build_work_key(paper)
        work = await self._fetch_work(key, "id,best_oa_location,locations", "open_access", context) if key else None
        return list_pdf_urls(work) if work else ()

    async def _fetch_works_by_paper(
        self, papers: Sequence[Identifiers], fields: str, operation: Operation, context: RequestContext
    ) -> dict[Identifiers, OpenAlexWork]:
        keys_by_paper = {paper: key for paper in papers if (key := _build_work_key(paper))}
        works_by_key = await self._fetch_works(list(keys_by_paper.values()), fields, operation, context)
        return {paper: works_by_key[key] for paper, key in keys_by_paper.items() if key in works_by_key}

    async def _fetch_works(
        self, keys: Sequence[_WorkKey], fields: str, operation: Operation, context: RequestContext
    ) -> dict[_WorkKey, OpenAlexWork]:
        """Return the works that OpenAlex knows, with as few requests as it allows."""
        works_by_key = dict[_WorkKey, OpenAlexWork]()
        for kind, group in groupby(sorted(set(keys)), key=lambda key: key.kind):
            listed_keys, single_keys = list[_WorkKey](), list[_WorkKey]()
            for key in group:
                (listed_keys if kind != "doi" or is_allowed_in_filter(key.value) else single_keys).append(key)
            for batch in split_into_url_batches([key.value for key in listed_keys], _PAGE_WORKS, _MAX_FILTER_CHARS):
                if len(batch) == 1:
                    single_keys.append(_WorkKey(kind, batch[0]))
                    continue
                params = (
                    *_build_filter([f"{kind}:{'|'.join(batch)}"]),
                    ("select", fields),
                    ("per_page", str(_PAGE_WORKS)),
                )
                page = await self._fetch_page(params, operation, context)
                works_by_key |= {key: work for work in page.results for key in _list_work_keys(work)}
            for key in single_keys:
                if work := await self._fetch_work(key, fields, operation, context):
                    works_by_key[key] = work
        return works_by_key

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
        for number in range(1, -(-max_works // _PAGE_WORKS) + 1):
            page_params = (("select", FIELDS), ("per_page", str(min(max_works, _PAGE_WORKS))), ("page", str(number)))
            page = await self._fetch_page((*params, *page_params), operation, context)
            works += page.results
            if not page.results or number * _PAGE_WORKS >= (page.meta.count or 0):
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


def _parse_day(text: str) -> dt.date | None:
    """Parse a date. OpenAlex writes 1 for an unknown month or day, so the last day of the possible period is
    returned."""
    day = parse_date(text)
    if day is None or day.day > 1:
        return day
    return compute_last_day(day.year, None if day.month == 1 else day.month)


def _list_locations(work: OpenAlexWork) -> list[_Location]:
    return [location for location in (work.primary_location, work.best_oa_location, *work.locations) if location]


def parse_identifiers(work: OpenAlexWork) -> Identifiers:
    ids = work.ids or _Ids()
    addresses = list_distinct_links(
        *(url for location in _list_locations(work) for url in (location.landing_page_url, location.pdf_url))
    )
    return collect_work_identifiers(parse_work_id(work.id), work.doi, ids.pmid, ids.pmcid, addresses)


def list_pdf_urls(work: OpenAlexWork) -> tuple[str, ...]:
    free_locations = (work.best_oa_location, *(location for location in work.locations if location.is_oa))
    return list_distinct_links(*(location.pdf_url for location in free_locations if location))


def parse_paper(work: OpenAlexWork) -> Paper | None:
    """Convert a work to a paper; None if it lacks a title or usable id and so could not be cited."""
    identifiers, title, location = parse_identifiers(work), clean_title(work.display_name), work.primary_location
    if not title or not identifiers.openalex:
        return None
    names = (
        clean_line((authorship.author and authorship.author.display_name) or authorship.raw_author_name)
        for authorship in work.authorships
    )
    return Paper(
        id=make_paper_id(SOURCE, identifiers.openalex),
        title=title,
        abstract=clean_prose(rebuild_abstract(work.abstract_inverted_index)),
        authors=tuple(name for name in names if name),
        publication_date=_parse_day(work.publication_date),
        venue=clean_line(location.source.display_name) if location and location.source else "",
        url=check_link(location.landing_page_url if location else "") or check_link(work.doi) or check_link(work.id),
        citation_count=work.cited_by_count,
        source=SOURCE,
        identifiers=identifiers,
        retraction=Retraction(kind="retracted", source=SOURCE) if work.is_retracted else None,
        pdf_urls=list_pdf_urls(work),
    )
