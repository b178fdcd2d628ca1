"""`POST /v1/batches/estimate`: what a batch would cost, and how long it would take. Nothing of it is stored."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request

from assayer.methods import grapheval
from assayer.models import Absent
from assayer.models.base import Dollars
from orchestrator.api.authentication import Submitter
from orchestrator.api.common_schemas import Resource, RowError
from orchestrator.api.expected_fit import ExpectedFit, expected_fit
from orchestrator.api.openapi import problem_responses
from orchestrator.api.routes.batch_upload import BATCH_BODY, Duplicate, RowsQuery, no_usable_row, read_batch, tags_in
from orchestrator.api.services import ServicesDependency, UploadLimitDependency
from orchestrator.jobs.estimates import TypicalEvaluation, estimate

__all__ = ["BatchEstimate", "router"]


class BatchEstimate(Resource):
    """What the rows would take. Figures are of all ideas together; those that are null are not known."""

    method: str
    rows: int
    accepted: int
    rejected: tuple[RowError, ...]
    """Rows that hold no usable idea."""
    duplicates: tuple[Duplicate, ...]
    """Rows with the words of an earlier one: paid for once."""
    notices: tuple[str, ...]
    """How a file was read, where that may be unexpected."""
    ideas: int
    """Different ones."""
    basis: Literal["own", "typical"] | None
    """Your own evaluations by this method within the last 30 days, or the figures that come with the program, with
    the service's prices."""
    evaluations: int
    """Of your own that were looked at; 0 for `typical`."""
    calls: int | None
    """Of language models, those that the cache will answer included."""
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: Dollars | None
    high_cost_usd: Dollars | None
    """If every idea cost as much as the dearest tenth."""
    cost_absent: str | None
    """Why the cost is null."""
    cut_short: float | None
    """Share of your evaluations that cost more than `max_usd` allows: such ideas end incomplete."""
    waiting: int
    """Evaluations of your own that have been accepted and have not ended: they go first."""
    hours: float | None
    """Until the last one ends, after those waiting, at the pace at which yours ended within the last hour."""
    hours_absent: str | None
    """Why the time is null."""
    left_this_month_usd: Dollars | None
    """Null: there is no limit."""
    exceeds_month: bool | None
    """It may cost more than is left. Null: there is no limit, or the cost is not known."""
    corpus_fit: ExpectedFit | None
    """Whether the corpus covers the proposals' fields. Null: it is not known."""
    corpus_fit_absent: str | None
    """Why that is null."""


_OTHER_BOARD = Absent(
    reason="What another board takes is not known. Leave the board out to see what the service's own takes."
)

_NO_LITERATURE = Absent(reason="This method reads no literature.")

router = APIRouter(prefix="/v1/batches", tags=["batches"])


@router.post("/estimate", openapi_extra=BATCH_BODY, responses=problem_responses(413, 415, 422))
async def estimate_batch(
    request: Request,
    query: Annotated[RowsQuery, Query()],
    caller: Submitter,
    services: ServicesDependency,
    uploads: UploadLimitDependency,
) -> BatchEstimate:
    """Reads a batch as a submission would, and says what it would cost. Nothing is stored or evaluated."""
    intake = await read_batch(request, caller.tenant, uploads, services, query, 1)
    if not intake.accepted:
        raise no_usable_row(intake)
    ideas = len(intake.accepted) - len(intake.duplicates)
    pace = await services.costs.pace(caller.tenant, query.method)
    models = tags_in(query.board_models)
    typical: TypicalEvaluation | Absent
    if query.board is None and not models:
        own = await services.costs.taken(caller.tenant, query.method)
        unmeasured = f"What {query.method} takes has not been measured, and too few of yours have ended."
        typical = services.typical.get(query.method, Absent(reason=unmeasured))
    else:
        own = []  # evaluations by the usual board tell nothing of another
        typical = services.typical_board(query.board, models) if services.typical_board else _OTHER_BOARD
    found = estimate(ideas, own, typical, pace, query.max_usd)
    month = await services.usage.month(caller.tenant)
    left = month.left_usd if month else None
    known = None if isinstance(found, Absent) else found
    cost = found if isinstance(found, Absent) else found.cost_usd
    high = None if known is None else _known(known.high_cost_usd)
    hours = found if isinstance(found, Absent) else found.hours
    fit: ExpectedFit | Absent = _NO_LITERATURE
    if query.method != grapheval.METHOD:
        texts = [row.idea for row in intake.accepted if row.idea is not None]
        fit = await expected_fit(services, texts, query.cutoff)
    return BatchEstimate(
        method=query.method,
        rows=intake.rows,
        accepted=len(intake.accepted),
        rejected=tuple(RowError(**row.model_dump()) for row in intake.rejected),
        duplicates=tuple(Duplicate(**one.model_dump()) for one in intake.duplicates),
        notices=tuple(intake.notices),
        ideas=ideas,
        basis=known.basis if known else None,
        evaluations=known.evaluations if known else 0,
        calls=known.calls if known else None,
        prompt_tokens=known.prompt_tokens if known else None,
        completion_tokens=known.completion_tokens if known else None,
        cost_usd=_known(cost),
        high_cost_usd=high,
        cost_absent=cost.reason if isinstance(cost, Absent) else None,
        cut_short=_known(known.cut_short) if known else None,
        waiting=pace.waiting,
        hours=_known(hours),
        hours_absent=hours.reason if isinstance(hours, Absent) else None,
        left_this_month_usd=left,
        exceeds_month=None if left is None or high is None else high > left,
        corpus_fit=None if isinstance(fit, Absent) else fit,
        corpus_fit_absent=fit.reason if isinstance(fit, Absent) else None,
    )


def _known(value: float | Absent) -> float | None:
    return None if isinstance(value, Absent) else value
