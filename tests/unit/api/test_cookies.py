"""Cookies of sign-in are taken by the name alone by which we would set them."""

from collections.abc import Callable

import pytest
from starlette.requests import Request

from orchestrator.access.cookies import attempt_token, session_token
from orchestrator.settings import AccessSettings

PUBLIC = AccessSettings(url="https://assayer.example.org")


def _asked(scheme: str, cookies: str) -> Request:
    headers = [(b"host", b"assayer.example.org"), (b"cookie", cookies.encode())]
    return Request({"type": "http", "scheme": scheme, "path": "/console", "query_string": b"", "headers": headers})


@pytest.mark.parametrize(("token", "name"), [(session_token, "assayer-session"), (attempt_token, "assayer-sign-in")])
@pytest.mark.parametrize(
    ("settings", "scheme", "secure"),
    [
        (PUBLIC, "http", True),
        (PUBLIC, "https", True),
        (AccessSettings(), "https", True),
        (AccessSettings(), "http", False),
    ],
)
def test_a_planted_cookie_is_never_read(
    token: Callable[[Request, AccessSettings], str | None],
    name: str,
    settings: AccessSettings,
    scheme: str,
    secure: bool,
) -> None:
    ours, planted = (f"__Host-{name}", name) if secure else (name, f"__Host-{name}")
    assert token(_asked(scheme, f"{planted}=Eve"), settings) is None
    assert token(_asked(scheme, f"{planted}=Eve; {ours}=Ada"), settings) == "Ada"
    assert token(_asked(scheme, f"{ours}=Ada; {planted}=Eve"), settings) == "Ada"
