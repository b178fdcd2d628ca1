"""Whether the service lives, whether it can work, and how it does: for probes and Prometheus, not for tenants."""

import logging
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST

from assayer.errors import StorageError
from orchestrator.api.documented import open_problems, problems
from orchestrator.api.figures import exposition
from orchestrator.api.problems import Refusal
from orchestrator.api.resources import Health
from orchestrator.api.security import require
from orchestrator.api.services import Offered

__all__ = ["router"]

_LOG = logging.getLogger(__name__)

router = APIRouter(tags=["operation"])

_TEXT: dict[int | str, dict[str, Any]] = {
    200: {"description": "Prometheus' text format", "content": {"text/plain": {"schema": {"type": "string"}}}}
}


@router.get("/healthz")
async def alive() -> Health:
    """Whether this process answers; it asks nobody."""
    return Health(status="alive")


@router.get("/readyz", responses=open_problems(503))
async def ready(services: Offered) -> Health:
    """Whether evaluations can be accepted and made: each thing that they need by name."""
    checks = tuple(await services.ready())
    failed = [check for check in checks if not check.ok]
    if failed:
        said = " ".join(f"{check.name}: {check.detail}" for check in failed)
        raise Refusal("not-ready", said, retry_after=services.settings.retry_seconds, checks=checks)
    return Health(status="ready", checks=checks)


@router.get(
    "/metrics",
    response_class=Response,
    responses={**_TEXT, **problems()},
    openapi_extra={"security": [{"apiKey": ["admin"]}]},
)
async def metrics(request: Request, services: Offered) -> Response:
    """Figures of the whole cluster from the database, and this process's own. Needs an `admin` key, as it names
    every tenant, unless the settings open it."""
    if not services.settings.open_metrics:
        require(request.scope["assayer.caller"], "admin")
    try:
        census = await services.census.take()
    except StorageError as error:
        _LOG.warning("figures without the database's: %s", error)
        census = None
    return Response(exposition(census), media_type=CONTENT_TYPE_LATEST)
