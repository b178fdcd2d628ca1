"""Routes for PDFs: an evaluation's brief and contestation record, and a batch's dossier. The audit log records each
download as an export."""

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from assayer.reports.contestation import build_contestation
from assayer.reports.contestation_page import build_contestation_page
from assayer.reports.pdf import render_brief_pdf, render_pdf
from assayer_client.contestation import Contestation
from assayer_client.decisions import Decision
from orchestrator.access.roles import may
from orchestrator.api.permissions import CallReader, ReportReader
from orchestrator.api.routes.evaluations import load_report
from orchestrator.api.url_queries import UrlQuery
from orchestrator.jobs.models import BatchId
from orchestrator.services.call_dossier import build_dossier
from orchestrator.services.job_lookup import find_report
from orchestrator.services.panels import get_panel
from orchestrator.web.context import RouteContext
from orchestrator.web.path_parameters import PathId
from orchestrator.web.services import Services

router = APIRouter()

_MEDIA_TYPE = "application/pdf"
PDF_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The document", "content": {_MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}}
}


class DocumentQuery(UrlQuery):
    format: Literal["json", "pdf"] = "json"


class DossierQuery(UrlQuery):
    ranking: str = Field(default="", pattern=r"^[A-Za-z0-9_-]{0,64}$")
    """Id of the ranking whose ranks are shown. Defaults to the newest."""


@router.get("/v1/evaluations/{id}/brief", response_class=Response, responses=PDF_RESPONSES, tags=["printed"])
async def get_brief(id: PathId, context: ReportReader) -> Response:
    """Return the report as a two-page PDF: scores, strengths and weaknesses with quotes, unknowns, and room for notes.
    If there is no report, the status is 409 with the reason, or 410 if it has been deleted."""
    report = await load_report(context, id)
    pdf = await asyncio.to_thread(render_brief_pdf, report, context.services.settings.fonts)
    await _record_export(context, id, "brief")
    return _build_pdf_response(pdf, f"{id}-brief.pdf")


@router.get("/v1/batches/{id}/dossier", response_class=Response, responses=PDF_RESPONSES, tags=["printed"])
async def get_dossier(id: PathId, query: Annotated[DossierQuery, Query()], context: CallReader) -> Response:
    """Return a batch's record as a PDF: every proposal with its score, certainty, corpus fit and flags, and the
    rejected rows with reasons. For roles that may see the panel, it also contains reviewers' opinions and the
    decisions, and is sorted by them."""
    batch, tenant = BatchId(id), context.tenant
    call = await context.find_batch(id)
    rankings = await context.services.rankings.list_rankings(tenant, batch=batch, state="succeeded")
    ranking = query.ranking or (rankings[0].id if rankings else "")
    rows = await context.services.tables.list_rows(tenant, batch, ranking)
    panel, decisions, budget_use = None, list[Decision](), None
    if may(context.caller.role, "see the panel"):
        panel = await get_panel(context.reviewing, tenant, batch)
        decisions = await context.reviewing.proposal_decisions.list_decisions(tenant, batch)
        budget_use = await context.reviewing.proposal_decisions.get_budget_use(tenant, batch)
    dossier = build_dossier(call, rows, ranking, panel, context.now, decisions, budget_use)
    await _record_export(context, batch, "dossier")
    return await render_pdf_response(context.services, "dossier.typ", dossier, f"{id}.pdf")


@router.get(
    "/v1/evaluations/{id}/contestation", response_model=Contestation, responses=PDF_RESPONSES, tags=["evaluations"]
)
async def get_contestation(id: PathId, query: Annotated[DocumentQuery, Query()], context: CallReader) -> Response:
    """Return an evaluation's contestation record. It states what was evaluated and what was masked, and lists the
    models, prompts (with versions and digests), corpus and papers used. It can be shared with the applicant, because it
    contains nothing about other proposals or reviewers."""
    record = build_contestation(await find_report(context.services.jobs, context.tenant, id), id)
    await _record_export(context, id, "contestation")
    if query.format == "json":
        return Response(record.model_dump_json(), 200, {"Cache-Control": "private, no-cache"}, "application/json")
    return await render_pdf_response(
        context.services, "contestation.typ", build_contestation_page(record), f"{id}-contestation.pdf"
    )


async def _record_export(context: RouteContext, subject: str, format: str) -> None:
    """Record an export in the audit log."""
    await context.services.audit_log.record(context.tenant, context.by, "exported", subject, format=format)


async def render_pdf_response(services: Services, template: str, page: BaseModel, name: str) -> Response:
    """Return a PDF response with the page, typeset with the named Typst template."""
    return _build_pdf_response(await asyncio.to_thread(render_pdf, template, page, services.settings.fonts), name)


def _build_pdf_response(pdf: bytes, name: str) -> Response:
    """Return a PDF response that browsers display inline. `name` is the default file name for saving."""
    headers = {
        "Cache-Control": "private, no-cache",
        "Content-Disposition": f'inline; filename="{name}"',
        "X-Content-Type-Options": "nosniff",
    }
    return Response(pdf, 200, headers, _MEDIA_TYPE)
