"""The ASGI application with its routes, middleware and error handlers."""

import logging
import re
from functools import cache
from importlib import import_module
from typing import Any, cast

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import ExceptionHandler

from assayer.errors import InputError, StorageError
from assayer.version import __version__
from orchestrator.api.gone import build_gone_problem
from orchestrator.api.openapi import DEFAULT_RESPONSE, build_openapi_document
from orchestrator.api.request_checks import refuse_other_media, refuse_unknown_parameters
from orchestrator.console.refusal_pages import RefusalPages
from orchestrator.jobs.models import TenantId
from orchestrator.jobs.submissions import EvaluationsDeleted, QueueFull
from orchestrator.problems import HttpProblem, NotFoundProblem, find_problem_kind
from orchestrator.reviewing.models import ReviewRefused
from orchestrator.store.idempotency import IdempotencyKeyReused
from orchestrator.web.authentication import Authentication
from orchestrator.web.backpressure import RequestLimit, StreamLimit, UploadLimit
from orchestrator.web.body_limit import BodyLimit, UnreadBodyDrain
from orchestrator.web.readiness import Readiness
from orchestrator.web.request_log import RequestLogging, build_database_problem, get_request_record
from orchestrator.web.services import Services
from orchestrator.web.signed_in import SignInRequired, redirect_to_sign_in
from orchestrator.web.small_middleware import HeadRequests, OutageLimit
from orchestrator.web.tenant_concurrency import TenantConcurrency
from orchestrator.web.validation_errors import build_validation_problem

_LOG = logging.getLogger(__name__)
_QUEUE_FULL_RETRY_SECONDS = 60
"""`Retry-After` in seconds when a tenant's queue is full. It is long because jobs take minutes."""
_ROUTES = {
    "orchestrator.api.routes": (
        "evaluations events llm_requests batch_estimate batch_results batch_upload batches calls printed erasures "
        "comparisons rankings rewards reward_verification curations candidate_ideas scores corpus references methods "
        "webhooks keys usage tenants members call_reviewers assignments expertise opinions panel decisions "
        "letters remarks audit_log health reference_page"
    ),
    "orchestrator.console": (
        "sign_in_pages provider_pages submission_page call_terms_pages call_pages evaluation_pages "
        "proposal_pages making_pages erasure_pages ranking_pages member_pages account_page assignment_pages "
        "call_reviewer_pages expertise_pages bid_pages audit_log_page panel_pages decision_pages letter_pages "
        "review_pages original_pages"
    ),
}
"""Modules with routes, by package. If several routes match a path, the first one answers."""
_UPLOAD_PATHS = re.compile(r"/v1/(batches(/estimate|/[^/]+/rows)?|rankings|rewards|curations|candidate_ideas|scores)")
"""Matches paths whose request bodies can contain many ideas."""
_DESCRIPTION = """Evaluates research ideas against the literature.

Every accepted evaluation ends with exactly one verdict: a report, or a problem that states why there is no report.
Every refusal is a problem document (RFC 9457). Every POST accepts an `Idempotency-Key`."""


class _DocumentedApp(FastAPI):
    def openapi(self) -> dict[str, Any]:
        return build_openapi_document(self)


class _ServedApp(FastAPI):
    def openapi(self) -> dict[str, Any]:
        return get_documented_app().openapi()


@cache
def get_documented_app() -> FastAPI:
    """Return an application with all routes and the OpenAPI document, but without services. All applications in a
    process share it, because building the models for parameters and bodies takes most of the startup time."""
    app = _DocumentedApp(
        title="assayer API",
        version=__version__,
        summary="Research ideas in, cited and auditable reports out.",
        description=_DESCRIPTION,
        docs_url=None,  # FastAPI's pages load scripts from other servers; the service has its own page at /docs
        redoc_url=None,
        redirect_slashes=False,
        dependencies=[Depends(refuse_unknown_parameters), Depends(refuse_other_media)],
        responses=DEFAULT_RESPONSE,
        generate_unique_id_function=lambda route: route.name,
    )
    for package, modules in _ROUTES.items():
        for module in modules.split():
            app.include_router(import_module(f"{package}.{module}").router)
    return app


def create_app(services: Services) -> FastAPI:
    """Create the ASGI application. The caller opens and closes `services`, which must stay open while requests are
    served."""
    app = _ServedApp(routes=get_documented_app().routes, openapi_url=None, redirect_slashes=False)
    app.state.services = services
    app.state.readiness = Readiness(services.ready, services.settings.ready_seconds)
    app.state.streams = StreamLimit(services.settings)
    app.state.uploads = UploadLimit(services.batches)
    for error, handler in _HANDLERS.items():
        app.add_exception_handler(error, cast(ExceptionHandler, handler))
    # The middleware added last is the first to receive a request.
    app.add_middleware(HeadRequests)
    app.add_middleware(BodyLimit, settings=services.settings, uploads=_UPLOAD_PATHS)
    app.add_middleware(Authentication, services=services)
    app.add_middleware(RequestLimit, settings=services.settings)
    app.add_middleware(TenantConcurrency, settings=services.settings, access=services.access)
    app.add_middleware(UnreadBodyDrain, settings=services.settings)
    app.add_middleware(RequestLogging, ids=services.new_id)
    app.add_middleware(RefusalPages, access=services.access)
    app.add_middleware(OutageLimit)
    return app


async def _respond_to_validation_error(request: Request, error: RequestValidationError) -> Response:
    field = getattr(request.scope.get("route"), "body_field", None)
    model = getattr(getattr(field, "field_info", None), "annotation", None)
    body_model = model if isinstance(model, type) and issubclass(model, BaseModel) else None
    return _build_response(request, build_validation_problem(error, body_model))


async def _respond_to_http_error(request: Request, error: HTTPException) -> Response:
    """Convert an exception raised by FastAPI or Starlette to a problem document."""
    if isinstance(error, HttpProblem):
        return _build_response(request, error)
    kind = find_problem_kind(error.status_code, error.detail)
    headers = dict(error.headers or {})
    match error.status_code:
        case 400:
            cause = error.__cause__
            detail = f"The body cannot be read: {cause}." if cause is not None else error.detail
        case 404:
            detail = f"Nothing exists at {request.url.path}. /openapi.json lists all paths."
        case 405:
            allowed_methods = _find_allowed_methods(request)
            headers["Allow"] = ", ".join(allowed_methods)
            detail = f"{request.method} is not supported here. Supported methods: {', '.join(allowed_methods)}."
        case _:
            detail = error.detail
    return _build_response(request, HttpProblem(kind.slug, detail, headers=headers, kind=kind))


async def _respond_to_missing_resource(request: Request, error: NotFoundProblem) -> Response:
    """Respond to a missing resource with 404, or with 410 if it has a tombstone. Tombstones are looked up only here, so
    that requests for existing resources are not slowed down."""
    services: Services = request.app.state.services
    tenant = get_request_record(request.scope).tenant
    tombstone = (
        None if tenant is None else await services.tombstones.get(TenantId(tenant), error.resource_kind, error.id)
    )
    if tombstone is None:
        return _build_response(request, error)
    response = _build_response(request, build_gone_problem(error, tombstone, request.scope["assayer.caller"]))
    if request.headers.get("hx-request") == "true":
        response.headers["HX-Refresh"] = "true"  # the entire page is about the deleted resource
    return response


async def _respond_to_refusal(
    request: Request, error: InputError | QueueFull | ReviewRefused | EvaluationsDeleted
) -> Response:
    match error:
        case IdempotencyKeyReused():
            problem = HttpProblem("idempotency-key-reused", str(error))
        case InputError():
            problem = HttpProblem("invalid-request", str(error))
        case QueueFull():
            problem = HttpProblem("queue-full", str(error), retry_after=_QUEUE_FULL_RETRY_SECONDS)
        case _:
            problem = HttpProblem("conflict", str(error))
    return _build_response(request, problem)


async def _respond_to_storage_error(request: Request, error: StorageError) -> Response:
    _LOG.warning("request %s: %s", get_request_record(request.scope).request_id, error)
    return _build_response(request, build_database_problem())


_HANDLERS: dict[type[Exception], Any] = {
    SignInRequired: redirect_to_sign_in,
    RequestValidationError: _respond_to_validation_error,
    NotFoundProblem: _respond_to_missing_resource,
    HTTPException: _respond_to_http_error,
    **dict.fromkeys((InputError, QueueFull, ReviewRefused, EvaluationsDeleted), _respond_to_refusal),
    StorageError: _respond_to_storage_error,
}


def _build_response(request: Request, problem: HttpProblem) -> Response:
    return problem.to_response(request.url.path, get_request_record(request.scope).request_id)


def _find_allowed_methods(request: Request) -> list[str]:
    """Return the HTTP methods accepted at this path by any route; Starlette considers only the first matching route. If
    the OpenAPI document lists the path literally, routes with a parameter in its place are ignored."""
    operations = request.app.openapi()["paths"].get(request.url.path)
    if operations is not None:
        return sorted(map(str.upper, operations))
    return sorted(
        method
        for method in ("DELETE", "GET", "PATCH", "POST", "PUT")
        if any(
            route.matches({**request.scope, "method": method})[0] is Match.FULL for route in request.app.router.routes
        )
    )
