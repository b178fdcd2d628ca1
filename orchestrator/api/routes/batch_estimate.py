"""Route `POST /v1/batches/estimate`: a batch's expected cost and duration. Nothing is stored."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from assayer.methods import grapheval
from assayer.models import Absent
from assayer_client.batches import BatchEstimate, ExpectedFit, RowsQuery
from orchestrator.api.expected_fit import estimate_fit
from orchestrator.api.routes.batch_upload import BATCH_BODY, BatchBody, build_no_usable_row_problem
from orchestrator.jobs.estimates import TypicalEvaluation, estimate_cost
from orchestrator.services.batch_summaries import parse_tags

_CUSTOM_BOARD_COST = Absent(
    reason="The cost of a custom board is unknown. Omit the board to see the cost with the default board."
)

_NO_LITERATURE_FIT = Absent(reason="This method does not use literature.")

router = APIRouter(prefix="/v1/batches", tags=["batches"])


@router.post("/estimate", openapi_extra=BATCH_BODY)
async def estimate_batch(query: Annotated[RowsQuery, Query()], body: Annotated[BatchBody, Depends()]) -> BatchEstimate:
    """Estimate a batch's cost and duration. Rows are parsed as in a submission, but not stored or evaluated."""
    intake, services, tenant = await body.read(query, 1), body.context.services, body.context.tenant
    if not intake.accepted:
        raise build_no_usable_row_problem(intake)
    ideas = len(intake.accepted) - len(intake.duplicates)
    pace = await services.costs.measure_pace(tenant, query.method)
    board_models = parse_tags(query.board_models)
    typical: TypicalEvaluation | Absent
    if query.board is None and not board_models:
        past_usage = await services.costs.list_usage(tenant, query.method, services.options.gpu_speeds)
        reason = (
            f"The typical cost of {query.method} is unknown, and you have too few finished evaluations with "
            "this method."
        )
        typical = services.options.typical_evaluations.get(query.method, Absent(reason=reason))
    else:
        past_usage = []  # past evaluations with the default board say nothing about the cost of a different one
        typical_board = services.options.get_typical_board
        typical = typical_board(query.board, board_models) if typical_board else _CUSTOM_BOARD_COST
    cost_estimate = estimate_cost(ideas, past_usage, typical, pace, query.max_usd)
    month_usage = await services.usage.get_month_budget(tenant)
    usd_left = month_usage.left_usd if month_usage else None
    estimate = None if isinstance(cost_estimate, Absent) else cost_estimate
    cost = cost_estimate if isinstance(cost_estimate, Absent) else cost_estimate.cost_usd
    high_cost = None if estimate is None else _get_known(estimate.high_cost_usd)
    hours = cost_estimate if isinstance(cost_estimate, Absent) else cost_estimate.hours
    fit: ExpectedFit | Absent = _NO_LITERATURE_FIT
    if query.method != grapheval.METHOD:
        ideas_with_text = [row.idea for row in intake.accepted if row.idea is not None]
        fit = await estimate_fit(services, ideas_with_text, query.cutoff)
    return BatchEstimate(
        method=query.method,
        rows=intake.row_count,
        accepted=len(intake.accepted),
        rejected=tuple(intake.rejected),
        duplicates=tuple(intake.duplicates),
        notices=tuple(intake.notices),
        ideas=ideas,
        unparsed_documents=sum(row.document is not None for row in intake.accepted),
        basis=estimate.basis if estimate else None,
        evaluations=estimate.evaluations if estimate else 0,
        llm_requests=estimate.calls if estimate else None,
        prompt_tokens=estimate.prompt_tokens if estimate else None,
        cached_prompt_tokens=estimate.cached_prompt_tokens if estimate else None,
        completion_tokens=estimate.completion_tokens if estimate else None,
        gpu_hours=estimate.gpu_hours if estimate else None,
        high_gpu_hours=estimate.high_gpu_hours if estimate else None,
        cost_usd=_get_known(cost),
        high_cost_usd=high_cost,
        cost_absent=cost.reason if isinstance(cost, Absent) else None,
        share_over_max_usd=_get_known(estimate.share_over_max_usd) if estimate else None,
        evaluations_ahead=pace.waiting,
        hours_to_finish=_get_known(hours),
        hours_absent=hours.reason if isinstance(hours, Absent) else None,
        remaining_this_month_usd=usd_left,
        exceeds_monthly_budget=None if usd_left is None or high_cost is None else high_cost > usd_left,
        corpus_fit=None if isinstance(fit, Absent) else fit,
        corpus_fit_absent=fit.reason if isinstance(fit, Absent) else None,
    )


def _get_known(value: float | Absent) -> float | None:
    return None if isinstance(value, Absent) else value
