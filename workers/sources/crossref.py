"""Crossref (`https://api.crossref.org`): records by DOI, by words, and the notices of retraction about them.

An e-mail address (`mailto`) leads to the polite pool: lists 3 requests a second, one record by its DOI 10, three at a
time; answers say so in X-Rate-Limit-Limit, X-Rate-Limit-Interval and X-Concurrency-Limit. Retraction Watch's notices
come with the records (`updated-by`, its `source` says whose word it is).

Crossref knows the DOIs of its own members. Those of DataCite are left to others: arXiv's are arXiv's (the DOI holds
the id), OpenAlex lists the rest (Zenodo, institutional repositories).
"""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field

from assayer.cutoff import papers_within
from assayer.literature.paper_identity import doi, with_arxiv
from assayer.literature.retractions import gravest_retraction
from assayer.models import Identifiers, Operation, Paper, Retraction, Window
from workers.remote.request import RequestContext, SourceFetcher, SourceRequest
from workers.sources.query_encoding import ARXIV_PREFIX, allowed_in_filter, path_segment, plain_query, url_batches
from workers.sources.record_fields import (
    clean_prose,
    last_day_of_period,
    make_paper_id,
    one_line,
    strip_markup,
    web_link,
)
from workers.sources.responses import (
    ApiObject,
    CountOrNone,
    ObjectOrNone,
    TextOrEmpty,
    ValidEntries,
    fetch_parsed,
    parse_json,
    parse_json_unless_unknown,
)

__all__ = [
    "FIELDS",
    "SOURCE",
    "Crossref",
    "CrossrefListResponse",
    "CrossrefWork",
    "CrossrefWorkResponse",
    "doi_of",
    "paper_of",
    "retraction_of",
]


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

SOURCE = "crossref"


class _Date(ApiObject):
    parts: ValidEntries[list[int | None]] = Field(default=(), alias="date-parts")

    @property
    def day(self) -> dt.date | None:
        """The last one of the period; Crossref writes [[null]] for no date."""
        year, month, day = (*(self.parts[0] if self.parts else ()), None, None, None)[:3]
        return last_day_of_period(year, month, day) if year else None


class _Author(ApiObject):
    given: TextOrEmpty = ""
    family: TextOrEmpty = ""
    name: TextOrEmpty = ""
    """Of a group."""

    @property
    def full_name(self) -> str:
        return one_line(f"{self.given} {self.family}") or one_line(self.name)


class _Update(ApiObject):
    doi: TextOrEmpty = Field(default="", alias="DOI")
    type: TextOrEmpty = ""
    updated: ObjectOrNone[_Date] = None

    @property
    def day(self) -> dt.date:
        """The last of all days where none is given."""
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
    """Notices about this work, deposited by publishers or taken over from Retraction Watch."""
    update_to: ValidEntries[_Update] = Field(default=(), alias="update-to")
    """Works that this one is a notice about; itself where the notice was put in the work's place."""


@dataclass(frozen=True)
class Crossref:
    """Implements SearchesPapers, ResolvesIdentifiers and ReportsRetractions."""

    remote: SourceFetcher
    name: ClassVar[str] = SOURCE

    async def search(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Paper]:
        """By title, authors, venue and year as a citation has them; few records have abstracts."""
        words = plain_query(query)
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
        works = await self._list_works("search", params, context)
        return papers_within(filter(None, map(paper_of, works)), window)

    async def resolve(self, papers: Sequence[Identifiers], context: RequestContext) -> list[Paper | None]:
        found = await self._works((paper.doi for paper in papers), "papers", context)
        return [paper_of(found[paper.doi]) if paper.doi in found else None for paper in papers]

    async def retractions(
        self, papers: Sequence[Identifiers], context: RequestContext
    ) -> Mapping[Identifiers, Retraction]:
        found = await self._works((paper.doi for paper in papers), "retractions", context)
        notices = {paper: retraction_of(found[paper.doi]) for paper in papers if paper.doi in found}
        return {paper: notice for paper, notice in notices.items() if notice}

    async def _works(
        self, dois: Iterable[str], operation: Operation, context: RequestContext
    ) -> dict[str, CrossrefWork]:
        """Those that Crossref knows, in as few requests as it allows. The same requests for records and notices."""
        asked = sorted({one for one in dois if one and not one.startswith(ARXIV_PREFIX)})
        found, single = dict[str, CrossrefWork](), [one for one in asked if not allowed_in_filter(one)]
        for batch in url_batches([one for one in asked if allowed_in_filter(one)], _BATCH, _LONGEST_FILTER):
            if len(batch) == 1:
                single += batch
                continue
            conditions = ",".join(f"doi:{one}" for one in batch)
            params = (("filter", conditions), ("rows", str(len(batch))), ("select", FIELDS))
            found |= {doi_of(work): work for work in await self._list_works(operation, params, context)}
        for one in single:
            request = SourceRequest(SOURCE, operation, f"works/{path_segment(one)}")
            answer = await fetch_parsed(
                self.remote,
                request,
                context,
                lambda response: parse_json_unless_unknown(response, CrossrefWorkResponse, SOURCE),
            )
            if answer is not None:
                found[one] = answer.message
        return found

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
"""Of `select` on lists; one record by its DOI always comes whole."""

_Kind = Literal["retracted", "withdrawn", "concern"]
_KINDS: dict[str, _Kind] = {
    "retraction": "retracted",
    "removal": "withdrawn",
    "withdrawal": "withdrawn",
    "expression_of_concern": "concern",
    "partial_retraction": "concern",
}
"""Update types that say a work no longer stands; corrections, errata and new versions do not."""


class _Page(ApiObject):
    items: ValidEntries[CrossrefWork] = Field()


class CrossrefListResponse(ApiObject):
    message: _Page


class CrossrefWorkResponse(ApiObject):
    message: CrossrefWork


def doi_of(work: CrossrefWork) -> str:
    return doi(work.doi) if work.doi.isprintable() else ""


def _identifiers(work: CrossrefWork) -> Identifiers:
    related = (doi(one.id) for one in (work.relation.preprints if work.relation else ()))
    preprint = next((name for name in related if name.startswith(ARXIV_PREFIX)), "")
    return with_arxiv(Identifiers(doi=doi_of(work), arxiv=preprint.removeprefix(ARXIV_PREFIX)))


def retraction_of(work: CrossrefWork) -> Retraction | None:
    """The gravest notice, of these the one that says more, then the earliest; none that a later reinstatement took
    back."""
    own = doi_of(work)
    notices = [*work.updated_by, *(update for update in work.update_to if doi(update.doi) == own)]
    reinstated = max((notice.day for notice in notices if notice.kind == "reinstatement"), default=dt.date.min)
    standing = [
        Retraction(
            kind=_KINDS[notice.kind],
            source=SOURCE,
            notice=doi(notice.doi) if notice.doi.isprintable() else "",
            date=notice.updated.day if notice.updated else None,
        )
        for notice in sorted(notices, key=lambda one: one.day)
        if notice.kind in _KINDS and notice.day > reinstated
    ]
    return gravest_retraction(standing) if standing else None


def _title(work: CrossrefWork) -> str:
    title, subtitle = (one_line(strip_markup(texts[0])) if texts else "" for texts in (work.title, work.subtitle))
    if not subtitle or title.casefold().endswith(subtitle.casefold()):
        return title
    return f"{title}: {subtitle}" if title else ""


def paper_of(work: CrossrefWork) -> Paper | None:
    """None for a record without title or usable DOI."""
    identifiers, title = _identifiers(work), _title(work)
    if not title or not identifiers.doi:
        return None
    date = (work.published and work.published.day) or (work.issued and work.issued.day)
    return Paper(
        id=make_paper_id("doi", identifiers.doi),
        title=title,
        abstract=clean_prose(strip_markup(work.abstract)),
        authors=tuple(author.full_name for author in work.author if author.full_name),
        publication_date=date or None,
        venue=one_line(strip_markup(work.container[0])) if work.container else "",
        url=web_link(work.url),
        citation_count=work.cited_by,
        source=SOURCE,
        identifiers=identifiers,
        retraction=retraction_of(work),
    )
