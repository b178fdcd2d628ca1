"""Suggested references for an idea: papers in the service's corpus, each with how it was found."""

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
    """Maximum number of references."""
    cutoff: dt.date | None = None
    """Only papers published on or before this day; papers without a date are excluded. Null: no limit."""
    hops: int | None = Field(default=None, ge=0, le=4)
    """Number of citation hops from the papers nearest to the idea. 0: only those papers. Null: the service's setting,
    by default 2."""
    exclude: tuple[PaperName, ...] = Field(default=(), max_length=1_000)
    """Ids of papers that the idea already cites. They are not suggested, but still lead to other papers. Papers whose
    title occurs in the idea are never suggested."""


class ReferencePath(Resource):
    """Way in which a paper was found."""

    kind: Literal["dense", "reference", "citing", "co-cited"]
    """Kind of path. `dense`: near the idea's text; `reference`: the other paper cites this one; `citing`: this paper
    cites the other; `co-cited`: a third paper cites both."""
    from_id: str | None
    """The other paper's id; null if this paper was found from the idea's text."""
    from_title: str | None


class SuggestedReference(CorpusPaper):
    rank: int
    search_paths: tuple[ReferencePath, ...]


class SuggestedReferences(Resource):
    corpus: str
    """Corpus version that was searched. The same version gives the same results."""
    corpus_fit: FitLevel
    """Degree to which the corpus covers the idea's field. If coverage is poor, an empty result means nothing."""
    note: str | None
    """Note about the whole response; null if there is none."""
    references: tuple[SuggestedReference, ...]
    """Suggested references, best first."""
