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


def make_request(scheme: str, cookies: str) -> Request:
    headers = [(b"host", b"assayer.example.org"), (b"cookie", cookies.encode())]
    return Request({"type": "http", "scheme": scheme, "path": "/console", "query_string": b"", "headers": headers})


def encode_attempt(state: str) -> str:
    attempt = SignInAttempt(
        provider="idp",
        state=state * 43,
        nonce="n" * 43,
        verifier="v" * 43,
        next="/console",
        ends_at=NOW + dt.timedelta(1),
    )
    return urlsafe_b64encode(attempt.model_dump_json().encode()).decode()


def read_state(request: Request, settings: AccessSettings) -> str | None:
    attempt = read_attempt(request, settings, NOW)
    return encode_attempt(attempt.state[0]) if attempt else None


@pytest.mark.parametrize(
    ("read", "name", "own_value", "foreign"),
    [
        (read_session_token, "assayer-session", "Ada", "Eve"),
        (read_state, "assayer-sign-in", encode_attempt("a"), encode_attempt("e")),
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
    own_value: str,
    foreign: str,
    settings: AccessSettings,
    scheme: str,
    secure: bool,
) -> None:
    own_name, planted_name = (f"__Host-{name}", name) if secure else (name, f"__Host-{name}")
    assert read(make_request(scheme, f"{planted_name}={foreign}"), settings) is None
    assert read(make_request(scheme, f"{planted_name}={foreign}; {own_name}={own_value}"), settings) == own_value
    assert read(make_request(scheme, f"{own_name}={own_value}; {planted_name}={foreign}"), settings) == own_value
