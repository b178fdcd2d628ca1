"""Bodies and resources of rankings; shared with the client."""

import datetime as dt
from typing import Annotated, Self

from pydantic import Field, model_validator

from assayer.models.money import Dollars
from assayer.models.ranking import Comparison
from orchestrator.api.resources import Body, IdeaBody, Resource
from orchestrator.jobs.models import Job, JobState, Priority, Problem
from orchestrator.jobs.requests import Limits

__all__ = [
    "AcceptedRanking",
    "LeftOut",
    "RankedIdeaBody",
    "RankingBody",
    "RankingLinks",
    "RankingResource",
    "ranking_links",
    "ranking_of",
]

_MOST_IDEAS = 10_000
_MOST_COMPARISONS = 200_000
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class RankedIdeaBody(IdeaBody):
    id: str = Field(default="", max_length=200)
    """What the caller calls it; shown in the report as its source."""
    score: float | None = Field(default=None, allow_inf_nan=False)
    """From which it starts; whatever the scale, if it is one for all."""


class RankingBody(Body):
    """Ideas, or a batch that has finished: then its reports' scores are where the ranking starts."""

    ideas: tuple[RankedIdeaBody, ...] | None = Field(default=None, max_length=_MOST_IDEAS)
    batch: Name | None = None
    cut: int | None = Field(default=None, ge=1, le=_MOST_IDEAS)
    """How many are to be chosen: tells who is certainly in, certainly out, or for people to decide."""
    calls_per_idea: float | None = Field(default=None, gt=0, le=1_000, allow_inf_nan=False)
    """Comparisons asked over ideas ranked; null: what the service's settings say."""
    comparisons: tuple[Comparison, ...] = Field(default=(), max_length=_MOST_COMPARISONS)
    """Of an earlier ranking or of comparisons; those between two of these ideas are not asked again."""
    earlier: Name | None = None
    """A ranking of one's own whose comparisons are used in the same way."""
    limits: Limits = Limits()
    priority: Priority = "batch"

    @model_validator(mode="after")
    def _has_ideas_once(self) -> Self:
        if (self.ideas is None) == (self.batch is None):
            raise ValueError("Give either `ideas` or `batch`")
        return self


class LeftOut(Resource):
    """An evaluation of the batch that is not ranked."""

    evaluation: str
    row: int | None
    reason: str


class RankingLinks(Resource):
    ranking: str
    report: str
    comparisons: str
    events: str


class AcceptedRanking(Resource):
    """The ranking is stored, and will end in exactly one verdict."""

    id: str
    state: JobState = "queued"
    ideas: int
    seeded: int
    """Ideas that start from a score; the others start in the middle."""
    known: int
    """Comparisons that are not asked again."""
    left_out: tuple[LeftOut, ...]
    links: RankingLinks


class RankingResource(Resource):
    id: str
    state: JobState
    title: str
    priority: Priority
    attempt: int
    """How often it was begun."""
    problem: Problem | None
    """Why there is no ranking; null unless the state is failed or dead."""
    cost_usd: Dollars | None
    """Null while it is not known."""
    created_at: dt.datetime
    started_at: dt.datetime | None
    finished_at: dt.datetime | None
    links: RankingLinks


def ranking_links(job: str) -> RankingLinks:
    own = f"/v1/rankings/{job}"
    return RankingLinks(ranking=own, report=f"{own}/report", comparisons=f"{own}/comparisons", events=f"{own}/events")


def ranking_of(job: Job) -> RankingResource:
    return RankingResource(
        id=job.id,
        state=job.state,
        title=job.subject,
        priority=job.priority,
        attempt=job.attempt,
        problem=job.problem,
        cost_usd=job.cost_usd,
        created_at=job.created_at,
        started_at=job.started_at,
        finished_at=job.finished_at,
        links=ranking_links(job.id),
    )
