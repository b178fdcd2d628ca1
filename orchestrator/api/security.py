"""Who asks, and whether they may: API keys as bearer tokens, checked before anything of a body is read."""

import math
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPBearer
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assayer.errors import StorageError
from assayer.ports import Clock
from orchestrator.api.observing import out_of_reach, refuse, visit
from orchestrator.api.problems import Refusal
from orchestrator.api.settings import ApiSettings
from orchestrator.jobs import tenancy
from orchestrator.jobs.models import TenantId
from orchestrator.jobs.tenancy import Caller, Rate, Refused, hash_of
from orchestrator.store import PgKeys

__all__ = [
    "Admin",
    "Authentication",
    "Manager",
    "Reader",
    "Submitter",
    "json_only",
    "rate_headers",
    "require",
    "tenant_for",
    "token_of",
]

_CHALLENGE = 'Bearer realm="assayer"'
_POLICY = "key"
"""Names the limit in the RateLimit headers."""
_REASONS = {
    "unknown": "There is no such key. Was it copied whole?",
    "expired": "The key has expired. Somebody whose key has the scope `manage` can make a new one: POST /v1/keys.",
    "revoked": "The key has been revoked. Somebody whose key has the scope `manage` can make a new one: POST /v1/keys.",
}

_bearer = HTTPBearer(
    scheme_name="apiKey",
    bearerFormat="ak_<id>_<secret>",
    description="An API key. Scopes: submit; read; manage (one's own keys, webhooks, deletion); admin (all tenants).",
    auto_error=False,
)


class Authentication:
    """Everything below `/v1/` needs a key; one statement checks it and takes its turn. The routes ask for scopes."""

    def __init__(self, app: ASGIApp, keys: PgKeys, clock: Clock, settings: ApiSettings) -> None:
        self._app = app
        self._keys = keys
        self._clock = clock
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        closed = scope["type"] == "http" and (scope["path"].startswith("/v1/") or self._guards_metrics(scope))
        if not closed:
            await self._app(scope, receive, send)
            return
        try:
            caller = await self._caller(scope)
        except Refusal as refusal:
            await refuse(refusal, scope, receive, send)
            return
        except StorageError:
            await refuse(out_of_reach(self._settings), scope, receive, send)
            return
        seen = visit(scope)
        seen.tenant, seen.key = caller.tenant, caller.key
        scope["assayer.caller"] = caller
        await self._app(scope, receive, _telling(send, caller))

    def _guards_metrics(self, scope: Scope) -> bool:
        return scope["path"] == "/metrics" and not self._settings.open_metrics

    async def _caller(self, scope: Scope) -> Caller:
        """Raises Refusal."""
        found = await self._keys.authenticate(token_of(scope), self._clock.now())
        if isinstance(found, Refused):
            seen = visit(scope)
            seen.tenant, seen.key = found.tenant, found.key
            raise _refusal(found)
        return found


def token_of(scope: Scope) -> str:
    """The key as it was sent. Raises Refusal."""
    given = Headers(scope=scope).getlist("authorization")
    if not given:
        raise _unauthenticated("missing", "Send `Authorization: Bearer ak_…` with an API key.")
    scheme, _, token = given[0].partition(" ")
    token = token.strip()
    if len(given) > 1 or scheme.lower() != "bearer" or hash_of(token) is None:
        raise _unauthenticated("malformed", "That is no API key. One reads `Authorization: Bearer ak_<id>_<secret>`.")
    return token


def _unauthenticated(reason: str, detail: str) -> Refusal:
    """RFC 6750: without credentials the challenge names no error."""
    said = "" if reason == "missing" else f', error="invalid_token", error_description="{reason}"'
    return Refusal("unauthenticated", detail, headers={"WWW-Authenticate": _CHALLENGE + said}, reason=reason)


def _refusal(refused: Refused) -> Refusal:
    if refused.reason != "rate":
        return _unauthenticated(refused.reason, _REASONS[refused.reason])
    seconds = max(1, math.ceil(refused.retry_after or 0))
    rate = refused.rate
    allowed = f" of {rate.per_minute} requests a minute" if rate else ""
    return Refusal(
        "rate-limited",
        f"The key has used up its rate{allowed}. Its next turn comes in {seconds} s.",
        retry_after=seconds,
        headers=rate_headers(rate) if rate else {},
    )


def rate_headers(rate: Rate) -> dict[str, str]:
    """draft-ietf-httpapi-ratelimit-headers-10: the quota `q` a window `w`, what remains `r`, seconds to refill `t`."""
    return {
        "RateLimit-Policy": f'"{_POLICY}";q={rate.per_minute};w=60',
        "RateLimit": f'"{_POLICY}";r={rate.remaining};t={math.ceil(rate.full_seconds)}',
    }


def _telling(send: Send, caller: Caller) -> Send:
    async def told(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(rate_headers(caller.rate))
        await send(message)

    return told


def _needs(scope: tenancy.Scope) -> Callable[..., Awaitable[Caller]]:
    """A dependency: the caller, whose key has the scope."""

    async def caller(request: Request, _: Annotated[object, Security(_bearer, scopes=[scope])]) -> Caller:
        found: Caller = request.scope["assayer.caller"]
        require(found, scope)
        return found

    return caller


def require(caller: Caller, scope: tenancy.Scope) -> None:
    """Raises Refusal (403) unless the caller's key has the scope; `admin` has every scope."""
    if scope in caller.scopes or "admin" in caller.scopes:
        return
    has = ", ".join(sorted(caller.scopes))
    raise Refusal(
        "forbidden",
        f"This needs a key with the scope `{scope}`; this one has {has}.",
        headers={"WWW-Authenticate": f'{_CHALLENGE}, error="insufficient_scope", scope="{scope}"'},
        scope=scope,
    )


def tenant_for(caller: Caller, asked: str | None) -> TenantId:
    """Whom a request is about: the caller, or whom an `admin` names. Raises Refusal."""
    if asked is None or asked == caller.tenant:
        return caller.tenant
    require(caller, "admin")
    return TenantId(asked)


Submitter = Annotated[Caller, Depends(_needs("submit"))]
Reader = Annotated[Caller, Depends(_needs("read"))]
Manager = Annotated[Caller, Depends(_needs("manage"))]
Admin = Annotated[Caller, Depends(_needs("admin"))]


async def json_only(request: Request) -> None:
    """Refuses (415) a body that says that it is something else; FastAPI would find fault with its fields."""
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json" and await request.body():
        raise Refusal(
            "unsupported-media-type",
            f"The body is {media or 'of no stated type'}; this takes `Content-Type: application/json`.",
        )
