"""Routes for applicants, and for decisions on their proposals (fund, reserve or decline) and the resulting use of the
budget."""

from fastapi import APIRouter

from assayer_client.decisions import Applicant, ApplicantBody, CallDecisions, DecisionBody
from orchestrator.api.permissions import CallManager, CallReader, Overrider, PanelReader
from orchestrator.jobs.models import BatchId, JobId
from orchestrator.problems import build_missing_problem, require
from orchestrator.web.context import RouteContext
from orchestrator.web.path_parameters import CallInPath, PathId

router = APIRouter(tags=["reviewing"])


@router.get("/v1/batches/{id}/decisions")
async def list_decisions(context: PanelReader, call: CallInPath) -> CallDecisions:
    """List the decisions on a batch's proposals, and how they use its budget."""
    return await _load_decisions(context, call.id)


@router.post("/v1/batches/{id}/decisions")
async def decide_proposals(body: DecisionBody, context: Overrider, call: CallInPath) -> CallDecisions:
    """Decide on proposals in a batch. Rejected once the batch is signed off. Also rejected as a whole if the decision
    on one of the proposals has changed since the version stated in the body. Decisions that exceed the budget are
    accepted and reported in `over_budget`."""
    decisions = await context.reviewing.proposal_decisions.decide(context.tenant, call.id, body, context.by)
    require(
        decisions,
        build_missing_problem(
            "evaluation", body.proposals[0].evaluation, "At least one of these proposals is not in this batch."
        ),
    )
    return await _load_decisions(context, call.id)


@router.get("/v1/evaluations/{id}/applicant")
async def get_applicant(id: PathId, context: CallReader) -> Applicant:
    """Return a proposal's applicant, the columns of its spreadsheet row that are not part of its text, and other
    proposals with the same text."""
    applicant = await context.services.applicants.get(context.tenant, JobId(id))
    return require(applicant, build_missing_problem("evaluation", id))


@router.put("/v1/evaluations/{id}/applicant")
async def change_applicant(id: PathId, body: ApplicantBody, context: CallManager) -> Applicant:
    """Set a proposal's applicant. The columns of the proposal's spreadsheet row are unchanged."""
    if not await context.services.applicants.change(context.tenant, JobId(id), body, context.by):
        raise build_missing_problem("evaluation", id)
    return await get_applicant(id, context)


async def _load_decisions(context: RouteContext, batch: BatchId) -> CallDecisions:
    store = context.reviewing.proposal_decisions
    budget_use = await store.get_budget_use(context.tenant, batch)
    return CallDecisions(budget=budget_use, decisions=tuple(await store.list_decisions(context.tenant, batch)))
