"""API keys: their scopes and plans, how they are generated and hashed, and who a request comes from."""

import datetime as dt
import hashlib
import re
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Literal, NamedTuple

from pydantic import Field

from assayer.models import Frozen
from orchestrator.access.roles import MemberId, Role
from orchestrator.jobs.models import KeyId, TenantId

__all__ = [
    "ApiKey",
    "AuthenticatedCaller",
    "GeneratedKey",
    "KeyPlan",
    "KeyRate",
    "KeyRejection",
    "Scope",
    "generate_key",
    "hash_key",
    "key_called",
]

Scope = Literal["submit", "read", "manage", "metrics", "admin"]
"""manage: a tenant's own keys, webhooks and deletion; metrics: figures of all tenants, and nothing else; admin: all."""

_KEY = re.compile(r"ak_[A-Za-z0-9]{1,40}_[A-Za-z0-9_-]{43}")


class KeyPlan(Frozen):
    name: str = Field(min_length=1, max_length=200)
    scopes: frozenset[Scope] = Field(min_length=1)
    requests_per_minute: int | None = Field(default=None, gt=0)
    """None: the service's setting."""
    expires_at: dt.datetime | None = None
    member: MemberId | None = None
    """Whose it is; None: a machine's."""


class ApiKey(KeyPlan):
    """A key without its secret, which only its holder has."""

    id: KeyId
    tenant: TenantId
    created_at: dt.datetime
    revoked_at: dt.datetime | None


class GeneratedKey(NamedTuple):
    """A new key. `secret` is shown once; only its hash is stored."""

    id: KeyId
    secret: str

    def __repr__(self) -> str:
        return f"GeneratedKey(id={self.id!r})"


class KeyRate(NamedTuple):
    """A key's rate limit, and how much of it is used."""

    per_minute: int
    remaining: int
    """Requests that could follow immediately."""
    full_seconds: float
    """Until the full burst is available again."""


class AuthenticatedCaller(NamedTuple):
    """The holder of the key of an admitted request."""

    tenant: TenantId
    key: KeyId
    scopes: frozenset[Scope]
    rate: KeyRate | None
    """None: a session, which no rate limit counts."""
    name: str
    """Of the person whose the key is; of a key that is nobody's, as `key_called` says."""
    role: Role = "machine"
    member: MemberId | None = None


class KeyRejection(NamedTuple):
    reason: Literal["unknown", "expired", "revoked", "rate", "tenant rate"]
    retry_after: float | None = None
    """Seconds until the next request is admitted, where a rate limit was the reason."""
    rate: KeyRate | None = None
    tenant: TenantId | None = None
    key: KeyId | None = None


def generate_key(random: Callable[[int], bytes] = secrets.token_bytes) -> GeneratedKey:
    """`ak_<id>_<43 characters>`: 64 bits that name it and 256 that nobody can guess."""
    key = KeyId(f"ak_{random(8).hex()}")
    return GeneratedKey(key, f"{key}_{_url_safe(random(32))}")


def hash_key(secret: str) -> bytes | None:
    """SHA-256, which is enough for 256 random bits; None for what cannot be a key."""
    return hashlib.sha256(secret.encode()).digest() if _KEY.fullmatch(secret) else None


def key_called(name: str) -> str:
    """What a key that belongs to no member is called where people are named: nobody takes it for one of them."""
    return f"key “{name}”"


def _url_safe(random: bytes) -> str:
    return urlsafe_b64encode(random).decode().rstrip("=")
