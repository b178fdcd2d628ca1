"""`/v1/erasures`: all that is stored of one applicant, or of one batch, deleted everywhere at once."""

from typing import Self

from fastapi import APIRouter, Depends
from pydantic import Field, model_validator

from orchestrator.api.acting import actor_of
from orchestrator.api.authentication import Manager
from orchestrator.api.common_schemas import Body, Resource
from orchestrator.api.content_negotiation import json_only
from orchestrator.api.openapi import problem_responses
from orchestrator.api.problems import not_found
from orchestrator.api.services import ServicesDependency
from orchestrator.jobs.models import BatchId, JobKind, JobState

__all__ = ["ErasedJob", "Erasure", "ErasureBody", "router"]


class ErasureBody(Body):
    """One of `source` and `batch`."""

    source: str | None = Field(default=None, min_length=1, max_length=300)
    """What you called the idea when you sent it: a file's name, the id in its row."""
    batch: str | None = Field(default=None, max_length=100)
    dry_run: bool = False
    """Only say what would go."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.source is None) == (self.batch is None):
            raise ValueError("give `source` or `batch`, one of them")
        return self


class ErasedJob(Resource):
    id: str
    kind: JobKind
    title: str
    state: JobState
    """Before it was deleted."""
    batch: str | None
    row: int | None


class Erasure(Resource):
    """What was deleted, or would be."""

    dry_run: bool
    jobs: tuple[ErasedJob, ...]
    """Evaluations, and the rankings, comparisons and other jobs that hold their ideas: these go as a whole."""
    refused_rows: int
    """Rows of batches that held no usable idea: their names and reasons."""
    batch: str | None
    """Itself deleted."""


router = APIRouter(prefix="/v1/erasures", tags=["erasures"])


@router.post("", responses=problem_responses(404, 415, 422), dependencies=[Depends(json_only)])
async def erase(body: ErasureBody, caller: Manager, services: ServicesDependency) -> Erasure:
    """Deletes all that you have stored about an idea, or of a batch: ideas, reports, answers, events, and every
    ranking and comparison in which they stand. Nothing brings it back; ask with `dry_run` first."""
    batch = None if body.batch is None else BatchId(body.batch)
    refused = await services.erasures.refused_rows(caller.tenant, body.source)
    if batch is not None:
        status = await services.jobs.batch(caller.tenant, batch)
        if status is None:
            raise not_found("batch", batch)
        refused = len(status.rejected)
    found = await services.erasures.find(caller.tenant, body.source, batch)
    if not body.dry_run:
        # First: should this end half way, the log says more than was done, never less.
        things = [*(str(one.id) for one in found), *([body.batch] if body.batch else [])]
        await services.audit_log.erase(
            caller.tenant, actor_of(caller), body.batch or "an applicant", things, services.clock.now()
        )
        for one in found:
            if one.state in ("queued", "running"):
                await services.jobs.cancel(caller.tenant, one.id)
        await services.erasures.erase(caller.tenant, [one.id for one in found], body.source, batch)
    return Erasure(
        dry_run=body.dry_run,
        jobs=tuple(
            ErasedJob(id=one.id, kind=one.kind, title=one.subject, state=one.state, batch=one.batch, row=one.row)
            for one in found
        ),
        refused_rows=refused,
        batch=batch,
    )
