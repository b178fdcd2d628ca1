"""Sign-in with an organisation's own accounts: OpenID Connect, authorization code flow with PKCE, state and nonce.

Authlib and joserfc implement the protocol. This module sends the requests to the provider and verifies the signed token
in its response. Specifications: OpenID Connect Core 1.0, sections 3.1 and 5.3; RFC 7636; RFC 9207."""

import base64
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import quote, urlsplit

import aiohttp
from pydantic import ConfigDict, Field, ValidationError

from assayer.errors import AssayerError
from assayer.models import Frozen
from assayer.ports import Clock
from orchestrator.settings import IdentityProviderSettings

if TYPE_CHECKING:
    from authlib.oidc.core import CodeIDToken
    from joserfc.jwk import KeySet
    from joserfc.jwt import Token

T = TypeVar("T", bound=Frozen)

_TIMEOUT_SECONDS = 10.0
"""Timeout in seconds of each request to the provider."""
_MAX_RESPONSE_BYTES = 1_000_000
"""Maximum size in bytes of a response from the provider."""
_LEEWAY_SECONDS = 60
"""Maximum difference in seconds between the provider's clock and this machine's clock."""
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]
"""Accepted signature algorithms. All of them use a private key that only the provider has; algorithms with a shared
secret and `none` are excluded."""


class SignInFailed(AssayerError):
    """Raised if the provider does not identify the person who signs in, or if its response cannot be trusted."""


class Identity(NamedTuple):
    """Identity of a person as reported by the provider."""

    issuer: str
    subject: str
    """Identifier of the account at the provider, which never assigns it to another person."""
    name: str
    email: str | None
    """Verified email address; None if the provider has not verified it."""
    groups: tuple[str, ...]


class ProviderMetadata(Frozen):
    """Endpoints of a provider (OpenID Connect Discovery 1.0)."""

    model_config = ConfigDict(extra="ignore")

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False

    def check_encrypted(self, issuer: str) -> None:
        """Raise SignInFailed if the issuer uses TLS but one of its endpoints does not."""
        urls = (self.authorization_endpoint, self.token_endpoint, self.jwks_uri, self.userinfo_endpoint)
        if urlsplit(issuer).scheme == "https" and any(url and urlsplit(url).scheme != "https" for url in urls):
            raise SignInFailed("The provider's metadata contains a URL that does not use https.")


class _Tokens(Frozen):
    model_config = ConfigDict(extra="ignore")

    id_token: str = Field(max_length=200_000)
    access_token: str = Field(max_length=200_000)


class IdentityProvider:
    """Identity provider configured by the operator. Its metadata is fetched once; its keys are fetched again whenever
    it signs with an unknown key."""

    def __init__(self, name: str, settings: IdentityProviderSettings, callback: str, clock: Clock) -> None:
        """Configure the provider. `callback` is the redirect URL, which must be registered with the provider."""
        self.name = name
        self.settings = settings
        self._callback = callback
        self._clock = clock
        self._metadata: ProviderMetadata | None = None
        self._keys: KeySet | None = None

    async def build_authorization_url(self, state: str, nonce: str, verifier: str) -> str:
        """Return the URL to which a person is redirected to sign in. Raises SignInFailed."""
        from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
        from authlib.oauth2.rfc7636 import create_s256_code_challenge

        metadata = await self._get_metadata()
        url: str = prepare_grant_uri(
            metadata.authorization_endpoint,
            self.settings.client_id,
            "code",
            redirect_uri=self._callback,
            scope=" ".join(self.settings.scopes),
            state=state,
            nonce=nonce,
            code_challenge=create_s256_code_challenge(verifier),
            code_challenge_method="S256",
        )
        return url

    async def fetch_identity(self, code: str, issuer: str | None, nonce: str, verifier: str) -> Identity:
        """Exchange the `code` of the redirect for the identity of the person who signed in. `issuer` is the issuer
        stated in the redirect, if any. Raises SignInFailed."""
        metadata = await self._get_metadata()
        if issuer is None and metadata.authorization_response_iss_parameter_supported:
            raise SignInFailed("The redirect lacks the parameter 'iss', which names the provider.")
        if issuer is not None and issuer != metadata.issuer:
            raise SignInFailed("The redirect comes from a different provider.")
        tokens = await self._fetch_tokens(metadata, code, verifier)
        claims = await self._verify_id_token(metadata, tokens, nonce)
        return await self._build_identity(metadata, tokens, claims)

    async def _get_metadata(self) -> ProviderMetadata:
        if self._metadata is None:
            issuer = self.settings.issuer.rstrip("/")
            metadata = _parse_response(
                ProviderMetadata, await self._send_request("GET", f"{issuer}/.well-known/openid-configuration")
            )
            if metadata.issuer.rstrip("/") != issuer:
                raise SignInFailed(f"The provider states the issuer {metadata.issuer}, not {issuer}.")
            metadata.check_encrypted(issuer)
            self._metadata = metadata
        return self._metadata

    async def _fetch_tokens(self, metadata: ProviderMetadata, code: str, verifier: str) -> _Tokens:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._callback,
            "code_verifier": verifier,
        }
        headers = {}
        client_id, secret = self.settings.client_id, self.settings.client_secret
        methods = metadata.token_endpoint_auth_methods_supported
        if secret is None:
            form["client_id"] = client_id
        elif "client_secret_basic" in methods or "client_secret_post" not in methods:
            credentials = f"{quote(client_id, safe='')}:{quote(secret.get_secret_value(), safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(credentials.encode()).decode()}"
        else:
            form |= {"client_id": client_id, "client_secret": secret.get_secret_value()}
        return _parse_response(
            _Tokens, await self._send_request("POST", metadata.token_endpoint, data=form, headers=headers)
        )

    async def _verify_id_token(self, metadata: ProviderMetadata, tokens: _Tokens, nonce: str) -> "CodeIDToken":
        from authlib.oidc.core import CodeIDToken
        from joserfc.errors import JoseError

        try:
            token = await self._decode_token(metadata, tokens.id_token)
            claims = CodeIDToken(
                token.claims,
                token.header,
                options={
                    "iss": {"essential": True, "value": metadata.issuer},
                    "aud": {"essential": True, "value": self.settings.client_id},
                },
                params={"nonce": nonce, "client_id": self.settings.client_id, "access_token": tokens.access_token},
            )
            claims.validate(now=int(self._clock.now().timestamp()), leeway=_LEEWAY_SECONDS)
        except (JoseError, ValueError) as error:
            raise SignInFailed(f"The provider's token cannot be trusted: {type(error).__name__}.") from error
        if not isinstance(claims.get("sub"), str) or not 0 < len(claims["sub"]) <= 255:
            raise SignInFailed("The provider's token does not identify an account.")
        return claims

    async def _decode_token(self, metadata: ProviderMetadata, token: str) -> "Token":
        """Verify and decode the signed token. If no known key verifies it, fetch the keys again, because providers
        rotate them."""
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        if self._keys is not None:
            try:
                return jwt.decode(token, self._keys, algorithms=_ALGORITHMS)
            except (JoseError, ValueError):
                self._keys = None
        key_set = await self._send_request("GET", metadata.jwks_uri)
        try:
            self._keys = KeySet.import_key_set(key_set)  # type: ignore[arg-type]
        except (JoseError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise SignInFailed("The provider's keys cannot be read.") from error
        return jwt.decode(token, self._keys, algorithms=_ALGORITHMS)

    async def _build_identity(self, metadata: ProviderMetadata, tokens: _Tokens, claims: Mapping[str, Any]) -> Identity:
        """Return the identity, with claims that the signed token lacks taken from the provider's user info. Raises
        SignInFailed if the user info describes a different account."""
        all_claims = dict(claims)
        if (
            metadata.userinfo_endpoint is not None
            and not {"email", "name", self.settings.groups_claim} <= all_claims.keys()
        ):
            headers = {"Authorization": f"Bearer {tokens.access_token}"}
            user_info = await self._send_request("GET", metadata.userinfo_endpoint, headers=headers)
            if user_info.get("sub") != all_claims["sub"]:
                raise SignInFailed("The identity provider returned a different account.")
            all_claims = user_info | all_claims
        email = all_claims.get("email")
        email_verified = all_claims.get("email_verified")
        is_verified = email_verified is True or (self.settings.trust_email and email_verified in (None, "true"))
        groups = all_claims.get(self.settings.groups_claim)
        return Identity(
            issuer=metadata.issuer,
            subject=all_claims["sub"],
            name=_clean_line(all_claims.get("name"))
            or _clean_line(all_claims.get("preferred_username"))
            or _clean_line(email)
            or "Unnamed",
            email=_clean_line(email) if is_verified else None,
            groups=tuple(group for group in groups if isinstance(group, str)) if isinstance(groups, list) else (),
        )

    async def _send_request(self, method: str, url: str, **options: Any) -> dict[str, Any]:
        timeout = aiohttp.ClientTimeout(total=_TIMEOUT_SECONDS)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as http,
                http.request(method, url, allow_redirects=False, **options) as response,
            ):
                content = b""
                async for chunk in response.content.iter_chunked(65_536):
                    content += chunk
                    if len(content) > _MAX_RESPONSE_BYTES:
                        raise SignInFailed(f"The provider's response is larger than {_MAX_RESPONSE_BYTES:,} bytes.")
            if response.status != 200:
                raise SignInFailed(f"The provider rejected the request with status {response.status}.")
            document = json.loads(content)
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise SignInFailed(
                f"The provider is unreachable or its response is not JSON: {type(error).__name__}."
            ) from error
        if not isinstance(document, dict):
            raise SignInFailed("The provider's response is not a JSON object.")
        return document


def _parse_response(model: type[T], response: Mapping[str, Any]) -> T:
    try:
        return model.model_validate(response)
    except ValidationError:
        raise SignInFailed("The provider's response has missing or invalid fields.") from None


def _clean_line(value: object) -> str | None:
    """Return the value as a single line of at most 200 characters; None if it is not text, empty or unprintable."""
    text = " ".join(value.split())[:200] if isinstance(value, str) else ""
    return text if text and text.isprintable() else None
