"""What an idea should cite: papers of the service's corpus, each with how it was found."""

import datetime as dt
from typing import Literal

from assayer_client.corpus import CorpusPaper
from assayer_client.evaluations import IdeaBody
from assayer_client.requests import ApiCall, path, reads
from assayer_client.resources import Body, Resource


class ReferencesBody(Body):
    idea: IdeaBody
    limit: int = 10
    """The most references, 1 to 100."""
    cutoff: dt.date | None = None
    """The last day that counts: papers published later, and undated ones, are left out. Null: everything counts."""
    hops: int | None = None
    """Along citations, 0 to 4. Null: what the service's settings say, by default 2."""
    without: tuple[str, ...] = ()
    """Ids of papers that the idea cites already. They lead to others."""


class ReferencePath(Resource):
    """One way by which a paper was found."""

    kind: Literal["dense", "reference", "citing", "co-cited", "neighbour"]
    from_id: str | None
    """The other paper's id; null where the idea's words led to it."""
    from_title: str | None


class SuggestedReference(CorpusPaper):
    rank: int
    found: tuple[ReferencePath, ...]


class SuggestedReferences(Resource):
    corpus: str
    """The version that answered: the same version answers the same."""
    corpus_fit: Literal["good", "partial", "poor"]
    """Whether the corpus covers the idea's field."""
    note: str | None
    """What there is to know about the whole answer."""
    references: tuple[SuggestedReference, ...]
    """Best first."""


def references(body: ReferencesBody) -> ApiCall[SuggestedReferences]:
    """Papers of the corpus that an idea does not name and should. No language model is asked."""
    return ApiCall("POST", path("references"), reads(SuggestedReferences), body=body)
