"""The service's local corpus of papers."""

import datetime as dt
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from assayer_client.resources import Body, Resource

_MAX_PAPERS = 100
_MAX_NAMES = 50
_MAX_EXCLUDED = 1_000
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
PaperName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
"""Id of a paper, or name of a venue or a field of study."""


class CorpusOptions(Body):
    limit: int = Field(default=10, ge=1, le=_MAX_PAPERS)
    """Maximum number of papers, and of passages, per query."""
    before: dt.date | None = None
    """Only papers published on or before this day; papers without a date are excluded. Null: no limit."""
    after: dt.date | None = None
    """Only papers published on or after this day; papers without a date are included unless `before` is also set."""
    venue: tuple[PaperName, ...] = Field(default=(), max_length=_MAX_NAMES)
    """Venues to search, as full names; case is ignored."""
    field: tuple[PaperName, ...] = Field(default=(), max_length=_MAX_NAMES)
    """Fields of study to search."""
    retracted: bool | None = None
    """Retraction filter. True: only retracted papers; false: no retracted papers; null: both."""
    exclude: tuple[PaperName, ...] = Field(default=(), max_length=_MAX_EXCLUDED)
    """Ids of papers to exclude."""
    snippets: bool = False
    """Also return the best-matching passages."""

    @model_validator(mode="after")
    def _dates_in_order(self) -> Self:
        if self.after and self.before and self.after > self.before:
            raise ValueError(f"`after` ({self.after}) must not be later than `before` ({self.before})")
        return self


class CorpusBody(CorpusOptions):
    queries: tuple[Words, ...] = Field(min_length=1, max_length=50)


class CorpusPaper(Resource):
    id: str
    """The paper's id in the corpus."""
    title: str
    authors: tuple[str, ...]
    year: int | None
    publication_date: dt.date | None
    """Publication date; if only a month or a year is known, the last day of that period."""
    venue: str
    url: str
    identifiers: dict[str, str]
    """Known identifiers by kind: `doi`, `arxiv`, `s2` and so on."""
    citation_count: int | None
    """Number of citations; null if unknown."""
    retracted: bool


class CorpusHit(CorpusPaper):
    score: float
    """Cosine similarity between query and paper, −1 to 1."""


class CorpusPassage(Resource):
    paper: str
    """The paper's id."""
    title: str
    section: str
    text: str
    score: float
    """Cosine similarity between query and passage, −1 to 1."""
    cites: tuple[str, ...]
    """Ids of corpus papers cited in the passage, if the record states them."""


class CorpusAnswer(Resource):
    query: str
    hits: tuple[CorpusHit, ...]
    """Papers found, best first."""
    passages: tuple[CorpusPassage, ...] | None
    """Matching passages, best first; null unless requested."""


class CorpusSearch(Resource):
    corpus: str
    """Corpus version that was searched. The same version gives the same results."""
    answers: tuple[CorpusAnswer, ...]
