"""`/v1/erasures`: all that is stored of one applicant, or of one batch, deleted everywhere at once."""

from typing import Self

from fastapi import APIRouter, Depends
from pydantic import Field, model_validator

from assayer.reports.wording import count, money
from orchestrator.access.audit_chain import Actor
from orchestrator.api.acting import actor_of
from orchestrator.api.authentication import Manager
from orchestrator.api.common_schemas import Body, Resource
from orchestrator.api.content_negotiation import json_only
from orchestrator.api.openapi import problem_responses
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.jobs.models import TERMINAL, BatchId, JobId, JobKind, JobState, TenantId
from orchestrator.store.erasure import JobToErase

__all__ = [
    "ErasedJob",
    "Erasure",
    "ErasureBody",
    "RankingThatStays",
    "erase_found",
    "erasure_of",
    "router",
]


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


class RankingThatStays(Resource):
    """A finished ranking from which the applicant is taken out; all others keep their ranks."""

    id: str
    title: str
    taken: int
    """Proposals that are taken out."""
    left: int
    """Proposals that stay."""


class Erasure(Resource):
    """What was deleted, or would be."""

    dry_run: bool
    jobs: tuple[ErasedJob, ...]
    """Evaluations, and the comparisons and other jobs that hold their ideas: these go as a whole, as do rankings that
    are not done, of which fewer than two proposals would be left, or of an erased batch."""
    taken_out_of: tuple[RankingThatStays, ...] = ()
    refused_rows: int
    """Rows of batches that held no usable idea: their names and reasons."""
    batch: str | None
    """Itself deleted."""
    proof: int | None
    """Number of the entry of the audit log that says so: `GET /v1/erasures/{number}`. Null for a dry run."""
    warnings: tuple[str, ...]
    """What others lose by it: a ranking that goes whole."""


router = APIRouter(prefix="/v1/erasures", tags=["erasures"])


@router.post("", responses=problem_responses(404, 410, 415, 422), dependencies=[Depends(json_only)])
async def erase(body: ErasureBody, caller: Manager, services: ServicesDependency) -> Erasure:
    """Deletes all that you have stored about an idea, or of a batch: ideas, reports, answers, events, and every
    comparison in which they stand. A finished ranking stays, without the idea: the others keep their ranks. Nothing
    brings it back; ask with `dry_run` first."""
    found = await erasure_of(services, caller.tenant, body.source, body.batch)
    if body.dry_run:
        return found
    return await erase_found(services, caller.tenant, actor_of(caller), body.source, found)


async def erasure_of(services: Services, tenant: TenantId, source: str | None, batch: str | None) -> Erasure:
    """What would go. Raises HttpProblem for a batch that is not there."""
    refused = await services.erasures.refused_rows(tenant, source)
    if batch is not None:
        refused = len((await services.find_batch(tenant, batch)).rejected)
    found = await services.erasures.find(tenant, source, None if batch is None else BatchId(batch))
    stay = {one.id for one in found if batch is None and one.stays}
    return Erasure(
        dry_run=True,
        jobs=tuple(
            ErasedJob(id=one.id, kind=one.kind, title=one.subject, state=one.state, batch=one.batch, row=one.row)
            for one in found
            if one.id not in stay
        ),
        taken_out_of=tuple(
            RankingThatStays(id=one.id, title=one.subject, taken=one.taken, left=one.left or 0)
            for one in found
            if one.id in stay
        ),
        refused_rows=refused,
        batch=batch,
        proof=None,
        warnings=tuple(filter(None, (_loss(one) for one in found if batch is None and one.id not in stay))),
    )


def _loss(one: JobToErase) -> str:
    """Of a ranking that goes with one applicant: what others lose. Empty where that is nothing."""
    called = _ranking_called(one.subject or one.id)
    if one.kind == "ranking" and one.state not in TERMINAL:
        return f"{called} is under way and goes with it: the others have to be ranked anew, without this applicant."
    if not one.left:
        return ""
    cost = "what it cost is not known" if one.cost_usd is None else f"it cost {money(one.cost_usd)}"
    return f"{called} goes with it ({cost}): of {count(one.left, 'proposal')} that would be left there is no order."


def _ranking_called(name: str) -> str:
    return f"The ranking “{name}”"


async def erase_found(
    services: Services, tenant: TenantId, actor: Actor, source: str | None, found: Erasure
) -> Erasure:
    """`source`: where it was found by that."""
    jobs = [JobId(one.id) for one in found.jobs]
    batch = BatchId(found.batch) if found.batch else None
    kept = [JobId(one.id) for one in found.taken_out_of]
    erased = await services.erasures.erase(
        tenant, actor, jobs, services.clock.now(), source=source, batch=batch, taken_out_of=kept
    )
    # Rankings that were still under way when they were looked at.
    finished = {
        one.id: RankingThatStays(id=one.id, title=one.title, taken=len(standing.ideas), left=standing.others)
        for one in found.jobs
        if (standing := erased.finished.get(JobId(one.id))) is not None
    }
    warnings = list(found.warnings)
    for one in finished.values():
        lost = next((said for said in warnings if said.startswith(_ranking_called(one.title or one.id))), None)
        if lost is not None:
            warnings.remove(lost)
    return found.model_copy(
        update={
            "warnings": tuple(warnings),
            "dry_run": False,
            "proof": erased.proof,
            "jobs": tuple(one for one in found.jobs if one.id not in finished),
            "taken_out_of": (*found.taken_out_of, *finished.values()),
        }
    )
