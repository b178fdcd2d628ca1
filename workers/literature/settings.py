"""Settings that determine when, and how much, an evaluation searches beyond the local corpus."""

from pydantic import Field

from assayer.models import Frozen


class LiteratureSettings(Frozen):
    """Thresholds for sufficient corpus results, and limits per evaluation on queries to remote sources."""

    near: float = Field(default=0.4, ge=-1, le=1)
    """Minimum cosine between a query and a paper for the paper to count as near."""
    near_enough: int = Field(default=5, ge=1)
    """Number of near corpus hits at which a query counts as answered."""
    fresh_days: int = Field(default=60, ge=0)
    """Maximum number of days between the newest corpus paper and the cutoff (or today). If there are more, remote
    sources are queried for papers published since."""
    questions: int = Field(default=12, ge=0)
    """Maximum number of queries of one kind to one source per evaluation. Most need one request, some need two."""
    questions_at_once: int = Field(default=4, ge=1)
    """Maximum number of queries of one kind to one source per search, so that the first dimension's search does not use
    up the limit."""
    own_references: int = Field(default=60, ge=0)
    """Maximum number of an idea's own references that are searched for in one source, with one query each. Identifiers
    are resolved in one batch."""
    patience_seconds: float = Field(default=60.0, ge=0)
    """Maximum seconds that an evaluation waits for one source, over all its queries."""
    retraction_seconds: float = Field(default=60.0, ge=0)
    """Maximum extra seconds, on top of `patience_seconds`, that an evaluation waits for one source to report which
    cited papers are retracted."""
    searched: tuple[str, ...] = ("semantic_scholar", "openalex", "arxiv", "google_scholar")
    """Sources to query, if they are configured. Crossref is used only to look up records, because it has few
    abstracts."""
