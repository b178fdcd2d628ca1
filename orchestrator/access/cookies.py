"""The cookies of sign-in: one names the session, one an attempt to sign in elsewhere. Scripts cannot read either."""

from starlette.requests import Request
from starlette.responses import Response

from orchestrator.settings import AccessSettings

__all__ = [
    "attempt_token",
    "behind_tls",
    "clear_attempt",
    "clear_session",
    "keep_attempt",
    "keep_session",
    "session_token",
]

_SESSION, _ATTEMPT = "assayer-session", "assayer-sign-in"
_SECURE = "__Host-"
"""Browsers take such a cookie over TLS alone, and from no other host of the domain."""


def session_token(request: Request, settings: AccessSettings) -> str | None:
    return _cookie(request, settings, _SESSION)


def attempt_token(request: Request, settings: AccessSettings) -> str | None:
    return _cookie(request, settings, _ATTEMPT)


def keep_session(response: Response, request: Request, settings: AccessSettings, token: str) -> None:
    _keep(response, request, settings, _SESSION, token, round(settings.session_seconds))


def keep_attempt(response: Response, request: Request, settings: AccessSettings, token: str) -> None:
    _keep(response, request, settings, _ATTEMPT, token, round(settings.attempt_seconds))


def clear_session(response: Response, request: Request, settings: AccessSettings) -> None:
    _keep(response, request, settings, _SESSION, "", 0)


def clear_attempt(response: Response, request: Request, settings: AccessSettings) -> None:
    _keep(response, request, settings, _ATTEMPT, "", 0)


def _cookie(request: Request, settings: AccessSettings, name: str) -> str | None:
    """Only by the name that we would set: over TLS a page of another host of the domain can plant the plain one."""
    return request.cookies.get(_name(request, settings, name)) or None


def _name(request: Request, settings: AccessSettings, name: str) -> str:
    return (_SECURE if behind_tls(request, settings) else "") + name


def _keep(response: Response, request: Request, settings: AccessSettings, name: str, value: str, seconds: int) -> None:
    # Lax, not strict: whoever comes back from an identity provider, or by a link in a message, is still signed in.
    response.set_cookie(
        _name(request, settings, name),
        value,
        max_age=seconds,
        path="/",
        secure=behind_tls(request, settings),
        httponly=True,
        samesite="lax",
    )


def behind_tls(request: Request, settings: AccessSettings) -> bool:
    return request.url.scheme == "https" if settings.url is None else settings.url.startswith("https:")
