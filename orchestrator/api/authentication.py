"""API keys as bearer tokens, or the session of somebody who has signed in, checked before anything of a body is read;
and the scopes that routes need."""

import math
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPBearer
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assayer.errors import StorageError
from assayer.ports import Clock
from orchestrator.access.cookies import session_token
from orchestrator.access.csrf import SAFE_METHODS, check_csrf_header
from orchestrator.access.sessions import scopes_of_role
from orchestrator.access.too_fast import person_too_fast
from orchestrator.api.problems import HttpProblem
from orchestrator.api.request_log import database_unavailable, request_record, send_problem
from orchestrator.api.tenant_turns import tenant_is_known
from orchestrator.jobs import api_keys
from orchestrator.jobs.api_keys import AuthenticatedCaller, KeyRate, KeyRejection, hash_key
from orchestrator.jobs.models import KeyId, TenantId
from orchestrator.settings import AccessSettings, ApiSettings
from orchestrator.store import PgKeys
from orchestrator.store.sessions import PgSessions

__all__ = [
    "Admin",
    "Authentication",
    "Manager",
    "Reader",
    "Submitter",
    "bearer",
    "bearer_token",
    "has_scope",
    "rate_headers",
    "require_scope",
    "tenant_for",
]

_CHALLENGE = 'Bearer realm="assayer"'
_POLICY = "key"
"""Names the limit in the RateLimit headers."""
_REASONS = {
    "unknown": "There is no such key. Was it copied completely?",
    "expired": "The key has expired. A key with the scope `manage` can create a new one: POST /v1/keys.",
    "revoked": "The key has been revoked. A key with the scope `manage` can create a new one: POST /v1/keys.",
}

bearer = HTTPBearer(
    scheme_name="apiKey",
    bearerFormat="ak_<id>_<secret>",
    description="An API key. Scopes: submit; read; manage (one's own keys, webhooks, deletion); "
    "metrics (figures of all tenants); admin (all tenants).",
    auto_error=False,
)


class Authentication:
    """Everything below `/v1/` needs a key or a session; one statement checks it, and counts a key's requests.
    The routes check scopes and roles."""

    def __init__(
        self,
        app: ASGIApp,
        keys: PgKeys,
        sessions: PgSessions,
        clock: Clock,
        settings: ApiSettings,
        access: AccessSettings,
    ) -> None:
        self._app = app
        self._keys = keys
        self._sessions = sessions
        self._access = access
        self._clock = clock
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        closed = scope["type"] == "http" and (scope["path"].startswith("/v1/") or self._guards_metrics(scope))
        if not closed:
            await self._app(scope, receive, send)
            return
        try:
            caller = await self._caller(scope)
        except HttpProblem as refusal:
            await send_problem(refusal, scope, receive, send)
            return
        except StorageError:
            await send_problem(database_unavailable(self._settings), scope, receive, send)
            return
        record = request_record(scope)
        record.tenant, record.key = caller.tenant, caller.key
        scope["assayer.caller"] = caller
        await tenant_is_known(scope, caller.tenant)
        await self._app(scope, receive, send if caller.rate is None else _with_rate_headers(send, caller.rate))

    def _guards_metrics(self, scope: Scope) -> bool:
        return scope["path"] == "/metrics" and not self._settings.open_metrics

    async def _caller(self, scope: Scope) -> AuthenticatedCaller:
        """Raises HttpProblem. A page of the console asks with the session's cookie in place of a key."""
        request = Request(scope)
        token = session_token(request, self._access)
        if token is not None and "authorization" not in request.headers:
            return await self._signed_in(request, token)
        found = await self._keys.authenticate(bearer_token(scope), self._clock.now())
        if isinstance(found, KeyRejection):
            record = request_record(scope)
            record.tenant, record.key = found.tenant, found.key
            raise _rejection(found)
        return found

    async def _signed_in(self, request: Request, token: str) -> AuthenticatedCaller:
        """Raises HttpProblem."""
        session = await self._sessions.find(token, self._clock.now())
        if session is None:
            raise _unauthenticated("expired", "The session has ended. Sign in again: /console/sign-in.")
        if session.wait_seconds is not None:
            raise person_too_fast(session.wait_seconds)
        if request.method not in SAFE_METHODS:
            check_csrf_header(request, self._access)
        scopes, key = scopes_of_role(session.role), KeyId(session.subject)
        return AuthenticatedCaller(session.tenant, key, scopes, None, session.name, session.role, session.member)


def bearer_token(scope: Scope) -> str:
    """The key as it was sent. Raises HttpProblem."""
    given = Headers(scope=scope).getlist("authorization")
    if not given:
        raise _unauthenticated("missing", "Send `Authorization: Bearer ak_…` with an API key.")
    scheme, _, token = given[0].partition(" ")
    token = token.strip()
    if len(given) > 1 or scheme.lower() != "bearer" or hash_key(token) is None:
        raise _unauthenticated(
            "malformed", "That is not an API key. The header reads `Authorization: Bearer ak_<id>_<secret>`."
        )
    return token


def _unauthenticated(reason: str, detail: str) -> HttpProblem:
    """RFC 6750: without credentials the challenge names no error."""
    error = "" if reason == "missing" else f', error="invalid_token", error_description="{reason}"'
    return HttpProblem("unauthenticated", detail, headers={"WWW-Authenticate": _CHALLENGE + error}, reason=reason)


def _rejection(refused: KeyRejection) -> HttpProblem:
    if refused.reason not in ("rate", "tenant rate"):
        return _unauthenticated(refused.reason, _REASONS[refused.reason])
    seconds = max(1, math.ceil(refused.retry_after or 0))
    rate = refused.rate
    if refused.reason == "tenant rate":
        return HttpProblem(
            "rate-limited",
            f"All keys of the tenant together have used up its rate limit. The next request may come in {seconds} s.",
            retry_after=seconds,
            headers=rate_headers(rate) if rate else {},
        )
    allowed = f" of {rate.per_minute} requests a minute" if rate else ""
    return HttpProblem(
        "rate-limited",
        f"The key has used up its rate limit{allowed}. It may send the next request in {seconds} s.",
        retry_after=seconds,
        headers=rate_headers(rate) if rate else {},
    )


def rate_headers(rate: KeyRate) -> dict[str, str]:
    """draft-ietf-httpapi-ratelimit-headers-10: the quota `q` a window `w`, what remains `r`, seconds to refill `t`."""
    return {
        "RateLimit-Policy": f'"{_POLICY}";q={rate.per_minute};w=60',
        "RateLimit": f'"{_POLICY}";r={rate.remaining};t={math.ceil(rate.full_seconds)}',
    }


def _with_rate_headers(send: Send, rate: KeyRate) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(rate_headers(rate))
        await send(message)

    return with_headers


def _caller_with_scope(scope: api_keys.Scope) -> Callable[..., Awaitable[AuthenticatedCaller]]:
    """A dependency: the caller, whose key must have the scope."""

    async def caller(request: Request, _: Annotated[object, Security(bearer, scopes=[scope])]) -> AuthenticatedCaller:
        found: AuthenticatedCaller = request.scope["assayer.caller"]
        if found.role == "reviewer":
            detail = "A reviewer sees what is assigned, after giving a first opinion blind: /v1/assignments."
            raise HttpProblem("forbidden", detail)
        require_scope(found, scope)
        return found

    return caller


def has_scope(caller: AuthenticatedCaller, scope: api_keys.Scope) -> bool:
    return scope in caller.scopes or "admin" in caller.scopes


def require_scope(caller: AuthenticatedCaller, scope: api_keys.Scope) -> None:
    """Raises HttpProblem (403) unless the caller's key has the scope; `admin` has every scope."""
    if has_scope(caller, scope):
        return
    has = ", ".join(sorted(caller.scopes))
    raise HttpProblem(
        "forbidden",
        f"This needs a key with the scope `{scope}`; yours has {has}.",
        headers={"WWW-Authenticate": f'{_CHALLENGE}, error="insufficient_scope", scope="{scope}"'},
        scope=scope,
    )


def tenant_for(caller: AuthenticatedCaller, asked: str | None) -> TenantId:
    """The tenant that a request is about: the caller's own, or for an `admin` any other. Raises HttpProblem."""
    if asked is None or asked == caller.tenant:
        return caller.tenant
    require_scope(caller, "admin")
    return TenantId(asked)


Submitter = Annotated[AuthenticatedCaller, Depends(_caller_with_scope("submit"))]
Reader = Annotated[AuthenticatedCaller, Depends(_caller_with_scope("read"))]
Manager = Annotated[AuthenticatedCaller, Depends(_caller_with_scope("manage"))]
Admin = Annotated[AuthenticatedCaller, Depends(_caller_with_scope("admin"))]
