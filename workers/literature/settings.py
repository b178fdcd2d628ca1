"""How far an evaluation looks beyond the local corpus."""

from pydantic import Field

from assayer.models import Frozen

__all__ = ["LiteratureSettings"]


class LiteratureSettings(Frozen):
    """What is enough, and what one evaluation may ask of remote sources that all evaluations share."""

    near: float = Field(default=0.4, ge=-1, le=1)
    """Cosine of a query and a paper from which the paper is an answer to it."""
    near_enough: int = Field(default=5, ge=1)
    """So many answers from the corpus, and a query is answered."""
    fresh_days: int = Field(default=60, ge=0)
    """A corpus whose newest paper is older than the cutoff (or today) by more is asked to be topped up with what
    appeared since."""
    questions: int = Field(default=12, ge=0)
    """Of one kind to one source, per evaluation. Most take one request, some two."""
    questions_at_once: int = Field(default=4, ge=1)
    """Of these, for the queries of one search, so that the first dimension does not take all."""
    own_references: int = Field(default=60, ge=0)
    """An idea's own references that one source is searched for, one question each; identifiers go in one batch."""
    patience_seconds: float = Field(default=60.0, ge=0)
    """An evaluation waits so long for one source, all its questions together."""
    retraction_seconds: float = Field(default=60.0, ge=0)
    """It waits so long, beside the patience above, for one source to say which of the cited papers were retracted."""
    searched: tuple[str, ...] = ("semantic_scholar", "openalex", "arxiv", "google_scholar")
    """Sources that queries go to, if they are configured. Crossref has few abstracts and is asked for records only."""
