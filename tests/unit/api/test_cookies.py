"""Cookies of sign-in are taken by the name alone by which we would set them."""

import datetime as dt
from base64 import urlsafe_b64encode
from collections.abc import Callable

import pytest
from starlette.requests import Request

from orchestrator.settings import AccessSettings
from orchestrator.web.cookies import SignInAttempt, read_attempt, read_session_token

NOW = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)
PUBLIC = AccessSettings(url="https://assayer.example.org")


def _asked(scheme: str, cookies: str) -> Request:
    headers = [(b"host", b"assayer.example.org"), (b"cookie", cookies.encode())]
    return Request({"type": "http", "scheme": scheme, "path": "/console", "query_string": b"", "headers": headers})


def _attempt(state: str) -> str:
    attempt = SignInAttempt(
        provider="idp",
        state=state * 43,
        nonce="n" * 43,
        verifier="v" * 43,
        next="/console",
        ends_at=NOW + dt.timedelta(1),
    )
    return urlsafe_b64encode(attempt.model_dump_json().encode()).decode()


def _state(request: Request, settings: AccessSettings) -> str | None:
    attempt = read_attempt(request, settings, NOW)
    return _attempt(attempt.state[0]) if attempt else None


@pytest.mark.parametrize(
    ("read", "name", "own", "foreign"),
    [
        (read_session_token, "assayer-session", "Ada", "Eve"),
        (_state, "assayer-sign-in", _attempt("a"), _attempt("e")),
    ],
)
@pytest.mark.parametrize(
    ("settings", "scheme", "secure"),
    [
        (PUBLIC, "http", True),
        (PUBLIC, "https", True),
        (AccessSettings(), "https", True),
        (AccessSettings(), "http", False),
    ],
)
def test_cookie_with_wrong_host_prefix_is_ignored(
    read: Callable[[Request, AccessSettings], str | None],
    name: str,
    own: str,
    foreign: str,
    settings: AccessSettings,
    scheme: str,
    secure: bool,
) -> None:
    ours, planted = (f"__Host-{name}", name) if secure else (name, f"__Host-{name}")
    assert read(_asked(scheme, f"{planted}={foreign}"), settings) is None
    assert read(_asked(scheme, f"{planted}={foreign}; {ours}={own}"), settings) == own
    assert read(_asked(scheme, f"{ours}={own}; {planted}={foreign}"), settings) == own
