"""Claims of an identity provider about a person: believed where they are signed and fit, refused otherwise."""

import json
import time
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet, OctKey, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from cluster.clock import SystemClock
from orchestrator.access.identity_provider import IdentityProvider, ProviderMetadata, SignInFailed
from orchestrator.settings import IdentityProviderSettings
from tests.contract.api.identity_provider import CALLBACK
from tests.contract.api.service import serve

KEY, FOREIGN = (RSAKey.generate_key(2048, {"kid": kid}) for kid in ("ours", "ours"))


class _Forger:
    """A provider that says what a test tells it to."""

    def __init__(self) -> None:
        self.claims: dict[str, Any] = {}
        self.key: RSAKey | OctKey = KEY
        self.algorithm = "RS256"
        self.published = KEY
        self.userinfo: dict[str, Any] = {}
        self.issuer = ""
        self.key_set: object = None
        self.url = ""
        routes = [
            Route("/.well-known/openid-configuration", self._describe),
            Route("/token", self._send_token, methods=["POST"]),
            Route("/keys", self._send_keys),
            Route("/userinfo", self._send_userinfo),
        ]
        self.app = Starlette(routes=routes)

    async def _describe(self, _: Request) -> JSONResponse:
        urls = {name: f"{self.url}/{name}" for name in ("authorize", "token", "keys", "userinfo")}
        return JSONResponse(
            {
                "issuer": self.issuer or self.url,
                "authorization_endpoint": urls["authorize"],
                "token_endpoint": urls["token"],
                "jwks_uri": urls["keys"],
                "userinfo_endpoint": urls["userinfo"],
            }
        )

    async def _send_token(self, _: Request) -> JSONResponse:
        if self.algorithm == "none":
            parts = (json.dumps(part).encode() for part in ({"alg": "none"}, self._build_claims()))
            unsigned = ".".join(urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)
            return JSONResponse({"id_token": f"{unsigned}.", "access_token": "at"})
        header = {"alg": self.algorithm, "kid": "ours"}
        signed_token = jwt.encode(header, self._build_claims(), self.key, algorithms=["RS256", "HS256"])
        return JSONResponse({"id_token": signed_token, "access_token": "at"})

    def _build_claims(self) -> dict[str, Any]:
        now = int(time.time())
        good = {"iss": self.url, "aud": "assayer", "sub": "ada", "iat": now, "exp": now + 60, "nonce": "n"}
        return {name: value for name, value in (good | self.claims).items() if value is not None}

    async def _send_keys(self, _: Request) -> JSONResponse:
        return JSONResponse(self.key_set or KeySet([self.published]).as_dict(private=False))

    async def _send_userinfo(self, _: Request) -> JSONResponse:
        return JSONResponse({"sub": "ada", "email": "ada@example.org", "email_verified": True} | self.userinfo)


@asynccontextmanager
async def _run_forger() -> AsyncIterator[tuple[_Forger, IdentityProvider]]:
    forger = _Forger()
    async with serve(forger.app) as url:
        forger.url = url
        settings = IdentityProviderSettings(issuer=url, client_id="assayer", tenant="acme")
        yield forger, IdentityProvider("agency", settings, CALLBACK, SystemClock())


async def test_valid_signed_claims_are_accepted() -> None:
    async with _run_forger() as (_, provider):
        identity = await provider.fetch_identity("code", None, "n", "v")
    assert (identity.subject, identity.email, identity.name) == ("ada", "ada@example.org", "ada@example.org")


@pytest.mark.parametrize(
    ("claims", "believed"),
    [({"email_verified": None}, True), ({"email_verified": True}, True), ({"email_verified": False}, False)],
)
async def test_explicitly_unverified_address_is_never_trusted(claims: dict[str, Any], believed: bool) -> None:
    async with _run_forger() as (forger, provider):
        provider.settings = provider.settings.model_copy(update={"trust_email": True})
        forger.userinfo = claims
        identity = await provider.fetch_identity("code", None, "n", "v")
    assert identity.email == ("ada@example.org" if believed else None)


@pytest.mark.parametrize(
    ("part", "claims"),
    [
        ("claims", {"iss": "https://evil.example"}),
        ("claims", {"aud": "another service"}),
        ("claims", {"aud": ["another service"]}),
        ("claims", {"aud": ["assayer", "another service"], "azp": "another service"}),
        ("claims", {"exp": 1_000_000_000}),
        ("claims", {"exp": None}),
        ("claims", {"iat": None}),
        ("claims", {"sub": None}),
        ("claims", {"sub": ""}),
        ("claims", {"sub": 7}),
        ("claims", {"nonce": "another"}),
        ("claims", {"nonce": None}),
        ("claims", {"nbf": 4_000_000_000}),
        ("claims", {"at_hash": "of another token"}),
        ("userinfo", {"sub": "eve"}),
        ("key_set", {"keys": 7}),
        ("key_set", {"keys": ["x"]}),
        ("key_set", {"keys": [{"kty": "RSA"}]}),
        ("key_set", {"no": "keys"}),
        ("key_set", [1]),
    ],
)
async def test_mismatched_or_malformed_claims_are_rejected(part: str, claims: object) -> None:
    async with _run_forger() as (forger, provider):
        setattr(forger, part, claims)
        with pytest.raises(SignInFailed):
            await provider.fetch_identity("code", None, "n", "v")


async def test_invalid_signatures_are_rejected() -> None:
    async with _run_forger() as (forger, provider):
        forger.key = FOREIGN
        with pytest.raises(SignInFailed):
            await provider.fetch_identity("code", None, "n", "v")
        forger.algorithm = "none"
        with pytest.raises(SignInFailed):
            await provider.fetch_identity("code", None, "n", "v")
        forger.key, forger.algorithm = OctKey.import_key("a secret that everybody could know"), "HS256"
        with pytest.raises(SignInFailed):
            await provider.fetch_identity("code", None, "n", "v")


async def test_rotated_provider_keys_are_fetched() -> None:
    async with _run_forger() as (forger, provider):
        await provider.fetch_identity("code", None, "n", "v")
        forger.key = forger.published = FOREIGN
        assert (await provider.fetch_identity("code", None, "n", "v")).subject == "ada"


async def test_responses_from_another_issuer_are_rejected() -> None:
    async with _run_forger() as (_, provider):
        with pytest.raises(SignInFailed):
            await provider.fetch_identity("code", "https://evil.example", "n", "v")
    async with _run_forger() as (forger, provider):
        forger.issuer = "https://evil.example"
        with pytest.raises(SignInFailed):
            await provider.build_authorization_url("s", "n", "v")


def test_user_info_address_without_tls_is_rejected() -> None:
    issuer = "https://login.example.org"
    described = ProviderMetadata(
        issuer=issuer,
        authorization_endpoint=issuer,
        token_endpoint=issuer,
        jwks_uri=issuer,
        userinfo_endpoint="http://login.example.org/me",
    )
    with pytest.raises(SignInFailed, match="a URL that does not use https"):
        described.check_encrypted(issuer)
