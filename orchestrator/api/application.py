"""The ASGI application, put together from its services; nothing of it is shared between two applications."""

import logging
import re
from importlib.metadata import version
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import ExceptionHandler

from assayer.errors import InputError, StorageError
from orchestrator.api.documented import describe
from orchestrator.api.limits import BodyLimit, Lingering, RequestLimit, Streams
from orchestrator.api.observing import Observing, out_of_reach, visit
from orchestrator.api.problems import Refusal, kind_of
from orchestrator.api.routes import (
    batch_rows,
    batches,
    comparisons,
    corpus,
    evaluations,
    events,
    health,
    keys,
    methods,
    pages,
    rankings,
    tenants,
    usage,
    webhooks,
)
from orchestrator.api.security import Authentication
from orchestrator.api.services import Services
from orchestrator.api.uploads import Uploads
from orchestrator.api.validation import explained
from orchestrator.jobs.idempotency import KeyReused, QueueFull

__all__ = ["application", "described"]

_LOG = logging.getLogger(__name__)
_QUEUE_SECONDS = 60
"""`Retry-After` when a tenant's queue is full: work takes minutes."""
_ROUTERS = (
    evaluations,
    events,
    batch_rows,
    batches,
    comparisons,
    rankings,
    corpus,
    methods,
    webhooks,
    keys,
    usage,
    tenants,
    health,
    pages,
)
_UPLOADS = re.compile(r"/v1/(batches(/[^/]+/rows)?|rankings)")
"""Paths whose bodies hold many ideas."""
_ABOUT = """Evaluates research ideas against the literature.

Every accepted evaluation ends in exactly one verdict: a report, or a problem that says why there is none.
Every refusal is an RFC 9457 problem document. Every POST takes an `Idempotency-Key`."""


def described() -> FastAPI:
    """All routes and their OpenAPI document, without anything to serve them."""
    app = FastAPI(
        title="assayer",
        version=version("assayer"),
        summary="Research ideas in, cited and auditable reports out.",
        description=_ABOUT,
        docs_url=None,  # both pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: "_".join([*map(str, route.tags[:1]), route.name]),
    )
    for routes in _ROUTERS:
        app.include_router(routes.router)
    app.openapi = lambda: describe(app)  # type: ignore[method-assign]
    return app


def application(services: Services) -> FastAPI:
    """`services` are opened and closed by the caller; they must be open while requests are served."""
    app = described()
    app.state.services = services
    app.state.streams = Streams(services.settings)
    app.state.uploads = Uploads(services.batches)
    for error, handler in _HANDLERS.items():
        app.add_exception_handler(error, cast(ExceptionHandler, handler))
    # The last one added is the first one that a request meets.
    app.add_middleware(BodyLimit, settings=services.settings, uploads=_UPLOADS)
    app.add_middleware(Authentication, keys=services.keys, clock=services.clock, settings=services.settings)
    app.add_middleware(RequestLimit, settings=services.settings)
    app.add_middleware(Lingering, settings=services.settings)
    app.add_middleware(Observing, ids=services.ids, settings=services.settings)
    return app


async def _invalid(request: Request, error: RequestValidationError) -> Response:
    field = getattr(request.scope.get("route"), "body_field", None)
    model = getattr(getattr(field, "field_info", None), "annotation", None)
    known = model if isinstance(model, type) and issubclass(model, BaseModel) else None
    return _answer(request, explained(error, known))


async def _refused(request: Request, error: HTTPException) -> Response:
    """FastAPI's and Starlette's own refusals get our words."""
    if isinstance(error, Refusal):
        return _answer(request, error)
    kind = kind_of(error.status_code, error.detail)
    headers = dict(error.headers or {})
    match error.status_code:
        case 400:
            cause = error.__cause__
            detail = f"The body cannot be read: {cause}." if cause is not None else error.detail
        case 404:
            detail = f"There is nothing at {request.url.path}. /openapi.json lists what there is."
        case 405:
            allowed = _allowed(request)
            headers["Allow"] = ", ".join(allowed)
            detail = f"{request.method} is not possible here. Possible: {', '.join(allowed)}."
        case _:
            detail = error.detail
    return _answer(request, Refusal(kind.slug, detail, headers=headers, kind=kind))


async def _unusable(request: Request, error: InputError) -> Response:
    slug = "idempotency-key-reused" if isinstance(error, KeyReused) else "invalid-request"
    return _answer(request, Refusal(slug, str(error)))


async def _queue_full(request: Request, error: QueueFull) -> Response:
    return _answer(request, Refusal("queue-full", str(error), retry_after=_QUEUE_SECONDS))


async def _out_of_reach(request: Request, error: StorageError) -> Response:
    _LOG.warning("request %s: %s", visit(request.scope).request_id, error)
    services: Services = request.app.state.services
    return _answer(request, out_of_reach(services.settings))


_HANDLERS: dict[type[Exception], Any] = {
    RequestValidationError: _invalid,
    HTTPException: _refused,
    InputError: _unusable,
    QueueFull: _queue_full,
    StorageError: _out_of_reach,
}


def _answer(request: Request, refusal: Refusal) -> Response:
    return refusal.response(request.url.path, visit(request.scope).request_id)


def _allowed(request: Request) -> list[str]:
    """Every method that some route answers at this path; Starlette names those of the first route alone."""
    return sorted(
        method
        for method in ("DELETE", "GET", "PATCH", "POST", "PUT")
        if any(
            route.matches({**request.scope, "method": method})[0] is Match.FULL for route in request.app.router.routes
        )
    )
