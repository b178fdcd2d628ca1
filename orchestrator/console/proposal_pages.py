"""`/console/proposals`: one proposal beside its report, and two to four of them side by side."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from assayer.models import Report
from orchestrator.access.signed_in import SignedIn, allowed_to
from orchestrator.api.identifiers import PathId
from orchestrator.api.job_routes import find_job
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.console.scripted_page import page_response
from orchestrator.jobs.models import Job, TenantId
from orchestrator.jobs.report_figures import ReportFigures, figures_of

__all__ = ["router"]

router = APIRouter(prefix="/console", tags=["pages"], include_in_schema=False)

_LEAST, _MOST = 2, 4


@router.get("/proposals/{id}")
async def proposal(
    id: PathId,
    request: Request,
    who: Annotated[SignedIn, Depends(allowed_to("see calls"))],
    services: ServicesDependency,
) -> Response:
    job, report = await _found(services, who.tenant, id)
    return page_response(
        "proposal.html",
        request,
        who,
        job=job,
        report=report,
        figures=None if report is None else figures_of(report),
        waiting=await services.jobs.waiting_reason(who.tenant, job.id),
    )


@router.get("/compare")
async def compare(
    request: Request,
    who: Annotated[SignedIn, Depends(allowed_to("see calls"))],
    services: ServicesDependency,
    id: Annotated[list[str], Query(max_length=20)] = [],  # noqa: B006 - FastAPI copies it
) -> Response:
    """Chosen in a table."""
    chosen = list(dict.fromkeys(id))
    if not _LEAST <= len(chosen) <= _MOST:
        return page_response("choose.html", request, who, chosen=len(chosen), status=422)
    found = [await _found(services, who.tenant, one) for one in chosen]
    columns = [(job, report, None if report is None else figures_of(report)) for job, report in found]
    titles = {part.name: part.title for _, _, figures in columns if figures for part in figures.parts}
    shares = {name: [_share(figures, name) for _, _, figures in columns] for name in titles}
    return page_response(
        "compare.html", request, who, columns=columns, titles=titles, spread={n: _spread(v) for n, v in shares.items()}
    )


def _share(figures: ReportFigures | None, part: str) -> float | None:
    return next((one.share for one in figures.parts if one.name == part), None) if figures else None


def _spread(shares: list[float | None]) -> float | None:
    """Between the highest and the lowest; None where fewer than two have a score."""
    known = [one for one in shares if one is not None]
    return max(known) - min(known) if len(known) > 1 else None


async def _found(services: Services, tenant: TenantId, id: str) -> tuple[Job, Report | None]:
    """Raises HttpProblem (404)."""
    job = await find_job(services, tenant, id, "evaluation")
    return job, await services.jobs.report(tenant, job.id) if job.state == "done" else None
