"""Cookies for sign-in: one for the session, and one for an attempt to sign in through an identity provider. Scripts
cannot read them."""

import datetime as dt
from base64 import urlsafe_b64decode, urlsafe_b64encode

from pydantic import AwareDatetime, Field
from starlette.requests import Request
from starlette.responses import Response

from assayer.models import Frozen
from orchestrator.settings import AccessSettings

_SESSION_COOKIE, _ATTEMPT_COOKIE = "assayer-session", "assayer-sign-in"
SIGN_IN_SECONDS = 600
"""Maximum seconds for signing in through an identity provider."""
_HOST_PREFIX = "__Host-"
"""Cookie name prefix that makes browsers accept the cookie only over TLS and only from this exact host."""


class SignInAttempt(Frozen):
    """Data that the browser keeps while the person is signing in at an identity provider.

    It needs no signature, because it contains nothing that the service trusts. An attacker who could plant an attempt
    in a browser could equally plant their own signed attempt. The provider accepts a code only once, so an attempt can
    be used only once."""

    provider: str = Field(max_length=40)
    state: str = Field(min_length=43, max_length=43)
    """State that the provider's response must contain, which proves that this browser started the attempt."""
    nonce: str = Field(min_length=43, max_length=43)
    """Nonce that the provider's token must contain, which proves that the token was issued for this attempt."""
    verifier: str = Field(min_length=43, max_length=43)
    """PKCE verifier (RFC 7636), without which the code is useless to others."""
    next: str = Field(max_length=2_000)
    """Console page to open after sign-in."""
    ends_at: AwareDatetime


def read_session_token(request: Request, settings: AccessSettings) -> str | None:
    return _read_cookie(request, settings, _SESSION_COOKIE)


def read_attempt(request: Request, settings: AccessSettings, now: dt.datetime) -> SignInAttempt | None:
    """Return the sign-in attempt that this browser started; None if there is none or it has expired."""
    try:
        attempt = SignInAttempt.model_validate_json(
            urlsafe_b64decode(_read_cookie(request, settings, _ATTEMPT_COOKIE) or "")
        )
    except ValueError:  # the base class of pydantic's and binascii's errors
        return None
    return attempt if attempt.ends_at > now else None


def set_session_cookie(response: Response, request: Request, settings: AccessSettings, token: str) -> None:
    _set_cookie(response, request, settings, _SESSION_COOKIE, token, round(settings.session_seconds))


def set_attempt_cookie(response: Response, request: Request, settings: AccessSettings, attempt: SignInAttempt) -> None:
    value = urlsafe_b64encode(attempt.model_dump_json().encode()).decode()
    _set_cookie(response, request, settings, _ATTEMPT_COOKIE, value, SIGN_IN_SECONDS)


def clear_session_cookie(response: Response, request: Request, settings: AccessSettings) -> None:
    _set_cookie(response, request, settings, _SESSION_COOKIE, "", 0)


def clear_attempt_cookie(response: Response, request: Request, settings: AccessSettings) -> None:
    _set_cookie(response, request, settings, _ATTEMPT_COOKIE, "", 0)


def _read_cookie(request: Request, settings: AccessSettings, name: str) -> str | None:
    """Return a cookie. Only the name that this service would set is accepted, because under TLS a page on another host
    in the domain could set the unprefixed name."""
    return request.cookies.get(_get_cookie_name(request, settings, name)) or None


def _get_cookie_name(request: Request, settings: AccessSettings, name: str) -> str:
    return (_HOST_PREFIX if is_behind_tls(request, settings) else "") + name


def _set_cookie(
    response: Response, request: Request, settings: AccessSettings, name: str, value: str, seconds: int
) -> None:
    # Lax rather than strict, so that people are still signed in when they return from an identity provider or follow a
    # link in an email.
    response.set_cookie(
        _get_cookie_name(request, settings, name),
        value,
        max_age=seconds,
        path="/",
        secure=is_behind_tls(request, settings),
        httponly=True,
        samesite="lax",
    )


def is_behind_tls(request: Request, settings: AccessSettings) -> bool:
    return request.url.scheme == "https" if settings.url is None else settings.url.startswith("https:")
