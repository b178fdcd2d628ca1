"""Local paper corpus of the service."""

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
    """Publication date limit: only papers published on this day or earlier; papers without a date are excluded.
    Null: no limit."""
    after: dt.date | None = None
    """Publication date limit: only papers published on this day or later; papers without a date are included unless
    `before` is also set."""
    venue: tuple[PaperName, ...] = Field(default=(), max_length=_MAX_NAMES)
    """Venues to search: full names, case-insensitive."""
    field: tuple[PaperName, ...] = Field(default=(), max_length=_MAX_NAMES)
    """Fields of study to search."""
    retracted: bool | None = None
    """Retraction filter. True: only retracted papers; false: no retracted papers; null: both."""
    without: tuple[PaperName, ...] = Field(default=(), max_length=_MAX_EXCLUDED)
    """Ids of papers to leave out."""
    snippets: bool = False
    """Return the best matching passages as well."""

    @model_validator(mode="after")
    def _dates_in_order(self) -> Self:
        if self.after and self.before and self.after > self.before:
            raise ValueError(f"`after` ({self.after}) must not be later than `before` ({self.before})")
        return self


class CorpusBody(CorpusOptions):
    queries: tuple[Words, ...] = Field(min_length=1, max_length=50)


class CorpusPaper(Resource):
    id: str
    """Id of the paper in the corpus."""
    title: str
    authors: tuple[str, ...]
    year: int | None
    publication_date: dt.date | None
    """Publication date; the last day of the period if only a month or a year is known."""
    venue: str
    url: str
    identifiers: dict[str, str]
    """Known identifiers by kind: `doi`, `arxiv`, `s2` and so on."""
    citation_count: int | None
    """Number of citations; null if unknown."""
    retracted: bool


class CorpusHit(CorpusPaper):
    score: float
    """Cosine similarity of query and paper, −1 to 1."""


class CorpusPassage(Resource):
    paper: str
    """Id of the paper."""
    title: str
    section: str
    text: str
    score: float
    """Cosine similarity of query and passage, −1 to 1."""
    cites: tuple[str, ...]
    """Ids of corpus papers that the passage cites, as far as the passage's record states them."""


class CorpusAnswer(Resource):
    query: str
    hits: tuple[CorpusHit, ...]
    """Papers found, best first."""
    passages: tuple[CorpusPassage, ...] | None
    """Matching passages, best first; null unless requested."""


class CorpusSearch(Resource):
    corpus: str
    """Version of the corpus that was searched: the same version gives the same answers."""
    answers: tuple[CorpusAnswer, ...]
