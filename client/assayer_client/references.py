"""Suggested references for an idea: papers of the service's corpus, each with how it was found."""

import datetime as dt
from typing import Literal

from pydantic import Field

from assayer_client.corpus import CorpusPaper, PaperName
from assayer_client.evaluations import IdeaBody
from assayer_client.reports import FitLevel
from assayer_client.resources import Body, Resource


class ReferencesBody(Body):
    idea: IdeaBody
    limit: int = Field(default=10, ge=1, le=100)
    """The most references."""
    cutoff: dt.date | None = None
    """Publication date limit: only papers published on this day or earlier; papers without a date are excluded.
    Null: no limit."""
    hops: int | None = Field(default=None, ge=0, le=4)
    """Number of citation hops from the papers nearest to the idea. 0: only those papers. Null: the service's
    setting, by default 2."""
    without: tuple[PaperName, ...] = Field(default=(), max_length=1_000)
    """Ids of papers that the idea already cites. They still lead to other papers; papers whose title occurs in the
    idea are always left out."""


class ReferencePath(Resource):
    """Path by which a paper was found."""

    kind: Literal["dense", "reference", "citing", "co-cited"]
    """Kind of path. `dense`: near the idea's words; `reference`: the other paper cites it; `citing`: it cites the
    other paper; `co-cited`: a third paper cites both."""
    from_id: str | None
    """Id of the other paper; null if the idea's words led to it."""
    from_title: str | None


class SuggestedReference(CorpusPaper):
    rank: int
    found: tuple[ReferencePath, ...]


class SuggestedReferences(Resource):
    corpus: str
    """Corpus version that answered: the same version gives the same answers."""
    corpus_fit: FitLevel
    """Corpus coverage of the idea's field. If coverage is poor, an empty result means nothing."""
    note: str | None
    """Note about the whole answer."""
    references: tuple[SuggestedReference, ...]
    """Best first."""
