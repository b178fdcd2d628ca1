"""`/v1/corpus/search`: search in the papers that ideas are compared with."""

import datetime as dt
from typing import Annotated, Any, Self

from fastapi import APIRouter, Depends, Query
from pydantic import Field, StringConstraints, model_validator

from assayer.models import Filters, Hit, Paper, PaperId, Passage, Window
from orchestrator.api.authentication import Reader
from orchestrator.api.common_schemas import Body, Resource
from orchestrator.api.content_negotiation import json_only
from orchestrator.api.corpus_requests import answered_by_corpus
from orchestrator.api.openapi import problem_responses
from orchestrator.api.searchable_corpus import SearchableCorpus
from orchestrator.api.services import ServicesDependency

__all__ = [
    "CorpusAnswer",
    "CorpusBody",
    "CorpusHit",
    "CorpusOptions",
    "CorpusPaper",
    "CorpusPassage",
    "CorpusQuery",
    "CorpusSearch",
    "Name",
    "paper_fields",
    "router",
    "search_resource",
]

_MOST = 100
_MOST_NAMES = 50
_MOST_LEFT_OUT = 1_000
_MOST_IN_ADDRESS = 20
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]


class CorpusOptions(Body):
    limit: int = Field(default=10, ge=1, le=_MOST)
    """The most papers, and passages, for each query."""
    before: dt.date | None = None
    """Only papers published on this day or before; undated ones are left out. Null: no limit."""
    after: dt.date | None = None
    """Only papers published on this day or later; undated ones stay, unless `before` is given as well."""
    venue: tuple[Name, ...] = Field(default=(), max_length=_MOST_NAMES)
    """Only papers of these venues: whole names, in upper or lower case."""
    field: tuple[Name, ...] = Field(default=(), max_length=_MOST_NAMES)
    """Only papers of these fields of study."""
    retracted: bool | None = None
    """True: only retracted papers; false: none of them; null: both."""
    without: tuple[Name, ...] = Field(default=(), max_length=_MOST_LEFT_OUT)
    """Ids of papers to leave out."""
    snippets: bool = False
    """Also return the best matching passages."""

    @model_validator(mode="after")
    def _some_days(self) -> Self:
        if self.after and self.before and self.after > self.before:
            raise ValueError(f"no day lies after {self.after} and before {self.before}")
        return self

    @property
    def filters(self) -> Filters:
        return Filters(
            window=Window(after=self.after, before=self.before),
            venues=frozenset(self.venue),
            fields=frozenset(self.field),
            retracted=self.retracted,
            without=frozenset(map(PaperId, self.without)),
        )


class CorpusQuery(CorpusOptions):
    """In a URL, whose length is limited: fewer names than in a body."""

    q: Words
    venue: tuple[Name, ...] = Field(default=(), max_length=_MOST_IN_ADDRESS)
    """Only papers of these venues: whole names, in upper or lower case."""
    field: tuple[Name, ...] = Field(default=(), max_length=_MOST_IN_ADDRESS)
    """Only papers of these fields of study."""
    without: tuple[Name, ...] = Field(default=(), max_length=_MOST_IN_ADDRESS)
    """Ids of papers to leave out."""


class CorpusBody(CorpusOptions):
    queries: tuple[Words, ...] = Field(min_length=1, max_length=50)


class CorpusPaper(Resource):
    id: str
    """In the corpus."""
    title: str
    authors: tuple[str, ...]
    year: int | None
    publication_date: dt.date | None
    """The last day of the period when only a month or a year is known."""
    venue: str
    url: str
    identifiers: dict[str, str]
    """`doi`, `arxiv`, `s2`, …: those that are known."""
    citation_count: int | None
    """Null while it is not known."""
    retracted: bool


class CorpusHit(CorpusPaper):
    score: float
    """Cosine of query and paper, −1 to 1."""


class CorpusPassage(Resource):
    paper: str
    """Its id."""
    title: str
    section: str
    text: str
    score: float
    """Cosine of query and passage, −1 to 1."""
    cites: tuple[str, ...]
    """Ids of the papers of the corpus that it refers to, as far as its record says."""


class CorpusAnswer(Resource):
    query: str
    hits: tuple[CorpusHit, ...]
    """Best first."""
    passages: tuple[CorpusPassage, ...] | None
    """Best first; null unless they were asked for."""


class CorpusSearch(Resource):
    corpus: str
    """The version that answered: the same version gives the same answers."""
    answers: tuple[CorpusAnswer, ...]


router = APIRouter(prefix="/v1/corpus", tags=["corpus"])


@router.get("/search", responses=problem_responses(422))
async def search(query: Annotated[CorpusQuery, Query()], _: Reader, services: ServicesDependency) -> CorpusSearch:
    """Searches the corpus with one query and optional filters. `venue`, `field` and `without` may be repeated."""
    return await answered_by_corpus(services, "search", lambda corpus: _found(corpus, (query.q,), query))


@router.post("/search", responses=problem_responses(400, 413, 415, 422), dependencies=[Depends(json_only)])
async def search_many(body: CorpusBody, _: Reader, services: ServicesDependency) -> CorpusSearch:
    """Searches the corpus with many queries at once. Nothing is stored, so it takes no idempotency key."""
    return await answered_by_corpus(services, "search", lambda corpus: _found(corpus, body.queries, body))


async def _found(corpus: SearchableCorpus, queries: tuple[str, ...], options: CorpusOptions) -> CorpusSearch:
    version, filters = corpus.version, options.filters
    hits = await corpus.find(queries, options.limit, filters)
    passages = await corpus.find_passages(queries, options.limit, filters) if options.snippets else None
    return search_resource(version, queries, hits, passages)


def search_resource(
    version: str, queries: tuple[str, ...], hits: list[list[Hit]], passages: list[list[Passage]] | None
) -> CorpusSearch:
    answers = (
        CorpusAnswer(
            query=query,
            hits=tuple(map(_hit_resource, hits[place])),
            passages=None if passages is None else tuple(map(_passage_resource, passages[place])),
        )
        for place, query in enumerate(queries)
    )
    return CorpusSearch(corpus=version, answers=tuple(answers))


def _hit_resource(hit: Hit) -> CorpusHit:
    return CorpusHit(**paper_fields(hit.paper), score=hit.similarity)


def paper_fields(paper: Paper) -> dict[str, Any]:
    """Of a CorpusPaper."""
    date = paper.publication_date
    return CorpusPaper(
        id=paper.id,
        title=paper.title,
        authors=paper.authors,
        year=date.year if date else None,
        publication_date=date,
        venue=paper.venue,
        url=paper.url,
        identifiers={name: value for name, value in paper.identifiers.model_dump().items() if value},
        citation_count=paper.citation_count,
        retracted=paper.retraction is not None and paper.retraction.kind != "concern",
    ).model_dump()


def _passage_resource(passage: Passage) -> CorpusPassage:
    return CorpusPassage(
        paper=passage.paper.id,
        title=passage.paper.title,
        section=passage.section,
        text=passage.text,
        score=passage.similarity,
        cites=passage.cites,
    )
