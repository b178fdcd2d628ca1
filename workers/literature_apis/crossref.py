"""Crossref (`https://api.crossref.org`): records by DOI, word search, and retraction notices.

Sending an email address (`mailto`) selects the polite pool: 3 list requests per second, and 10 requests per second for
single records by DOI, three at a time. Responses state these limits in X-Rate-Limit-Limit, X-Rate-Limit-Interval and
X-Concurrency-Limit. Records include Retraction Watch's notices (`updated-by`, with the issuer in `source`).

Crossref knows its own members' DOIs. DataCite DOIs are left to other sources: arXiv's to arXiv (the DOI contains the
id), the rest to OpenAlex (Zenodo, institutional repositories)."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field

from assayer.cutoff import papers_within
from assayer.literature.paper_identity import add_arxiv_id, find_doi
from assayer.literature.retractions import choose_most_serious_retraction
from assayer.models import Identifiers, Operation, Paper, Retraction, Window
from assayer.text.markup import strip_markup
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
    ValidEntries,
    check_link,
    clean_line,
    clean_prose,
    clean_title,
    compute_last_day,
    make_paper_id,
)
from workers.outbound.source_requests import (
    RequestContext,
    SourceFetcher,
    SourceRequest,
    fetch_json,
    fetch_parsed,
    parse_json,
)

_MAX_ROWS = 1000
_BATCH_DOIS = 50
"""Maximum number of DOIs per list request. More would make responses slower, and URLs longer than some proxies
accept."""
_MAX_FILTER_CHARS = 3000
_PAPER_TYPES = (
    "journal-article",
    "proceedings-article",
    "posted-content",
    "book-chapter",
    "monograph",
    "report",
    "dissertation",
)
"""Crossref types that are papers. Crossref also registers journals, figures, grants and reviews."""

SOURCE = "crossref"


class _Date(ApiObject):
    parts: ValidEntries[list[int | None]] = Field(default=(), alias="date-parts")

    @property
    def day(self) -> dt.date | None:
        """Return the last day of the period; None for a missing date, which Crossref writes as [[null]]."""
        year, month, day = (*(self.parts[0] if self.parts else ()), None, None, None)[:3]
        return compute_last_day(year, month, day) if year else None


class _Author(ApiObject):
    given: TextOrEmpty = ""
    family: TextOrEmpty = ""
    name: TextOrEmpty = ""
    """Name of a group."""

    @property
    def full_name(self) -> str:
        return clean_line(f"{self.given} {self.family}") or clean_line(self.name)


class _Update(ApiObject):
    doi: TextOrEmpty = Field(default="", alias="DOI")
    type: TextOrEmpty = ""
    updated: ObjectOrNone[_Date] = None

    @property
    def day(self) -> dt.date:
        """Return the date of the notice; the maximum date if it is undated."""
        return (self.updated and self.updated.day) or dt.date.max

    @property
    def kind(self) -> str:
        return self.type.strip().lower().replace("-", "_").replace(" ", "_")


class _Related(ApiObject):
    id: TextOrEmpty = ""


class _Relation(ApiObject):
    preprints: ValidEntries[_Related] = Field(default=(), alias="has-preprint")


class CrossrefWork(ApiObject):
    doi: str = Field(alias="DOI")
    url: TextOrEmpty = Field(default="", alias="URL")
    title: ValidEntries[str] = ()
    subtitle: ValidEntries[str] = ()
    abstract: TextOrEmpty = ""
    author: ValidEntries[_Author] = ()
    published: ObjectOrNone[_Date] = None
    issued: ObjectOrNone[_Date] = None
    container: ValidEntries[str] = Field(default=(), alias="container-title")
    cited_by: CountOrNone = Field(default=None, alias="is-referenced-by-count")
    relation: ObjectOrNone[_Relation] = None
    updated_by: ValidEntries[_Update] = Field(default=(), alias="updated-by")
    """Notices about this work, deposited by publishers or taken from Retraction Watch."""
    update_to: ValidEntries[_Update] = Field(default=(), alias="update-to")
    """Works to which this notice refers, or the work itself if the notice has replaced it."""


@dataclass(frozen=True)
class Crossref:
    """Client for Crossref. Implements SearchesPapers, ResolvesIdentifiers and ReportsRetractions."""

    remote: SourceFetcher
    name: ClassVar[str] = SOURCE

    async def search(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Paper]:
        """Search title, authors, venue and year, as in a citation. Few records have abstracts."""
        words = strip_to_words(query)
        if not words or limit <= 0:
            return []
        conditions = [f"type:{item}" for item in _PAPER_TYPES]
        conditions += [f"from-pub-date:{window.after}"] * (window.after is not None)
        conditions += [f"until-pub-date:{window.before}"] * (window.before is not None)
        params = (
            ("query.bibliographic", words),
            ("filter", ",".join(conditions)),
            ("rows", str(min(limit, _MAX_ROWS))),
            ("select", FIELDS),
        )
        works = await self._list_works("search", params, context)
        return papers_within(filter(None, map(parse_paper, works)), window)

    async def resolve(self, papers: Sequence[Identifiers], context: RequestContext) -> list[Paper | None]:
        works_by_doi = await self._fetch_works((paper.doi for paper in papers), "papers", context)
        return [parse_paper(works_by_doi[paper.doi]) if paper.doi in works_by_doi else None for paper in papers]

    async def retractions(
        self, papers: Sequence[Identifiers], context: RequestContext
    ) -> Mapping[Identifiers, Retraction]:
        works_by_doi = await self._fetch_works((paper.doi for paper in papers), "retractions", context)
        notices = {paper: parse_retraction(works_by_doi[paper.doi]) for paper in papers if paper.doi in works_by_doi}
        return {paper: notice for paper, notice in notices.items() if notice}

    async def _fetch_works(
        self, dois: Iterable[str], operation: Operation, context: RequestContext
    ) -> dict[str, CrossrefWork]:
        """Return the works that Crossref knows, by DOI, with as few requests as it allows. Records include the
        retraction notices."""
        requested_dois = sorted({item for item in dois if item and not item.startswith(ARXIV_PREFIX)})
        works_by_doi, single_dois = (
            dict[str, CrossrefWork](),
            [item for item in requested_dois if not is_allowed_in_filter(item)],
        )
        for batch in split_into_url_batches(
            [item for item in requested_dois if is_allowed_in_filter(item)], _BATCH_DOIS, _MAX_FILTER_CHARS
        ):
            if len(batch) == 1:
                single_dois += batch
                continue
            conditions = ",".join(f"doi:{item}" for item in batch)
            params = (("filter", conditions), ("rows", str(len(batch))), ("select", FIELDS))
            works_by_doi |= {parse_doi(work): work for work in await self._list_works(operation, params, context)}
        for item in single_dois:
            request = SourceRequest(SOURCE, operation, f"works/{encode_path_segment(item)}")
            answer = await fetch_json(self.remote, request, context, CrossrefWorkResponse)
            if answer is not None:
                works_by_doi[item] = answer.message
        return works_by_doi

    async def _list_works(
        self, operation: Operation, params: tuple[tuple[str, str], ...], context: RequestContext
    ) -> tuple[CrossrefWork, ...]:
        request = SourceRequest(SOURCE, operation, "works", params)
        answer = await fetch_parsed(
            self.remote, request, context, lambda response: parse_json(response, CrossrefListResponse, SOURCE)
        )
        return answer.message.items


FIELDS = (
    "DOI,URL,abstract,author,container-title,is-referenced-by-count,issued,published,relation,subtitle,title,"
    "update-to,updated-by"
)
"""Fields for `select` in lists. A single record requested by its DOI always has all fields."""

_Kind = Literal["retracted", "withdrawn", "concern"]
_KINDS_BY_TYPE: dict[str, _Kind] = {
    "retraction": "retracted",
    "removal": "withdrawn",
    "withdrawal": "withdrawn",
    "expression_of_concern": "concern",
    "partial_retraction": "concern",
}
"""Update types that put a work's results in doubt. Corrections, errata and new versions do not."""


class _Page(ApiObject):
    items: ValidEntries[CrossrefWork] = Field()


class CrossrefListResponse(ApiObject):
    message: _Page


class CrossrefWorkResponse(ApiObject):
    message: CrossrefWork


def parse_doi(work: CrossrefWork) -> str:
    return find_doi(work.doi) if work.doi.isprintable() else ""


def _parse_identifiers(work: CrossrefWork) -> Identifiers:
    related = (find_doi(item.id) for item in (work.relation.preprints if work.relation else ()))
    preprint = next((name for name in related if name.startswith(ARXIV_PREFIX)), "")
    return add_arxiv_id(Identifiers(doi=parse_doi(work), arxiv=preprint.removeprefix(ARXIV_PREFIX)))


def parse_retraction(work: CrossrefWork) -> Retraction | None:
    """Return the gravest notice about the work; among equally grave ones, the more informative, then the earlier. None
    if there is none. Notices that were reversed by a later reinstatement are ignored."""
    own_doi = parse_doi(work)
    notices = [*work.updated_by, *(update for update in work.update_to if find_doi(update.doi) == own_doi)]
    last_reinstatement = max((notice.day for notice in notices if notice.kind == "reinstatement"), default=dt.date.min)
    valid_notices = [
        Retraction(
            kind=_KINDS_BY_TYPE[notice.kind],
            source=SOURCE,
            notice=find_doi(notice.doi) if notice.doi.isprintable() else "",
            date=notice.updated.day if notice.updated else None,
        )
        for notice in sorted(notices, key=lambda item: item.day)
        if notice.kind in _KINDS_BY_TYPE and notice.day > last_reinstatement
    ]
    return choose_most_serious_retraction(valid_notices) if valid_notices else None


def _build_title(work: CrossrefWork) -> str:
    title, subtitle = (clean_title(texts[0]) if texts else "" for texts in (work.title, work.subtitle))
    if not subtitle or title.casefold().endswith(subtitle.casefold()):
        return title
    return f"{title}: {subtitle}" if title else ""


def parse_paper(work: CrossrefWork) -> Paper | None:
    """Convert a record to a paper, or return None if it has no title or usable DOI."""
    identifiers, title = _parse_identifiers(work), _build_title(work)
    if not title or not identifiers.doi:
        return None
    date = (work.published and work.published.day) or (work.issued and work.issued.day)
    return Paper(
        id=make_paper_id("doi", identifiers.doi),
        title=title,
        abstract=clean_prose(strip_markup(work.abstract)),
        authors=tuple(author.full_name for author in work.author if author.full_name),
        publication_date=date or None,
        venue=clean_title(work.container[0]) if work.container else "",
        url=check_link(work.url),
        citation_count=work.cited_by,
        source=SOURCE,
        identifiers=identifiers,
        retraction=parse_retraction(work),
    )
