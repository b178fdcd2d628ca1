"""Routes for applicants, and for decisions on their proposals: fund, reserve or decline, and the use of the budget."""

from fastapi import APIRouter

from assayer_client.decisions import Applicant, ApplicantBody, CallDecisions, DecisionBody
from orchestrator.api.acting import CallChanger, CallReader, Overrider, PanelReader
from orchestrator.jobs.models import BatchId, JobId
from orchestrator.problems import not_there, required
from orchestrator.web.context import RouteContext
from orchestrator.web.path_parameters import PathId
from orchestrator.web.things_in_paths import CallInPath

router = APIRouter(tags=["reviewing"])


@router.get("/v1/batches/{id}/decisions")
async def list_decisions(context: PanelReader, call: CallInPath) -> CallDecisions:
    """List the decisions on the proposals of a batch, and how they use its budget."""
    return await _decisions(context, call.id)


@router.post("/v1/batches/{id}/decisions")
async def decide_proposals(body: DecisionBody, context: Overrider, call: CallInPath) -> CallDecisions:
    """Decide on proposals of a batch. Rejected once the batch is signed off, and if another decision on one of them has
    been made since the version that the body names; then nothing is decided. Decisions beyond the budget are accepted,
    and `over_budget` says so."""
    decided = await context.reviewing.proposal_decisions.decide(context.tenant, call.id, body, context.by)
    required(decided, not_there("evaluation", body.proposals[0].evaluation, "proposal in this batch"))
    return await _decisions(context, call.id)


@router.get("/v1/evaluations/{id}/applicant")
async def get_applicant(id: PathId, context: CallReader) -> Applicant:
    """Return the applicant of a proposal, the columns of its row that are not part of its text, and other proposals
    with the same text."""
    found = await context.services.applicants.of(context.tenant, JobId(id))
    return required(found, not_there("evaluation", id))


@router.put("/v1/evaluations/{id}/applicant")
async def change_applicant(id: PathId, body: ApplicantBody, context: CallChanger) -> Applicant:
    """Store who applies. The columns of the proposal's row stay as they are."""
    if not await context.services.applicants.change(context.tenant, JobId(id), body, context.by):
        raise not_there("evaluation", id)
    return await get_applicant(id, context)


async def _decisions(context: RouteContext, batch: BatchId) -> CallDecisions:
    store = context.reviewing.proposal_decisions
    use = await store.budget_use(context.tenant, batch)
    return CallDecisions(budget=use, decisions=tuple(await store.all(context.tenant, batch)))
