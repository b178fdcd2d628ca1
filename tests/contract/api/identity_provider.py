"""A real identity provider on loopback, which also holds a client to PKCE; and a browser that goes there and back."""

import io
import warnings
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2

from orchestrator.access.identity_provider import IdentityProvider
from orchestrator.settings import AccessSettings, IdentityProviderSettings
from tests.contract.api.service import ACME, Service

BASE = "http://api"
CALLBACK = f"{BASE}/console/callback"


@dataclass
class Provider:
    url: str = ""
    verified: list[str] = field(default_factory=list)
    """Codes whose PKCE verifier was correct."""

    async def create_account(self, subject: str, **claims: Any) -> None:
        """Create an account with these claims at the provider."""
        async with httpx2.AsyncClient() as client:
            assert (await client.put(f"{self.url}/users/{subject}", json=claims)).status_code == 204


class _HoldsToPkce:
    """The provider's own server ignores PKCE."""

    def __init__(self, app: Callable[..., Iterable[bytes]], verified: list[str]) -> None:
        self._app = app
        self._verified = verified
        self._challenges: dict[str, str] = {}

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        parameters = parse_qs(environ.get("QUERY_STRING", ""))
        if environ["PATH_INFO"] == "/oauth2/token":
            body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            environ["wsgi.input"] = io.BytesIO(body)
            form = parse_qs(body.decode())
            digest = sha256(form.get("code_verifier", [""])[0].encode()).digest()
            code = form["code"][0]
            if self._challenges.get(code) != urlsafe_b64encode(digest).decode().rstrip("="):
                start("400 Bad Request", [("Content-Type", "application/json")])
                return [b'{"error": "invalid_grant"}']
            self._verified.append(code)

        def noting(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            location = dict(headers).get("Location", "")
            for code in parse_qs(urlsplit(location).query).get("code", []):
                assert parameters["code_challenge_method"] == ["S256"]
                self._challenges[code] = parameters["code_challenge"][0]
            return start(status, headers, *more)

        return self._app(environ, noting)


@contextmanager
def run_provider() -> Iterator[Provider]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the provider's own
        from oidc_provider_mock import _app, _server

        provider_app = _app.app(require_nonce=True)
    provider = Provider()
    checked_app = _HoldsToPkce(provider_app, provider.verified)
    with _server._threaded_server(app=checked_app) as server:
        provider.url = f"http://localhost:{server.server_port}"
        yield provider


def use_identity_provider(service: Service, issuer: str, **settings: Any) -> Service:
    """The same service, with this identity provider."""
    defaults = {"client_id": "assayer", "client_secret": "s3cret", "tenant": ACME, "label": "your agency's account"}
    provider_settings = IdentityProviderSettings(issuer=issuer, **defaults | settings)
    provider = IdentityProvider("agency", provider_settings, CALLBACK, service.services.clock)
    access = AccessSettings(url=BASE, providers={"agency": provider_settings})
    return service.with_services(identity_providers={"agency": provider}, access=access)


@asynccontextmanager
async def open_browser_client(service: Service) -> AsyncIterator[httpx2.AsyncClient]:
    """Open a client that reaches the service and the identity provider."""
    transport = httpx2.ASGITransport(app=service.app)
    async with httpx2.AsyncClient(mounts={BASE: transport}, base_url=BASE, timeout=30) as client:
        yield client
