"""`/console/sign-in`, `/console/sign-out`: with an API key, typed once, which the page does not keep; or by the way to
an identity provider."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup
from starlette.responses import Response

from orchestrator.access.cookies import behind_tls, clear_session, keep_session, session_token
from orchestrator.access.csrf import check_origin
from orchestrator.access.sessions import NewSession, draw_token, role_of_key
from orchestrator.access.signed_in import SIGN_IN, SignedInDependency
from orchestrator.access.way_back import HOME, local_path
from orchestrator.api.request_log import request_record
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.jobs.api_keys import KeyRejection

__all__ = ["begin_session", "router", "sign_in_page"]

router = APIRouter(tags=["pages"], include_in_schema=False)

_REFUSALS = {
    "unknown": "There is no such key. Was it copied completely?",
    "expired": "The key has expired.",
    "revoked": "The key has been revoked.",
    "rate": "The key has asked too often. Wait a moment, then sign in again.",
    "tenant rate": "Too many requests are being made with keys of this organisation. Wait a moment.",
}
_NO_CONSOLE = (
    "The key opens no console: it is for programs. Sign in with a key of your own, which an owner gives to a member, "
    "or with one that has the scope manage."
)

NextPath = Annotated[str, Query(max_length=2_000)]


@router.get(SIGN_IN, response_class=HTMLResponse)
async def ask(services: ServicesDependency, next: NextPath = HOME) -> HTMLResponse:
    return sign_in_page(services, next)


@router.post(SIGN_IN, response_class=HTMLResponse)
async def sign_in(
    request: Request,
    services: ServicesDependency,
    key: Annotated[str, Form(max_length=200)] = "",
    next: Annotated[str, Form(max_length=2_000)] = HOME,
) -> Response:
    check_origin(request, services.access)
    caller = await services.keys.authenticate(key.strip(), services.clock.now())
    if isinstance(caller, KeyRejection):
        return sign_in_page(services, next, _REFUSALS[caller.reason], 401)
    role = role_of_key(caller.scopes) if caller.role == "machine" else caller.role
    if role is None:
        return sign_in_page(services, next, _NO_CONSOLE, 403)
    new = NewSession(caller.tenant, role, caller.name, key=caller.key, member=caller.member)
    return await begin_session(request, services, new, next)


async def begin_session(request: Request, services: Services, new: NewSession, next: str) -> Response:
    """A new token at every sign-in; whatever session the browser had before ends."""
    record = request_record(request.scope)
    record.tenant, record.key = new.tenant, new.member or new.key
    before = session_token(request, services.access)
    if before is not None:
        await services.sessions.end(before)
    token = draw_token()
    await services.sessions.begin(token, new, services.clock.now())
    response = RedirectResponse(local_path(next), 303, {"Cache-Control": "no-store"})
    keep_session(response, request, services.access, token)
    return response


@router.post("/console/sign-out", response_class=HTMLResponse)
async def sign_out(request: Request, who: SignedInDependency, services: ServicesDependency) -> Response:
    """Ends the session for good: its cookie opens nothing any more, wherever it was copied to."""
    token = session_token(request, services.access)
    if token is not None:
        await services.sessions.end(token)
    return _signed_out(request, services)


@router.post("/console/sign-out-everywhere", response_class=HTMLResponse)
async def sign_out_everywhere(request: Request, who: SignedInDependency, services: ServicesDependency) -> Response:
    """Ends all sessions of whoever asks: on a machine that was lost, or that somebody else sits at."""
    await services.sessions.end_all(who.tenant, who.subject)
    return _signed_out(request, services)


def _signed_out(request: Request, services: Services) -> Response:
    headers = {"Cache-Control": "no-store"}
    if behind_tls(request, services.access):  # elsewhere browsers do not heed it
        headers["Clear-Site-Data"] = '"cache", "storage"'
    response = RedirectResponse(SIGN_IN, 303, headers)
    clear_session(response, request, services.access)
    return response


def sign_in_page(services: Services, next: str, refusal: str = "", status: int = 200) -> HTMLResponse:
    template, css, style = _page()
    after = local_path(next)
    labels = {
        f"{SIGN_IN}/{name}?{urlencode({'next': after})}": one.settings.label
        for name, one in services.identity_providers.items()
    }
    html = template.render(css=css, next=after, refusal=refusal, providers=labels)
    policy = (
        f"default-src 'none'; style-src '{style}'; img-src data:; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    )
    headers = {
        "Content-Security-Policy": policy,
        "Referrer-Policy": "same-origin",  # the origin is told with a form only where a referrer may be
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-store",
    }
    return HTMLResponse(html, status, headers)


@cache
def _page() -> tuple[Template, Markup, str]:
    """Its template, its style, and the style's hash."""
    folder = files("orchestrator.access.pages")
    css = (folder / "sign_in.css").read_text("utf-8")
    source = (folder / "sign_in.html").read_text("utf-8")
    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(source)
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    return template, Markup(css), f"sha256-{digest}"  # noqa: S704 - our own file, whose hash the policy names
