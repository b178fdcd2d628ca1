"""Routes for the outcome of a call: its reviewers' opinions, scores set by officers, and its sign-off."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from assayer_client.reviewing import OverrideBody, Panel, SignOffBody
from orchestrator.api.acting import Overrider, PanelReader, Signer
from orchestrator.api.url_queries import UrlQuery
from orchestrator.jobs.models import BatchId, JobId
from orchestrator.problems import not_there, required
from orchestrator.reviewing.models import ScoreOverride, SignOff
from orchestrator.services.panels import panel_page
from orchestrator.store.decisions import SignedDespite
from orchestrator.web.pagination import decode_panel_cursor, encode_panel_cursor
from orchestrator.web.path_parameters import PathId
from orchestrator.web.things_in_paths import CallInPath

router = APIRouter(tags=["reviewing"])


class PanelQuery(UrlQuery):
    limit: int | None = Field(default=None, ge=1, le=1_000)
    """Rows per page; null for all rows at once."""
    after: str | None = Field(default=None, max_length=200)
    """Value of `next` on the previous page."""


@router.get("/v1/batches/{id}/panel")
async def get_panel(query: Annotated[PanelQuery, Query()], context: PanelReader, batch: CallInPath) -> Panel:
    """Return the opinions on each proposal of a batch, and how far reviewers agree before and after seeing the
    program's report. With a limit, rows are paged; figures and agreement always cover the whole batch."""
    after = decode_panel_cursor(query.after)
    panel, following = await panel_page(context.reviewing, context.tenant, batch.id, after=after, limit=query.limit)
    return panel.model_copy(update={"next": None if following is None else encode_panel_cursor(following)})


@router.post("/v1/evaluations/{id}/override")
async def override_score(id: PathId, body: OverrideBody, context: Overrider) -> ScoreOverride:
    """Set the score that counts instead of the reviewers' combined score, with a reason."""
    made = await context.reviewing.decisions.override(context.tenant, JobId(id), body.score, body.reason, context.by)
    return required(made, not_there("evaluation", id))


@router.post("/v1/batches/{id}/sign-off")
async def sign_off_batch(id: PathId, body: SignOffBody, context: Signer) -> SignOff:
    """Sign off the call. Rejected while opinions are missing, evaluations have not ended, or some but not all proposals
    have a decision, unless the body says to proceed. After sign-off, the call accepts no rows, its evaluations cannot
    be cancelled or retried, and opinions, decisions, assignments, remarks and scores cannot change. An applicant's data
    can still be erased."""
    despite = SignedDespite(body.despite_missing, body.despite_unfinished, body.despite_undecided)
    signed = await context.reviewing.decisions.sign_off(context.tenant, BatchId(id), body.note, despite, context.by)
    return required(signed, not_there("batch", id))
