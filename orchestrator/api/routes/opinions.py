"""What reviewers think of a proposal: `/v1/evaluations/{id}/opinions`, `/judgements`, and the text they read."""

import asyncio
import re
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from assayer.blinding.blind import blinded
from assayer.errors import InputError
from assayer.models import Point, Report
from orchestrator.access.audit_chain import Actor
from orchestrator.access.roles import MemberId
from orchestrator.api.acting import ProposalReader, ReportReader, ReviewerCaller, acting, actor_of
from orchestrator.api.common_schemas import Body, Page, Resource
from orchestrator.api.content_negotiation import json_only
from orchestrator.api.identifiers import PathId
from orchestrator.api.job_routes import find_job
from orchestrator.api.openapi import problem_responses
from orchestrator.api.problems import HttpProblem, not_there
from orchestrator.api.routes.panel import Reason
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.jobs.api_keys import AuthenticatedCaller
from orchestrator.jobs.models import JobId, TenantId
from orchestrator.jobs.requests import EvaluationRequest
from orchestrator.reviewing.models import Opinion, PointJudgement, ScoreOfPerson

__all__ = ["JudgementBody", "OpinionBody", "ProposalToRead", "judge_point", "read_proposal", "router"]

Note = Annotated[str, Field(max_length=20_000)]
_POINTER = re.compile(r"(?:/[A-Za-z_]{1,40}|/[0-9]{1,4}){1,12}")

router = APIRouter(prefix="/v1/evaluations/{id}", tags=["reviewing"])


class OpinionBody(Body):
    score: ScoreOfPerson
    """From 1, weak, to 5, outstanding."""
    note: Note = ""


class JudgementBody(Body):
    point: str = Field(max_length=300)
    """JSON Pointer to a point of the report: `/parts/0/strengths/2`."""
    agrees: bool
    reason: Reason


class ProposalToRead(Resource):
    """A proposal as its reviewers read it."""

    evaluation: str
    title: str
    text: str
    masked: bool
    """What says whose it is was masked, as for the program."""


@router.get("/proposal", responses=problem_responses(404, 409, 410, 422))
async def proposal(id: PathId, caller: ProposalReader, services: ServicesDependency) -> ProposalToRead:
    """The proposal itself, masked where it is judged blind; nothing of what the program thinks of it."""
    if caller.role == "reviewer":
        member = caller.member or MemberId(caller.key)
        if await services.assignments.standing(caller.tenant, JobId(id), member) is None:
            raise not_there("evaluation", id)
    return await read_proposal(services, caller.tenant, id)


async def read_proposal(services: Services, tenant: TenantId, id: str) -> ProposalToRead:
    """As its reviewers may read it. Raises HttpProblem: 404, or 409 while its text has not been read."""
    job = await find_job(services, tenant, id, "evaluation")
    request = await services.jobs.request(tenant, job.id)
    if not isinstance(request, EvaluationRequest):
        raise not_there("evaluation", id)
    if request.idea is not None:
        try:
            idea = await asyncio.to_thread(blinded, request.idea) if request.blind else request.idea
        except InputError:
            raise HttpProblem("conflict", "It says little but whose it is: masked, nothing is left to read.") from None
        return ProposalToRead(evaluation=job.id, title=idea.title, text=idea.text, masked=request.blind)
    report = await services.jobs.report(tenant, job.id)
    if report is None:
        raise HttpProblem("not-finished", "It came as a document, whose text is there once it has been read.")
    return ProposalToRead(evaluation=job.id, title=report.idea.title, text=report.idea.text, masked=request.blind)


@router.post(
    "/opinions", responses=problem_responses(400, 404, 409, 410, 413, 415, 422), dependencies=[Depends(json_only)]
)
async def give(id: PathId, body: OpinionBody, caller: ReviewerCaller, services: ServicesDependency) -> Opinion:
    """A reviewer's first opinion, given without knowing the program's. It stays; then the report opens. Sent again, it
    changes nothing."""
    given = await services.opinions.give(
        caller.tenant, JobId(id), body.score, body.note, actor_of(caller), services.clock.now()
    )
    if given is None:
        raise not_there("evaluation", id)
    return given


@router.patch(
    "/opinions", responses=problem_responses(400, 404, 409, 410, 413, 415, 422), dependencies=[Depends(json_only)]
)
async def revise(id: PathId, body: OpinionBody, caller: ReviewerCaller, services: ServicesDependency) -> Opinion:
    """A reviewer's opinion after having read the report. The first one is kept beside it."""
    revised = await services.opinions.revise(
        caller.tenant, JobId(id), body.score, body.note, actor_of(caller), services.clock.now()
    )
    if revised is None:
        raise not_there("evaluation", id)
    return revised


@router.get("/opinions", responses=problem_responses(404, 410, 422))
async def opinions(
    id: PathId,
    caller: Annotated[AuthenticatedCaller, Depends(acting("see the panel", "give opinions", scope="read"))],
    services: ServicesDependency,
) -> Page[Opinion]:
    """What reviewers think of a proposal; a reviewer sees their own opinion alone."""
    await find_job(services, caller.tenant, id, "evaluation")
    own = (caller.member or MemberId(caller.key)) if caller.role == "reviewer" else None
    return Page(items=tuple(await services.opinions.of(caller.tenant, evaluation=JobId(id), member=own)), next=None)


@router.post(
    "/judgements", responses=problem_responses(400, 404, 409, 410, 413, 415, 422), dependencies=[Depends(json_only)]
)
async def judge(
    id: PathId, body: JudgementBody, caller: ReviewerCaller, reader: ReportReader, services: ServicesDependency
) -> Page[PointJudgement]:
    """Agrees or disagrees with one point of the report, with a reason. The last judgement of a point counts. Answers
    with all of one's own."""
    await judge_point(services, reader.tenant, JobId(id), body, actor_of(caller))
    own = await services.opinions.judgements(caller.tenant, JobId(id), caller.member)
    return Page(items=tuple(own), next=None)


async def judge_point(services: Services, tenant: TenantId, id: JobId, body: JudgementBody, actor: Actor) -> bool:
    """False where the proposal is not assigned to them. Raises HttpProblem where there is no such point,
    ReviewRefused."""
    report = await services.jobs.report(tenant, id)
    if report is None:
        raise HttpProblem("not-finished", "There is no report yet.")
    if not _is_point(report, body.point):
        raise HttpProblem.invalid("There is no point of the report at this place.", "/point")
    now = services.clock.now()
    return await services.opinions.judge(tenant, id, body.point, body.agrees, body.reason, actor, now)


@router.get("/judgements", responses=problem_responses(404, 410, 422))
async def judgements(
    id: PathId,
    caller: Annotated[AuthenticatedCaller, Depends(acting("see the panel", "give opinions", scope="read"))],
    services: ServicesDependency,
) -> Page[PointJudgement]:
    """Whether reviewers agree with points of the report; a reviewer sees their own judgements alone."""
    await find_job(services, caller.tenant, id, "evaluation")
    own = (caller.member or MemberId(caller.key)) if caller.role == "reviewer" else None
    return Page(items=tuple(await services.opinions.judgements(caller.tenant, JobId(id), own)), next=None)


def _is_point(report: Report, pointer: str) -> bool:
    """Whether it leads to a claim of the report; notices and masked words are none."""
    if not _POINTER.fullmatch(pointer):
        return False
    found: object = report
    for step in pointer[1:].split("/"):
        if isinstance(found, BaseModel) and step in type(found).model_fields:
            found = getattr(found, step)
        elif isinstance(found, tuple) and step.isdigit() and int(step) < len(found):
            found = found[int(step)]
        else:
            return False
    return isinstance(found, Point)
