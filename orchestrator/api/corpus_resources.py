"""Bodies and resources of searches in the corpus; shared with the client."""

import datetime as dt
from typing import Annotated

from pydantic import Field, StringConstraints

from assayer.models import Hit, Paper, Passage
from orchestrator.api.resources import Body, Resource

__all__ = ["CorpusAnswer", "CorpusBody", "CorpusHit", "CorpusPassage", "CorpusQuery", "CorpusSearch", "search_of"]

_MOST = 100
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]


class _Options(Body):
    limit: int = Field(default=10, ge=1, le=_MOST)
    """Of papers, and of passages, for each query."""
    before: dt.date | None = None
    """The last day that counts: papers published later, and undated ones, are left out. Null: everything counts."""
    snippets: bool = False
    """Also the passages that answer best."""


class CorpusQuery(_Options):
    q: Words


class CorpusBody(_Options):
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
