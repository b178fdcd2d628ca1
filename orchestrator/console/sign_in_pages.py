"""Pages `/console/sign-in` and `/console/sign-out`. People sign in through an identity provider, with an emailed link,
or with an API key (which the browser does not store)."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.responses import Response

from orchestrator.access.api_keys import KeyRejection
from orchestrator.access.sessions import NewSession, derive_role_from_key, generate_token
from orchestrator.console.scripted_page import render_template
from orchestrator.web.cookies import clear_session_cookie, is_behind_tls, read_session_token, set_session_cookie
from orchestrator.web.csrf import check_origin
from orchestrator.web.request_log import get_request_record
from orchestrator.web.return_url import HOME, to_console_path
from orchestrator.web.services import Services, ServicesDependency
from orchestrator.web.signed_in import SIGN_IN, SignedInDependency

router = APIRouter(tags=["pages"], include_in_schema=False)

_REFUSALS = {
    "unknown": "The key does not exist. Check that you copied it completely.",
    "expired": "The key has expired.",
    "revoked": "The key has been revoked.",
    "rate": "The key has made too many requests. Wait a moment, then sign in again.",
    "tenant rate": "This organisation's keys have made too many requests. Wait a moment, then sign in again.",
}
_NO_CONSOLE = (
    "This key is for programs and cannot sign in to the console. Sign in with a personal key, which you get from an "
    "owner, or with a key that has the scope manage."
)

_LINK_USED = "This link has been used or has expired. Ask for a new one below, or sign in in another way."
QUEUE_PATH = "/console/queue"
"""The page that a sign-in link leads to."""

LinkToken = Annotated[str, Path(max_length=100)]
NextPath = Annotated[str, Query(max_length=2_000)]


@router.get(SIGN_IN, response_class=HTMLResponse)
async def show_sign_in(request: Request, services: ServicesDependency, next: NextPath = HOME) -> HTMLResponse:
    return render_sign_in(request, services, next)


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
        return render_sign_in(request, services, next, _REFUSALS[caller.reason], 401)
    role = derive_role_from_key(caller.scopes) if caller.role == "machine" else caller.role
    if role is None:
        return render_sign_in(request, services, next, _NO_CONSOLE, 403)
    new_session = NewSession(caller.tenant, role, caller.name, key=caller.key, member=caller.member)
    return await begin_session(request, services, new_session, next)


@router.get(f"{SIGN_IN}/link/{{token}}", response_class=HTMLResponse)
async def show_link_sign_in(request: Request, services: ServicesDependency, token: LinkToken) -> HTMLResponse:
    """Ask the reviewer named by a link to continue. Opening the link does not use it up, because mail programs open
    links to scan them."""
    member = await services.mails.links.find(token, services.clock.now())
    if member is None:
        return render_sign_in(request, services, QUEUE_PATH, _LINK_USED, 410)
    return render_template("sign_in_link.html", request, None, name=member.name, token=token)


@router.post(f"{SIGN_IN}/link/{{token}}", response_class=HTMLResponse)
async def sign_in_with_link(request: Request, services: ServicesDependency, token: LinkToken) -> Response:
    """Sign in with a single-use link."""
    check_origin(request, services.access)
    member = await services.mails.links.use(token, services.clock.now())
    if member is None:
        return render_sign_in(request, services, QUEUE_PATH, _LINK_USED, 410)
    new_session = NewSession(member.tenant, member.role, member.name, member=member.id)
    return await begin_session(request, services, new_session, QUEUE_PATH)


@router.post(f"{SIGN_IN}/link", response_class=HTMLResponse)
async def send_link(
    request: Request, services: ServicesDependency, email: Annotated[str, Form(min_length=3, max_length=320)]
) -> HTMLResponse:
    """Send a sign-in link to the reviewer with this address. The response does not reveal whether there is one."""
    check_origin(request, services.access)
    await services.mails.queue_sign_in_link(email.strip())
    return render_sign_in(request, services, QUEUE_PATH, sent=True)


async def begin_session(request: Request, services: Services, new_session: NewSession, next: str) -> Response:
    """Start a session with a new token, and end the browser's previous session, if any."""
    record = get_request_record(request.scope)
    record.tenant, record.key = new_session.tenant, new_session.member or new_session.key
    previous_token = read_session_token(request, services.access)
    if previous_token is not None:
        await services.sessions.end(previous_token)
    token = generate_token()
    await services.sessions.begin(token, new_session, services.clock.now())
    response = RedirectResponse(to_console_path(next), 303, {"Cache-Control": "no-store"})
    set_session_cookie(response, request, services.access, token)
    return response


@router.post("/console/sign-out", response_class=HTMLResponse)
async def sign_out(request: Request, caller: SignedInDependency, services: ServicesDependency) -> Response:
    """End the session. Its cookie becomes invalid, so even a copy of it no longer works."""
    token = read_session_token(request, services.access)
    if token is not None:
        await services.sessions.end(token)
    return _redirect_signed_out(request, services)


@router.post("/console/sign-out-everywhere", response_class=HTMLResponse)
async def sign_out_everywhere(request: Request, caller: SignedInDependency, services: ServicesDependency) -> Response:
    """End all of the member's sessions, including those on lost or shared devices."""
    await services.sessions.end_all(caller.tenant, caller.subject)
    return _redirect_signed_out(request, services)


def _redirect_signed_out(request: Request, services: Services) -> Response:
    headers = {"Cache-Control": "no-store"}
    if is_behind_tls(request, services.access):  # browsers ignore the header without TLS
        headers["Clear-Site-Data"] = '"cache", "storage"'
    response = RedirectResponse(SIGN_IN, 303, headers)
    clear_session_cookie(response, request, services.access)
    return response


def render_sign_in(
    request: Request, services: Services, next: str, refusal: str = "", status: int = 200, *, sent: bool = False
) -> HTMLResponse:
    next_path = to_console_path(next)
    labels = {
        f"{SIGN_IN}/{name}?{urlencode({'next': next_path})}": identity_provider.settings.label
        for name, identity_provider in services.identity_providers.items()
    }
    values = {
        "next": next_path,
        "refusal": refusal,
        "providers": labels,
        "sends_email": services.mails.enabled,
        "sent": sent,
    }
    return render_template("sign_in.html", request, None, status=status, **values)
