"""Who has signed in to the console, for its pages: `signed_in`, and `allowed_to` for what not everybody may do."""

from collections.abc import Awaitable, Callable
from typing import Annotated
from urllib.parse import quote

from fastapi import Depends, Request
from starlette.responses import RedirectResponse, Response

from assayer.models import Frozen
from orchestrator.access.audit_chain import Actor
from orchestrator.access.cookies import session_token
from orchestrator.access.csrf import SAFE_METHODS, check_csrf, csrf_token
from orchestrator.access.roles import PERMISSIONS, Act, PersonRole, may
from orchestrator.access.too_fast import TooFast
from orchestrator.access.way_back import page_asked_from
from orchestrator.api.problems import HttpProblem
from orchestrator.api.request_log import request_record
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.api.tenant_turns import tenant_is_known
from orchestrator.jobs.models import TenantId

__all__ = [
    "SIGN_IN",
    "SignInNeeded",
    "SignedIn",
    "SignedInDependency",
    "allowed_to",
    "csrf_token",
    "require_csrf",
    "signed_in",
    "to_sign_in",
]

SIGN_IN = "/console/sign-in"


class SignedIn(Frozen):
    """A person, and as what they act."""

    tenant: TenantId
    subject: str
    """Id of the member, or of the API key of somebody who is no member."""
    name: str
    role: PersonRole

    @property
    def actor(self) -> Actor:
        """As the audit log names them."""
        return Actor(self.subject, self.name, self.role)

    def may(self, act: Act) -> bool:
        return may(self.role, act)


class SignInNeeded(Exception):
    """Nobody has signed in, or the session has ended. The application answers with the way to the sign-in page."""


async def signed_in(request: Request, services: ServicesDependency) -> SignedIn:
    """A dependency. What changes something must come from a page of ours, with its token. Leaves who it is in
    `assayer.person` of the request's scope. Raises SignInNeeded, TooFast, HttpProblem (403)."""
    token = session_token(request, services.access)
    session = None if token is None else await services.sessions.find(token, services.clock.now())
    if session is None:
        raise SignInNeeded
    if session.wait_seconds is not None:
        raise TooFast(session.wait_seconds)
    await tenant_is_known(request.scope, session.tenant)
    who = SignedIn(tenant=session.tenant, subject=session.subject, name=session.name, role=session.role)
    request.scope["assayer.person"] = who
    if request.method not in SAFE_METHODS:
        await check_csrf(request, services.access)
    record = request_record(request.scope)
    record.tenant, record.key = session.tenant, session.subject
    return who


SignedInDependency = Annotated[SignedIn, Depends(signed_in)]


async def require_csrf(request: Request, services: ServicesDependency) -> None:
    """A dependency, for a page that everybody may see; `signed_in` does the same."""
    await check_csrf(request, services.access)


def allowed_to(act: Act) -> Callable[..., Awaitable[SignedIn]]:
    """A dependency: who has signed in, if their role may do this. Raises HttpProblem (403)."""

    async def person(who: SignedInDependency) -> SignedIn:
        if not who.may(act):
            others = ", ".join(sorted(PERMISSIONS[act] - {"machine"}))
            raise HttpProblem("forbidden", f"You have signed in as {who.role}. Who may {act}: {others}.")
        return who

    person.__dict__["act"] = act
    return person


async def to_sign_in(request: Request, _: Exception) -> Response:
    """A page leads to the sign-in page and back; a form, to the page on which it stood; a part of a page, which a
    script asks for, replaces all of it."""
    services: Services = request.app.state.services
    part = request.headers.get("hx-request") == "true"
    if part:
        back = page_asked_from(request, services.access, "hx-current-url")
    elif request.method == "GET":
        back = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    else:
        back = page_asked_from(request, services.access)
    where = f"{SIGN_IN}?next={quote(back, safe='')}"
    if part:
        return Response(status_code=401, headers={"HX-Redirect": where, "Cache-Control": "no-store"})
    return RedirectResponse(where, 303, {"Cache-Control": "no-store"})
