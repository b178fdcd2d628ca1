"""Pages `/console/sign-in/{provider}` and `/console/callback`, for sign-in through an organisation's identity
provider."""

import datetime as dt
import hmac
import logging
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import RedirectResponse, Response

from orchestrator.access.identity_provider import SignInFailed
from orchestrator.access.sessions import NewSession, generate_token
from orchestrator.console.sign_in_pages import begin_session, render_sign_in
from orchestrator.problems import build_not_found_problem, require
from orchestrator.services.admission import admit_person
from orchestrator.web.cookies import (
    SIGN_IN_SECONDS,
    SignInAttempt,
    clear_attempt_cookie,
    read_attempt,
    set_attempt_cookie,
)
from orchestrator.web.return_url import HOME, to_console_path
from orchestrator.web.services import ServicesDependency
from orchestrator.web.signed_in import SIGN_IN

_LOG = logging.getLogger(__name__)
_TOO_LATE = "The sign-in took too long, or was started in another window. Try again."
_DENIED = "Signing in with your organisation failed. Try again, or ask its help desk."
_NOT_INVITED = (
    "You are not a member here. Ask the person who runs the call to invite you under your account's email address. "
    "Your organisation must have verified that address."
)

router = APIRouter(tags=["pages"], include_in_schema=False)


@router.get(SIGN_IN + "/{provider}")
async def redirect_to_provider(
    request: Request,
    services: ServicesDependency,
    provider: Annotated[str, Path(pattern=r"^[a-z0-9_]{1,40}$")],
    next: Annotated[str, Query(max_length=2_000)] = HOME,
) -> Response:
    """Redirect the browser to the identity provider."""
    identity_provider = require(
        services.identity_providers.get(provider), build_not_found_problem("identity provider", provider)
    )
    state, nonce, verifier = (generate_token() for _ in range(3))
    try:
        url = await identity_provider.build_authorization_url(state, nonce, verifier)
    except SignInFailed as error:
        _LOG.warning("sign-in with %s failed: %s", provider, error)
        return render_sign_in(request, services, next, _DENIED, 502)
    attempt = SignInAttempt(
        provider=provider,
        state=state,
        nonce=nonce,
        verifier=verifier,
        next=to_console_path(next),
        ends_at=services.clock.now() + dt.timedelta(seconds=SIGN_IN_SECONDS),
    )
    response = RedirectResponse(url, 303, {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"})
    set_attempt_cookie(response, request, services.access, attempt)
    return response


@router.get("/console/callback")
async def complete_sign_in(
    request: Request,
    services: ServicesDependency,
    code: Annotated[str, Query(max_length=4_000)] = "",
    state: Annotated[str, Query(max_length=200)] = "",
    iss: Annotated[str | None, Query(max_length=1_000)] = None,
) -> Response:
    """Complete a sign-in after the identity provider has redirected the browser back. Only an attempt that this browser
    started is accepted."""
    attempt = read_attempt(request, services.access, services.clock.now())
    identity_provider = None if attempt is None else services.identity_providers.get(attempt.provider)
    if attempt is None or identity_provider is None or not hmac.compare_digest(attempt.state.encode(), state.encode()):
        return _render_refusal(request, services, HOME, _TOO_LATE, 400)
    if not code:
        return _render_refusal(request, services, to_console_path(attempt.next), _DENIED, 403)
    try:
        identity = await identity_provider.fetch_identity(code, iss, attempt.nonce, attempt.verifier)
    except SignInFailed as error:
        _LOG.warning("sign-in with %s failed: %s", attempt.provider, error)
        return _render_refusal(request, services, to_console_path(attempt.next), _DENIED, 403)
    member = await admit_person(services.members, identity_provider, identity, services.new_id, services.clock.now())
    if member is None:
        return _render_refusal(request, services, to_console_path(attempt.next), _NOT_INVITED, 403)
    new_session = NewSession(member.tenant, member.role, member.name, member=member.id)
    response = await begin_session(request, services, new_session, to_console_path(attempt.next))
    clear_attempt_cookie(response, request, services.access)
    return response


def _render_refusal(request: Request, services: ServicesDependency, next: str, reason: str, status: int) -> Response:
    page = render_sign_in(request, services, next, reason, status)
    clear_attempt_cookie(page, request, services.access)
    return page
