"""Authentication of people by session, and checks of what their role allows."""

import math
from collections.abc import Awaitable, Callable
from typing import Annotated
from urllib.parse import quote

from fastapi import Depends, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Scope

from orchestrator.access.api_keys import Caller
from orchestrator.access.roles import MEMBERS_ONLY_MESSAGE, PERMISSIONS, Act, may
from orchestrator.access.sessions import get_role_scopes
from orchestrator.jobs.models import KeyId
from orchestrator.problems import HttpProblem
from orchestrator.web.cookies import read_session_token
from orchestrator.web.csrf import SAFE_METHODS, check_csrf
from orchestrator.web.request_log import get_request_record
from orchestrator.web.return_url import find_requesting_page
from orchestrator.web.services import Services, ServicesDependency
from orchestrator.web.tenant_concurrency import record_tenant

SIGN_IN = "/console/sign-in"


class SignInRequired(Exception):
    """Raised if the person is not signed in or the session has ended. The application then redirects to the sign-in
    page."""


async def find_session_caller(request: Request, services: Services) -> Caller | None:
    """Return the person signed in with the request's session; None if there is no valid session. Raises HttpProblem
    with status 429 if they have exceeded their rate limit."""
    token = read_session_token(request, services.access)
    session = None if token is None else await services.sessions.find(token, services.clock.now())
    if session is None:
        return None
    if session.wait_seconds is not None:
        seconds = max(1, math.ceil(session.wait_seconds))
        detail = f"You have exceeded the rate limit for one person. Try again in {seconds} s."
        raise HttpProblem("rate-limited", detail, retry_after=seconds)
    scopes, key = get_role_scopes(session.role), KeyId(session.subject)
    return Caller(session.tenant, key, scopes, None, session.name, session.role, session.member)


async def record_caller(scope: Scope, caller: Caller) -> None:
    """Store the caller in the request's scope and log record, and count the request against the caller's tenant."""
    scope["assayer.caller"] = caller
    record = get_request_record(scope)
    record.tenant, record.key = caller.tenant, caller.key
    await record_tenant(scope, caller.tenant)


async def require_signed_in(request: Request, services: ServicesDependency) -> Caller:
    """Authenticate the person; for use as a dependency. Raises SignInNeeded if they are not signed in. Raises
    HttpProblem if they have exceeded their rate limit, or if a request that changes data does not come from one of this
    service's pages with the session's CSRF token."""
    caller = await find_session_caller(request, services)
    if caller is None:
        raise SignInRequired
    await record_caller(request.scope, caller)
    if request.method not in SAFE_METHODS:
        await check_csrf(request, services.access)
    return caller


SignedInDependency = Annotated[Caller, Depends(require_signed_in)]


def require_act(caller: Caller, *acts: Act) -> None:
    """Raise HttpProblem with status 403 unless the caller may perform at least one of these actions."""
    if any(map(caller.may, acts)):
        return
    if any(may(caller.role, act) for act in acts):
        raise HttpProblem("forbidden", MEMBERS_ONLY_MESSAGE)
    allowed_roles = sorted(frozenset().union(*(PERMISSIONS[act] for act in acts)))
    article = "An" if caller.role[0] in "ao" else "A"
    detail = f"{article} {caller.role} cannot {' or '.join(acts)}. Allowed roles: {', '.join(allowed_roles)}."
    raise HttpProblem("forbidden", detail)


def require_permission(act: Act) -> Callable[..., Awaitable[Caller]]:
    """Return a dependency that provides the signed-in person if their role allows the action. Raises HttpProblem with
    status 403 otherwise."""

    async def get_person(caller: SignedInDependency) -> Caller:
        require_act(caller, act)
        return caller

    get_person.__dict__["act"] = act
    return get_person


async def redirect_to_sign_in(request: Request, _: Exception) -> Response:
    """Redirect to the sign-in page. After signing in, the person returns to the requested page or, if they submitted a
    form, to the page with the form. If a script requested a page fragment, the entire page is replaced."""
    services: Services = request.app.state.services
    is_fragment = request.headers.get("hx-request") == "true"
    if is_fragment:
        return_to = find_requesting_page(request, services.access, "hx-current-url")
    elif request.method == "GET":
        return_to = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    else:
        return_to = find_requesting_page(request, services.access)
    location = f"{SIGN_IN}?next={quote(return_to, safe='')}"
    if is_fragment:
        return Response(status_code=401, headers={"HX-Redirect": location, "Cache-Control": "no-store"})
    return RedirectResponse(location, 303, {"Cache-Control": "no-store"})
