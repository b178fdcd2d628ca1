"""The service's local corpus of papers."""

import datetime as dt

from assayer_client.requests import ApiCall, path, reads
from assayer_client.resources import Body, Resource


class CorpusOptions(Body):
    limit: int = 10
    """Of papers, and of passages, for each query."""
    before: dt.date | None = None
    """The last day that counts: papers published later, and undated ones, are left out. Null: everything counts."""
    after: dt.date | None = None
    """The first day that counts; undated papers count unless there is a last day."""
    venue: tuple[str, ...] = ()
    """Papers of one of these venues, by their whole names without regard to case."""
    field: tuple[str, ...] = ()
    """Papers of one of these fields of study."""
    retracted: bool | None = None
    """True: only papers that were retracted; false: none of them. Null: both."""
    without: tuple[str, ...] = ()
    """Ids of papers that do not count."""
    snippets: bool = False
    """Also the passages that answer best."""


class CorpusBody(CorpusOptions):
    queries: tuple[str, ...]


class CorpusPaper(Resource):
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
    cites: tuple[str, ...] = ()
    """Ids of the papers of the corpus that it refers to, as far as its record says."""


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


def search_corpus(body: CorpusBody) -> ApiCall[CorpusSearch]:
    """Papers of the local corpus for each query."""
    return ApiCall("POST", path("corpus", "search"), reads(CorpusSearch), body=body)
