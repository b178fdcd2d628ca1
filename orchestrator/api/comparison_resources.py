"""Bodies and resources of comparisons; shared with the client."""

import datetime as dt

from assayer.models.money import Dollars
from orchestrator.api.resources import Body, IdeaBody, Resource
from orchestrator.jobs.models import Job, JobState, Priority, Problem
from orchestrator.jobs.requests import Limits
from orchestrator.jobs.results import ComparisonResult

__all__ = ["AcceptedComparison", "ComparisonBody", "ComparisonResource", "comparison_of", "comparison_path"]


class ComparisonBody(Body):
    first: IdeaBody
    second: IdeaBody
    both_orders: bool = True
    """Also asked with the ideas in the other order, which shows a judge that prefers a place."""
    limits: Limits = Limits()
    priority: Priority = "interactive"


class AcceptedComparison(Resource):
    """The comparison is stored, and will end in exactly one verdict."""

    id: str
    state: JobState = "queued"
    link: str


class ComparisonResource(Resource):
    id: str
    state: JobState
    title: str
    """Of both ideas."""
    priority: Priority
    attempt: int
    """How often it was begun."""
    problem: Problem | None
    """Why there is no result; null unless the state is failed or dead."""
    result: ComparisonResult | None
    """`outcomes` says which idea is better in each respect, `answers` why; null until the state is done."""
    cost_usd: Dollars | None
    """Null while it is not known."""
    created_at: dt.datetime
    started_at: dt.datetime | None
    finished_at: dt.datetime | None
    link: str


def comparison_path(job: str) -> str:
    return f"/v1/comparisons/{job}"


def comparison_of(job: Job, result: ComparisonResult | None) -> ComparisonResource:
    return ComparisonResource(
        id=job.id,
        state=job.state,
        title=job.subject,
        priority=job.priority,
        attempt=job.attempt,
        problem=job.problem,
        result=result,
        cost_usd=job.cost_usd,
        created_at=job.created_at,
        started_at=job.started_at,
        finished_at=job.finished_at,
        link=comparison_path(job.id),
    )
