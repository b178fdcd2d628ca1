"""Page `/console/erase`: preview and delete all data about an applicant or a call, and download a proof of the
erasure."""

import hashlib
from collections import Counter
from typing import Annotated

from fastapi import APIRouter, Form, Query
from fastapi.responses import RedirectResponse
from starlette.responses import Response

from assayer_client.erasures import Erasure
from orchestrator.console.page_context import CallManager, Eraser, PageContext
from orchestrator.services.erasure_proofs import build_proof_page, get_proof
from orchestrator.services.erasures import carry_out_erasure, preview_erasure
from orchestrator.web.path_parameters import EntryNumber

router = APIRouter(prefix="/console/erase", tags=["pages"], include_in_schema=False)

_Source = Annotated[str, Query(max_length=300)]
_Batch = Annotated[str, Query(pattern=r"^[A-Za-z0-9_-]{0,64}$")]


@router.get("")
async def show_preview(context: CallManager, source: _Source = "", batch: _Batch = "") -> Response:
    """Show what would be deleted. Officers can see this preview; only an owner can delete the data."""
    return await _render_preview(context, source, batch)


@router.post("")
async def erase_data(
    context: Eraser,
    preview_digest: Annotated[str, Form(alias="shown", max_length=64)],
    source: Annotated[str, Form(max_length=300)] = "",
    batch: Annotated[str, Form(pattern=r"^[A-Za-z0-9_-]{0,64}$")] = "",
) -> Response:
    """Delete the previewed data. If it has changed since the preview, show the preview again instead."""
    erasure = await _preview_erasure(context, source, batch)
    if erasure is None or _compute_digest(erasure) != preview_digest:
        return await _render_preview(context, source, batch, changed=True)
    erased = await carry_out_erasure(context.services.erasures, context.tenant, source or None, erasure, context.by)
    return RedirectResponse(f"/console/erase/{erased.proof}", 303)


@router.get("/{number}")
async def show_proof(number: EntryNumber, context: Eraser) -> Response:
    erasure_proof = await get_proof(
        context.services.audit_log, context.services.erasures, context.tenant, number, context.now
    )
    return context.render_page("erased.html", proof=erasure_proof, proof_page=build_proof_page(erasure_proof))


async def _render_preview(context: PageContext, applicant_name: str, batch: str, changed: bool = False) -> Response:
    erasure = await _preview_erasure(context, applicant_name, batch)
    listed_ids = {job.id for job in erasure.jobs} if erasure else set()
    proposals_with_name = await context.services.applicants.find_by_name(context.tenant, applicant_name)
    return context.render_page(
        "erase.html",
        status=409 if changed else 200,
        source=applicant_name,
        batch=batch,
        both=bool(applicant_name and batch),
        changed=changed,
        erasure=erasure,
        kinds=Counter(job.kind for job in erasure.jobs) if erasure else {},
        digest=_compute_digest(erasure) if erasure else "",
        calls=await context.services.jobs.list_batches(context.tenant, after=None, limit=100),
        other_proposals=[proposal for proposal in proposals_with_name if proposal.id not in listed_ids],
        members_with_name=await context.reviewing.expertise.find_members_by_mention(context.tenant, applicant_name),
    )


async def _preview_erasure(context: PageContext, applicant_name: str, batch: str) -> Erasure | None:
    """Return what would be deleted; None unless exactly one of `applicant_name` and `batch` is passed."""
    if bool(applicant_name) == bool(batch):
        return None
    return await preview_erasure(
        context.services.erasures, context.services.jobs, context.tenant, applicant_name or None, batch or None
    )


def _compute_digest(erasure: Erasure) -> str:
    rankings = (
        f"{ranking.id} {ranking.removed_proposals} {ranking.remaining_proposals}"
        for ranking in erasure.redacted_rankings
    )
    parts = [*(job.id for job in erasure.jobs), *rankings, str(erasure.rejected_rows), erasure.batch or ""]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
