"""Routes for reviewers' opinions and judgements on a proposal (`/v1/evaluations/{id}/opinions` and `/judgements`), and
for the text that reviewers read."""

from fastapi import APIRouter

from assayer_client.resources import Page
from assayer_client.reviewing import JudgementBody, OpinionBody, ProposalToRead
from orchestrator.api.permissions import OpinionReader, ProposalReader, ReportReader, ReviewerCaller
from orchestrator.jobs.models import JobId
from orchestrator.problems import build_missing_problem, require
from orchestrator.reviewing.models import Opinion, PointJudgement
from orchestrator.services.opinions import judge_point, read_proposal, require_answers
from orchestrator.web.path_parameters import PathId

router = APIRouter(prefix="/v1/evaluations/{id}", tags=["reviewing"])


@router.get("/proposal")
async def get_proposal_text(id: PathId, context: ProposalReader) -> ProposalToRead:
    """Return the proposal's text without any findings from its report. In blind mode the text is masked."""
    if context.caller.role == "reviewer":
        has_blind_opinion = await context.reviewing.assignments.has_blind_opinion(
            context.tenant, JobId(id), context.caller.subject
        )
        require(has_blind_opinion, build_missing_problem("evaluation", id))
    return await read_proposal(context.services.jobs, context.tenant, id)


@router.post("/opinions")
async def give_opinion(id: PathId, body: OpinionBody, context: ReviewerCaller) -> Opinion:
    """Submit a reviewer's first opinion, formed before seeing the report. It cannot be replaced, only revised. The
    report then becomes available to the reviewer. Repeating the request changes nothing."""
    await require_answers(context.services.call_details, context.tenant, JobId(id), body.answers)
    opinion = await context.reviewing.opinions.submit(context.tenant, JobId(id), body, context.by)
    return require(opinion, build_missing_problem("evaluation", id))


@router.patch("/opinions")
async def revise_opinion(id: PathId, body: OpinionBody, context: ReviewerCaller) -> Opinion:
    """Revise a reviewer's opinion after reading the report. The first opinion is kept as well."""
    await require_answers(context.services.call_details, context.tenant, JobId(id), body.answers)
    opinion = await context.reviewing.opinions.revise(context.tenant, JobId(id), body, context.by)
    return require(opinion, build_missing_problem("evaluation", id))


@router.get("/opinions")
async def list_opinions(id: PathId, context: OpinionReader) -> Page[Opinion]:
    """List reviewers' opinions on a proposal. A reviewer sees only their own."""
    await context.find_job(id, "evaluation")
    own_member = context.caller.subject if context.caller.role == "reviewer" else None
    return Page(
        items=tuple(
            await context.reviewing.opinions.list_opinions(context.tenant, evaluation=JobId(id), member=own_member)
        ),
        next=None,
    )


@router.post("/judgements")
async def create_judgement(
    id: PathId, body: JudgementBody, context: ReviewerCaller, _: ReportReader
) -> Page[PointJudgement]:
    """Agree or disagree with a point in the report; disagreement requires a reason. The latest judgement on a point
    counts. The response lists all of the caller's judgements on this report."""
    await judge_point(context.reviewing.opinions, context.services.jobs, context.tenant, JobId(id), body, context.by)
    own_judgements = await context.reviewing.opinions.list_judgements(context.tenant, JobId(id), context.caller.member)
    return Page(items=tuple(own_judgements), next=None)


@router.get("/judgements")
async def list_judgements(id: PathId, context: OpinionReader) -> Page[PointJudgement]:
    """List reviewers' judgements on points in the report. A reviewer sees only their own."""
    await context.find_job(id, "evaluation")
    own_member = context.caller.subject if context.caller.role == "reviewer" else None
    return Page(
        items=tuple(await context.reviewing.opinions.list_judgements(context.tenant, JobId(id), own_member)), next=None
    )
