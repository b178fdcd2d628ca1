"""Routes for funding calls: create a call without proposals, and read the terms shown to reviewers."""

from fastapi import APIRouter

from assayer_client.batches import BatchResource
from assayer_client.calls import CallBody, CallTerms
from orchestrator.api.idempotency import CreationDependency
from orchestrator.api.permissions import CallManager, ProposalReader
from orchestrator.api.routes.batches import build_batch_resource
from orchestrator.jobs.models import BatchId, JobId
from orchestrator.problems import build_missing_problem, require
from orchestrator.services.batch_summaries import build_batch_path
from orchestrator.services.call_criteria import parse_criterion_bodies
from orchestrator.web.path_parameters import PathId

router = APIRouter(tags=["batches"])


@router.post("/v1/calls", status_code=201)
async def create_call(body: CallBody, context: CallManager, creation: CreationDependency) -> BatchResource:
    """Create a funding call, which is a batch with terms but without proposals. Add proposals with `POST
    /v1/batches/{id}/rows` and `reopen=true`. A repeated request returns the call in its current state."""
    parse_criterion_bodies(body.terms.criteria, "/terms/criteria")
    call_id = BatchId(context.services.new_id("bt"))
    details = {name: getattr(body, name) for name in CallBody.model_fields}
    record = await creation.build_record(b"{}", build_batch_path(call_id))
    store, member = context.services.call_details, context.caller.member
    stored_id = await store.create(context.tenant, call_id, details, member, context.by, record)
    return await build_batch_resource(context, await context.find_batch(stored_id))


@router.get("/v1/evaluations/{id}/terms")
async def get_review_terms(id: PathId, context: ProposalReader) -> CallTerms:
    """Return the terms of the call that a proposal belongs to, including its criteria and review form. Reviewers can
    read them only for proposals assigned to them."""
    if context.caller.role == "reviewer":
        has_blind_opinion = await context.reviewing.assignments.has_blind_opinion(
            context.tenant, JobId(id), context.caller.subject
        )
        require(has_blind_opinion, build_missing_problem("evaluation", id))
    job = await context.find_job(id, "evaluation")
    return await context.services.call_details.get_terms(context.tenant, job.id)
