"""Routes for decisions on the proposals of a call: fund, reserve or decline, and the use of the budget."""

from fastapi import APIRouter

from assayer_client.decisions import CallDecisions, DecisionBody
from orchestrator.api.acting import Overrider, PanelReader
from orchestrator.jobs.models import BatchId
from orchestrator.problems import not_there, required
from orchestrator.web.context import RouteContext
from orchestrator.web.path_parameters import PathId

router = APIRouter(prefix="/v1/batches/{id}/decisions", tags=["reviewing"])


@router.get("")
async def list_decisions(id: PathId, context: PanelReader) -> CallDecisions:
    """List the decisions on the proposals of a batch, and how they use its budget."""
    return await _decisions(context, (await context.find_batch(id)).id)


@router.post("")
async def decide(id: PathId, body: DecisionBody, context: Overrider) -> CallDecisions:
    """Decide on proposals of a batch. Rejected once the batch is signed off, and if another decision on one of them has
    been made since the version that the body names; then nothing is decided. Decisions beyond the budget are accepted,
    and `over_budget` says so."""
    batch = (await context.find_batch(id)).id
    decided = await context.reviewing.proposal_decisions.decide(context.tenant, batch, body, context.by)
    required(decided, not_there("evaluation", body.proposals[0].evaluation, "proposal in this batch"))
    return await _decisions(context, batch)


async def _decisions(context: RouteContext, batch: BatchId) -> CallDecisions:
    store = context.reviewing.proposal_decisions
    use = await store.budget_use(context.tenant, batch)
    return CallDecisions(budget=use, decisions=tuple(await store.all(context.tenant, batch)))
