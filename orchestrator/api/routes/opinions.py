"""Routes of reviewers' opinions on a proposal: `/v1/evaluations/{id}/opinions`, `/judgements`, and the text they
read."""

from fastapi import APIRouter

from assayer_client.resources import Page
from assayer_client.reviewing import JudgementBody, OpinionBody, ProposalToRead
from orchestrator.api.acting import OpinionReader, ProposalReader, ReportReader, ReviewerCaller
from orchestrator.jobs.models import JobId
from orchestrator.problems import not_there, required
from orchestrator.reviewing.models import Opinion, PointJudgement
from orchestrator.services.job_lookup import find_job
from orchestrator.services.opinions import judge_point, read_proposal
from orchestrator.web.path_parameters import PathId
from orchestrator.web.services import ServicesDependency

router = APIRouter(prefix="/v1/evaluations/{id}", tags=["reviewing"])


@router.get("/proposal")
async def get_proposal_text(id: PathId, caller: ProposalReader, services: ServicesDependency) -> ProposalToRead:
    """Return the text of the proposal, masked if it is judged blind, without any of the program's findings."""
    if caller.role == "reviewer":
        blind_given = await services.reviewing.assignments.blind_given(caller.tenant, JobId(id), caller.subject)
        required(blind_given, not_there("evaluation", id))
    return await read_proposal(services.jobs, caller.tenant, id)


@router.post("/opinions")
async def give_opinion(id: PathId, body: OpinionBody, caller: ReviewerCaller, services: ServicesDependency) -> Opinion:
    """Submit a reviewer's first opinion, formed before seeing the program's. It is final; then the report opens.
    Repeating the request changes nothing."""
    opinion = await services.reviewing.opinions.give(
        caller.tenant, JobId(id), body.score, body.note, services.by(caller)
    )
    return required(opinion, not_there("evaluation", id))


@router.patch("/opinions")
async def revise_opinion(
    id: PathId, body: OpinionBody, caller: ReviewerCaller, services: ServicesDependency
) -> Opinion:
    """Revise a reviewer's opinion after reading the report. The first opinion is kept too."""
    revised = await services.reviewing.opinions.revise(
        caller.tenant, JobId(id), body.score, body.note, services.by(caller)
    )
    return required(revised, not_there("evaluation", id))


@router.get("/opinions")
async def list_opinions(
    id: PathId,
    caller: OpinionReader,
    services: ServicesDependency,
) -> Page[Opinion]:
    """List the opinions of reviewers on a proposal; a reviewer sees only their own."""
    await find_job(services.jobs, caller.tenant, id, "evaluation")
    own = caller.subject if caller.role == "reviewer" else None
    return Page(
        items=tuple(await services.reviewing.opinions.of(caller.tenant, evaluation=JobId(id), member=own)), next=None
    )


@router.post("/judgements")
async def create_judgement(
    id: PathId, body: JudgementBody, caller: ReviewerCaller, reader: ReportReader, services: ServicesDependency
) -> Page[PointJudgement]:
    """Agree or disagree with a point of the report, with a reason. The last judgement of a point counts. Returns
    all of the caller's judgements."""
    await judge_point(services.reviewing.opinions, services.jobs, reader.tenant, JobId(id), body, services.by(caller))
    own = await services.reviewing.opinions.judgements(caller.tenant, JobId(id), caller.member)
    return Page(items=tuple(own), next=None)


@router.get("/judgements")
async def list_judgements(
    id: PathId,
    caller: OpinionReader,
    services: ServicesDependency,
) -> Page[PointJudgement]:
    """List whether reviewers agree with points of the report; a reviewer sees only their own judgements."""
    await find_job(services.jobs, caller.tenant, id, "evaluation")
    own = caller.subject if caller.role == "reviewer" else None
    return Page(items=tuple(await services.reviewing.opinions.judgements(caller.tenant, JobId(id), own)), next=None)
