"""PDFs for people: the brief of an evaluation and the dossier of a batch."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import Field

from assayer.reports.pdf import brief_pdf, render_pdf
from orchestrator.access.roles import may
from orchestrator.api.acting import CallReader, ReportReader, actor_of
from orchestrator.api.common_schemas import Body
from orchestrator.api.identifiers import PathId
from orchestrator.api.openapi import problem_responses
from orchestrator.api.routes.evaluations import report_for
from orchestrator.api.routes.panel import panel_of
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.console.call_dossier import dossier_of
from orchestrator.jobs.api_keys import AuthenticatedCaller
from orchestrator.jobs.models import BatchId

__all__ = ["note_export", "pdf_response", "router"]

router = APIRouter(tags=["printed"])

_PDF = "application/pdf"
_BINARY = {"content": {_PDF: {"schema": {"type": "string", "format": "binary"}}}}
_BRIEF: dict[int | str, dict[str, Any]] = {200: {"description": "Two pages of A4", **_BINARY}}
_DOSSIER: dict[int | str, dict[str, Any]] = {200: {"description": "Pages of A4", **_BINARY}}


class DossierQuery(Body):
    ranking: str = Field(default="", pattern=r"^[A-Za-z0-9_-]{0,64}$")
    """The id of a ranking of these proposals, by which they are in order; without it by score."""


@router.get(
    "/v1/evaluations/{id}/brief", response_class=Response, responses={**_BRIEF, **problem_responses(404, 409, 410)}
)
async def brief(id: PathId, caller: ReportReader, services: ServicesDependency) -> Response:
    """The report on two pages, as PDF: scores, what speaks for and against, with quotes, what is not known, and room
    for notes. Without a report: 409 and why, or 410 when it has been deleted."""
    stored = await report_for(services, caller, id)
    pdf = await asyncio.to_thread(brief_pdf, stored, services.settings.fonts)
    await note_export(services, caller, id, "brief")
    return pdf_response(pdf, f"{id}-brief.pdf")


@router.get(
    "/v1/batches/{id}/dossier", response_class=Response, responses={**_DOSSIER, **problem_responses(404, 410, 422)}
)
async def dossier(
    id: PathId, query: Annotated[DossierQuery, Query()], caller: CallReader, services: ServicesDependency
) -> Response:
    """What came of a batch, for a file: every proposal with score, certainty, corpus fit and flags, refused rows with
    reasons; for roles that may see the panel also what people think. As PDF."""
    batch, tenant = BatchId(id), caller.tenant
    call = await services.find_batch(tenant, id)
    await services.figures.fill(tenant, batch)
    rows = await services.tables.all(tenant, batch, query.ranking)
    panel = await panel_of(services, tenant, batch) if may(caller.role, "see the panel") else None
    made = dossier_of(call, rows, query.ranking, panel, services.clock.now())
    pdf = await asyncio.to_thread(render_pdf, "dossier.typ", made, services.settings.fonts)
    await note_export(services, caller, batch, "dossier")
    return pdf_response(pdf, f"{id}.pdf")


async def note_export(services: Services, caller: AuthenticatedCaller, about: str, format: str) -> None:
    """In the audit log, where a person takes it out: machines fetch thousands."""
    if caller.role != "machine":
        now = services.clock.now()
        await services.audit_log.record(caller.tenant, actor_of(caller), "exported", about, now, format=format)


def pdf_response(pdf: bytes, name: str) -> Response:
    """Shown by browsers, and saved under that name."""
    headers = {
        "Cache-Control": "private, no-cache",
        "Content-Disposition": f'inline; filename="{name}"',
        "X-Content-Type-Options": "nosniff",
    }
    return Response(pdf, 200, headers, _PDF)
