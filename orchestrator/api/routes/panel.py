"""Routes for a call's outcome: its reviewers' opinions, scores set by officers, and its sign-off."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from assayer_client.reviewing import OverrideBody, Panel, SignOffBody
from orchestrator.api.permissions import Overrider, PanelReader, Signer
from orchestrator.api.url_queries import UrlQuery
from orchestrator.jobs.models import BatchId, JobId
from orchestrator.problems import build_missing_problem, require
from orchestrator.reviewing.models import ScoreOverride, SignOff
from orchestrator.services.panels import get_panel_page
from orchestrator.store.decisions import AllowedGaps
from orchestrator.web.pagination import decode_panel_cursor, encode_panel_cursor
from orchestrator.web.path_parameters import CallInPath, PathId

router = APIRouter(tags=["reviewing"])


class PanelQuery(UrlQuery):
    limit: int | None = Field(default=None, ge=1, le=1_000)
    """Rows per page; null returns all rows at once."""
    after: str | None = Field(default=None, max_length=200)
    """`next` from the previous page."""


@router.get("/v1/batches/{id}/panel")
async def get_panel(query: Annotated[PanelQuery, Query()], context: PanelReader, batch: CallInPath) -> Panel:
    """Return the opinions on each proposal in a batch, and how much reviewers agree before and after seeing the report.
    With a limit, rows are paged; figures and agreement always cover the whole batch."""
    cursor = decode_panel_cursor(query.after)
    panel, next_cursor = await get_panel_page(
        context.reviewing, context.tenant, batch.id, after=cursor, limit=query.limit
    )
    return panel.model_copy(update={"next": None if next_cursor is None else encode_panel_cursor(next_cursor)})


@router.post("/v1/evaluations/{id}/override")
async def override_score(id: PathId, body: OverrideBody, context: Overrider) -> ScoreOverride:
    """Override the reviewers' combined score with a score and a reason."""
    override = await context.reviewing.decisions.override_score(
        context.tenant, JobId(id), body.score, body.reason, context.by
    )
    return require(override, build_missing_problem("evaluation", id))


@router.post("/v1/batches/{id}/sign-off")
async def sign_off_batch(id: PathId, body: SignOffBody, context: Signer) -> SignOff:
    """Sign off the call. Rejected if opinions are missing, evaluations have not ended, or only some proposals have a
    decision, unless the body accepts this. After sign-off, the call accepts no rows, its evaluations cannot be
    cancelled or retried, and opinions, decisions, assignments, remarks and scores cannot be changed. An applicant's
    data can still be erased."""
    allowed = AllowedGaps(
        body.allow_missing_opinions, body.allow_unfinished_evaluations, body.allow_undecided_proposals
    )
    sign_off = await context.reviewing.decisions.sign_off(context.tenant, BatchId(id), body.note, allowed, context.by)
    return require(sign_off, build_missing_problem("batch", id))
