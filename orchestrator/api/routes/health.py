"""`/healthz`, `/readyz` and `/metrics`: for probes and Prometheus, not for tenants."""

import logging
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST

from assayer.errors import StorageError
from orchestrator.api.authentication import require_scope
from orchestrator.api.common_schemas import Check, Resource
from orchestrator.api.metrics import prometheus_text
from orchestrator.api.openapi import problem_responses, public_problem_responses
from orchestrator.api.problems import HttpProblem
from orchestrator.api.readiness import ReadinessDependency
from orchestrator.api.services import ServicesDependency

__all__ = ["Health", "router"]


class Health(Resource):
    status: str
    checks: tuple[Check, ...] = ()


_LOG = logging.getLogger(__name__)

router = APIRouter(tags=["operation"])

_TEXT: dict[int | str, dict[str, Any]] = {
    200: {"description": "Prometheus' text format", "content": {"text/plain": {"schema": {"type": "string"}}}}
}


@router.get("/healthz")
async def alive() -> Health:
    """Whether this process answers, without looking at anything else."""
    return Health(status="alive")


@router.get("/readyz", responses=public_problem_responses(503))
async def ready(services: ServicesDependency, readiness: ReadinessDependency) -> Health:
    """Whether evaluations can be accepted and run: every dependency by name, as found some seconds ago at most."""
    checks = await readiness.checks()
    failed = [check for check in checks if not check.ok]
    if failed:
        detail = " ".join(f"{check.name}: {check.detail}" for check in failed)
        raise HttpProblem("not-ready", detail, retry_after=services.settings.retry_seconds, checks=checks)
    return Health(status="ready", checks=checks)


@router.get(
    "/metrics",
    response_class=Response,
    responses={**_TEXT, **problem_responses()},
    openapi_extra={"security": [{"apiKey": ["metrics"]}]},
)
async def metrics(request: Request, services: ServicesDependency) -> Response:
    """Metrics of the whole cluster, from the database, and of this process. Needs an `admin` key, as they name
    every tenant, unless the settings open them to everybody."""
    if not services.settings.open_metrics:
        require_scope(request.scope["assayer.caller"], "metrics")
    try:
        service_metrics = await services.metrics.collect()
    except StorageError as error:
        _LOG.warning("metrics without those of the database: %s", error)
        service_metrics = None
    return Response(prometheus_text(service_metrics), media_type=CONTENT_TYPE_LATEST)
