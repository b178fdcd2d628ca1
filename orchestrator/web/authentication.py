"""Authentication by API key (a bearer token) or by session, before the body is read; and checks of the scopes that
routes require."""

import math
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPBearer
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assayer.errors import StorageError
from assayer_client import accounts
from orchestrator.access.api_keys import Caller, KeyRate, KeyRejection, hash_key
from orchestrator.jobs.models import TenantId
from orchestrator.problems import HttpProblem
from orchestrator.web.context import RouteContext
from orchestrator.web.cookies import read_session_token
from orchestrator.web.csrf import SAFE_METHODS, check_csrf_header
from orchestrator.web.request_log import build_database_problem, get_request_record, send_problem
from orchestrator.web.services import Services, ServicesDependency
from orchestrator.web.signed_in import find_session_caller, record_caller

_CHALLENGE = 'Bearer realm="assayer"'
_RATE_POLICY = "key"
"""The limit's name in the RateLimit response headers."""
_REJECTION_DETAILS = {
    "unknown": "The key does not exist. Check that you copied it completely.",
    "expired": "The key has expired. A key with the scope `manage` can create a new one: POST /v1/keys.",
    "revoked": "The key has been revoked. A key with the scope `manage` can create a new one: POST /v1/keys.",
}

bearer_scheme = HTTPBearer(
    scheme_name="apiKey",
    bearerFormat="ak_<id>_<secret>",
    description="An API key. Scopes: submit; read; manage (the tenant's keys, webhooks, deletion); "
    "metrics (metrics of all tenants); admin (everything, for all tenants).",
    auto_error=False,
)


class Authentication:
    """Middleware that requires a key or a session for all paths below `/v1/`, and for `/metrics` unless the settings
    make it public. A single SQL statement checks the key and counts the request. Routes check scopes and roles."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app = app
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        guards_metrics = not self._services.settings.open_metrics
        needs_caller = scope["type"] == "http" and (
            scope["path"].startswith("/v1/") or (scope["path"] == "/metrics" and guards_metrics)
        )
        if not needs_caller:
            await self._app(scope, receive, send)
            return
        try:
            caller = await self._authenticate(scope)
        except HttpProblem as refusal:
            await send_problem(refusal, scope, receive, send)
            return
        except StorageError:
            await send_problem(build_database_problem(), scope, receive, send)
            return
        await record_caller(scope, caller)
        await self._app(scope, receive, send if caller.rate is None else _add_rate_headers(send, caller.rate))

    async def _authenticate(self, scope: Scope) -> Caller:
        """Return the authenticated caller. Console pages send the session cookie instead of a key. Raises HttpProblem
        if authentication fails or a rate limit is exceeded."""
        services, request = self._services, Request(scope)
        if "authorization" not in request.headers and read_session_token(request, services.access) is not None:
            session_caller = await find_session_caller(request, services)
            if session_caller is None:
                raise _build_unauthenticated_problem(
                    "expired", "The session has ended. Sign in again at /console/sign-in."
                )
            if request.method not in SAFE_METHODS:
                check_csrf_header(request, services.access)
            return session_caller
        authenticated = await services.keys.authenticate(read_bearer_token(scope), services.clock.now())
        if isinstance(authenticated, KeyRejection):
            record = get_request_record(scope)
            record.tenant, record.key = authenticated.tenant, authenticated.key
            raise _build_rejection_problem(authenticated)
        return authenticated


def read_bearer_token(scope: Scope) -> str:
    """Return the key sent in the request. Raises HttpProblem if it is missing or malformed."""
    headers = Headers(scope=scope).getlist("authorization")
    if not headers:
        raise _build_unauthenticated_problem("missing", "Send `Authorization: Bearer ak_…` with an API key.")
    scheme, _, token = headers[0].partition(" ")
    token = token.strip()
    if len(headers) > 1 or scheme.lower() != "bearer" or hash_key(token) is None:
        raise _build_unauthenticated_problem(
            "malformed",
            "The Authorization header contains no valid API key. Send `Authorization: Bearer ak_<id>_<secret>`.",
        )
    return token


def _build_unauthenticated_problem(reason: str, detail: str) -> HttpProblem:
    """Return a 401 problem with its challenge. The challenge states no error if the request had no credentials (RFC
    6750)."""
    error = "" if reason == "missing" else f', error="invalid_token", error_description="{reason}"'
    return HttpProblem("unauthenticated", detail, headers={"WWW-Authenticate": _CHALLENGE + error}, reason=reason)


def _build_rejection_problem(rejection: KeyRejection) -> HttpProblem:
    if rejection.reason not in ("rate", "tenant rate"):
        return _build_unauthenticated_problem(rejection.reason, _REJECTION_DETAILS[rejection.reason])
    seconds, rate = max(1, math.ceil(rejection.retry_after or 0)), rejection.rate
    if rejection.reason == "tenant rate":
        detail = "The tenant's keys together have reached its rate limit. You can send the next request"
    else:
        allowed = f" of {rate.per_minute} requests a minute" if rate else ""
        detail = f"The key has reached its rate limit{allowed}. You can send the next request"
    headers = build_rate_headers(rate) if rate else {}
    return HttpProblem("rate-limited", f"{detail} in {seconds} s.", retry_after=seconds, headers=headers)


def build_rate_headers(rate: KeyRate) -> dict[str, str]:
    """Return the rate limit headers according to draft-ietf-httpapi-ratelimit-headers-10: the quota `q` per window `w`,
    the remaining quota `r`, and the seconds `t` until it is refilled."""
    return {
        "RateLimit-Policy": f'"{_RATE_POLICY}";q={rate.per_minute};w=60',
        "RateLimit": f'"{_RATE_POLICY}";r={rate.remaining};t={math.ceil(rate.full_seconds)}',
    }


def _add_rate_headers(send: Send, rate: KeyRate) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(build_rate_headers(rate))
        await send(message)

    return send_with_headers


def _require_key_with_scope(scope: accounts.Scope) -> Callable[..., Awaitable[RouteContext]]:
    """Return a dependency that provides the caller's context and requires a key with `scope`."""

    async def get_context(
        request: Request, services: ServicesDependency, _: Annotated[object, Security(bearer_scheme, scopes=[scope])]
    ) -> RouteContext:
        caller: Caller = request.scope["assayer.caller"]
        if caller.role == "reviewer":
            detail = "Reviewers see only the proposals assigned to them, listed at /v1/assignments."
            raise HttpProblem("forbidden", detail)
        require_scope(caller, scope)
        return RouteContext(caller, services)

    return get_context


def has_scope(caller: Caller, scope: accounts.Scope) -> bool:
    return scope in caller.scopes or "admin" in caller.scopes


def require_scope(caller: Caller, scope: accounts.Scope) -> None:
    """Raise HttpProblem with status 403 unless the caller's key has the scope; `admin` includes every scope."""
    if has_scope(caller, scope):
        return
    granted_scopes = ", ".join(sorted(caller.scopes))
    raise HttpProblem(
        "forbidden",
        f"This request requires a key with the scope `{scope}`; yours has {granted_scopes}.",
        headers={"WWW-Authenticate": f'{_CHALLENGE}, error="insufficient_scope", scope="{scope}"'},
        scope=scope,
    )


def resolve_tenant(caller: Caller, requested_tenant: str | None) -> TenantId:
    """Return the tenant that a request is about: by default, the caller's own. Raises HttpProblem if another tenant is
    requested without the scope `admin`."""
    if requested_tenant is None or requested_tenant == caller.tenant:
        return caller.tenant
    require_scope(caller, "admin")
    return TenantId(requested_tenant)


Submitter = Annotated[RouteContext, Depends(_require_key_with_scope("submit"))]
Reader = Annotated[RouteContext, Depends(_require_key_with_scope("read"))]
Manager = Annotated[RouteContext, Depends(_require_key_with_scope("manage"))]
Admin = Annotated[RouteContext, Depends(_require_key_with_scope("admin"))]
