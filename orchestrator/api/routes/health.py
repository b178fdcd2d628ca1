"""Routes `/healthz`, `/readyz` and `/metrics`, which are meant for probes and Prometheus rather than tenants."""

import logging
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST

from assayer.errors import StorageError
from assayer_client.resources import Resource
from orchestrator.api.metrics import render_metrics
from orchestrator.problems import Check, HttpProblem
from orchestrator.web.authentication import require_scope
from orchestrator.web.readiness import ReadinessDependency
from orchestrator.web.services import ServicesDependency


class Health(Resource):
    status: str
    checks: tuple[Check, ...] = ()


_LOG = logging.getLogger(__name__)

router = APIRouter(tags=["operation"])

_METRICS_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "Prometheus' text format", "content": {"text/plain": {"schema": {"type": "string"}}}}
}


@router.get("/healthz")
async def check_liveness() -> Health:
    """Confirm that this process responds, without checking anything else."""
    return Health(status="alive")


@router.get("/readyz")
async def check_readiness(services: ServicesDependency, readiness: ReadinessDependency) -> Health:
    """Report whether evaluations can be accepted and run, with a result for each dependency. Results are at most a few
    seconds old."""
    checks = await readiness.run_checks()
    failed = [check for check in checks if not check.ok]
    if failed:
        detail = " ".join(f"{check.name}: {check.detail}" for check in failed)
        raise HttpProblem("not-ready", detail, checks=checks)
    return Health(status="ready", checks=checks)


@router.get(
    "/metrics",
    response_class=Response,
    responses=_METRICS_RESPONSES,
    openapi_extra={"security": [{"apiKey": ["metrics"]}]},
)
async def get_metrics(request: Request, services: ServicesDependency) -> Response:
    """Return metrics for the whole cluster (read from the database) and for this process. They name every tenant, so
    the scope `metrics` or `admin` is required unless the settings make them public."""
    if not services.settings.open_metrics:
        require_scope(request.scope["assayer.caller"], "metrics")
    try:
        service_metrics = await services.metrics.collect()
    except StorageError as error:
        _LOG.warning("the database did not respond; returning only this process's metrics: %s", error)
        service_metrics = None
    return Response(render_metrics(service_metrics), media_type=CONTENT_TYPE_LATEST)
