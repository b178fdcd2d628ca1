"""Bodies and resources of searches in the corpus; shared with the client."""

import datetime as dt
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from assayer.models import Filters, Hit, Paper, PaperId, Passage
from orchestrator.api.resources import Body, Resource

__all__ = [
    "CorpusAnswer",
    "CorpusBody",
    "CorpusHit",
    "CorpusOptions",
    "CorpusPassage",
    "CorpusQuery",
    "CorpusSearch",
    "search_of",
]

_MOST = 100
_MOST_NAMES = 50
_MOST_LEFT_OUT = 1_000
_MOST_IN_ADDRESS = 20
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]


class CorpusOptions(Body):
    limit: int = Field(default=10, ge=1, le=_MOST)
    """Of papers, and of passages, for each query."""
    before: dt.date | None = None
    """The last day that counts: papers published later, and undated ones, are left out. Null: everything counts."""
    after: dt.date | None = None
    """The first day that counts; undated papers count unless there is a last day."""
    venue: tuple[Name, ...] = Field(default=(), max_length=_MOST_NAMES)
    """Papers of one of these venues, by their whole names without regard to case."""
    field: tuple[Name, ...] = Field(default=(), max_length=_MOST_NAMES)
    """Papers of one of these fields of study."""
    retracted: bool | None = None
    """True: only papers that were retracted; false: none of them. Null: both."""
    without: tuple[Name, ...] = Field(default=(), max_length=_MOST_LEFT_OUT)
    """Ids of papers that do not count."""
    snippets: bool = False
    """Also the passages that answer best."""

    @model_validator(mode="after")
    def _some_days(self) -> Self:
        if self.after and self.before and self.after > self.before:
            raise ValueError(f"no day lies after {self.after} and before {self.before}")
        return self

    @property
    def filters(self) -> Filters:
        return Filters(
            before=self.before,
            after=self.after,
            venues=frozenset(self.venue),
            fields=frozenset(self.field),
            retracted=self.retracted,
            without=frozenset(map(PaperId, self.without)),
        )


class CorpusQuery(CorpusOptions):
    """In an address, which servers read up to a length: names are fewer than in a body."""

    q: Words
    venue: tuple[Name, ...] = Field(default=(), max_length=_MOST_IN_ADDRESS)
    """Papers of one of these venues, by their whole names without regard to case."""
    field: tuple[Name, ...] = Field(default=(), max_length=_MOST_IN_ADDRESS)
    """Papers of one of these fields of study."""
    without: tuple[Name, ...] = Field(default=(), max_length=_MOST_IN_ADDRESS)
    """Ids of papers that do not count."""


class CorpusBody(CorpusOptions):
    queries: tuple[Words, ...] = Field(min_length=1, max_length=50)


class CorpusHit(Resource):
    id: str
    """The corpus's own."""
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


class CorpusAnswer(Resource):
    query: str
    hits: tuple[CorpusHit, ...]
    """Best first."""
    passages: tuple[CorpusPassage, ...] | None
    """Best first; null unless they were asked for."""


class CorpusSearch(Resource):
    corpus: str
    """The version that answered: the same version answers the same."""
    answers: tuple[CorpusAnswer, ...]


def search_of(
    version: str, queries: tuple[str, ...], hits: list[list[Hit]], passages: list[list[Passage]] | None
) -> CorpusSearch:
    answers = (
        CorpusAnswer(
            query=query,
            hits=tuple(map(_hit, hits[place])),
            passages=None if passages is None else tuple(map(_passage, passages[place])),
        )
        for place, query in enumerate(queries)
    )
    return CorpusSearch(corpus=version, answers=tuple(answers))


def _hit(hit: Hit) -> CorpusHit:
    paper: Paper = hit.paper
    date = paper.publication_date
    return CorpusHit(
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
        score=hit.similarity,
    )


def _passage(passage: Passage) -> CorpusPassage:
    return CorpusPassage(
        paper=passage.paper.id,
        title=passage.paper.title,
        section=passage.section,
        text=passage.text,
        score=passage.similarity,
    )
