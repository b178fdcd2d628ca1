"""API keys: their scopes, generation and hashing, and the caller of a request."""

import datetime as dt
import hashlib
import re
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Literal, NamedTuple

from pydantic import Field

from assayer.models import Frozen
from assayer_client.accounts import Scope
from orchestrator.access.audit_chain import Actor
from orchestrator.access.roles import Act, MemberId, Role, may
from orchestrator.jobs.models import KeyId, TenantId

_KEY_PATTERN = re.compile(r"ak_[A-Za-z0-9]{1,40}_[A-Za-z0-9_-]{43}")


class KeyPlan(Frozen):
    name: str = Field(min_length=1, max_length=200)
    scopes: frozenset[Scope] = Field(min_length=1)
    requests_per_minute: int | None = Field(default=None, gt=0)
    """Maximum requests per minute; None for the service's setting."""
    expires_at: dt.datetime | None = None
    member: MemberId | None = None
    """Member who owns the key; None for a machine's key."""


class ApiKey(KeyPlan):
    """API key without its secret, which only its holder knows."""

    id: KeyId
    tenant: TenantId
    created_at: dt.datetime
    revoked_at: dt.datetime | None


class GeneratedKey(NamedTuple):
    """Newly generated key. `secret` is shown once; only its hash is stored."""

    id: KeyId
    secret: str

    def __repr__(self) -> str:
        return f"GeneratedKey(id={self.id!r})"


class KeyRate(NamedTuple):
    """Rate limit of a key, and the part of it that is still available."""

    per_minute: int
    remaining: int
    """Number of requests that are possible immediately."""
    full_seconds: float
    """Seconds until a full burst of requests is possible again."""


class Caller(NamedTuple):
    """Holder of the key or session that authenticated a request."""

    tenant: TenantId
    key: KeyId
    """Id of the key; for a session, the id of the member, or the id of the key used to sign in if the person is not a
    member."""
    scopes: frozenset[Scope]
    rate: KeyRate | None
    """Rate limit of the key; None for a session, which has no rate limit."""
    name: str
    """Name of the member who owns the key; for a key that belongs to no member, the name returned by
    `format_key_name`."""
    role: Role = "machine"
    member: MemberId | None = None

    @property
    def subject(self) -> MemberId:
        """Id under which the caller acts: the id of the member, or of the key if the caller is not a member."""
        return self.member or MemberId(self.key)

    @property
    def actor(self) -> Actor:
        """Caller in the form in which the audit log names actors."""
        return Actor(self.subject, self.name, self.role)

    def may(self, act: Act) -> bool:
        return may(self.role, act, is_member=self.member is not None)


class KeyRejection(NamedTuple):
    reason: Literal["unknown", "expired", "revoked", "rate", "tenant rate"]
    retry_after: float | None = None
    """Seconds until the next request is admitted, if the reason is a rate limit."""
    rate: KeyRate | None = None
    tenant: TenantId | None = None
    key: KeyId | None = None


def generate_key(random_bytes: Callable[[int], bytes] = secrets.token_bytes) -> GeneratedKey:
    """Generate a key of the form `ak_<id>_<43 characters>`: an id of 64 random bits and a secret of 256 random bits."""
    key = KeyId(f"ak_{random_bytes(8).hex()}")
    secret = urlsafe_b64encode(random_bytes(32)).decode().rstrip("=")
    return GeneratedKey(key, f"{key}_{secret}")


def hash_key(secret: str) -> bytes | None:
    """Return the SHA-256 hash of a key; None if the text does not have the form of a key. A slow password hash is not
    needed, because 256 random bits cannot be guessed."""
    return hashlib.sha256(secret.encode()).digest() if _KEY_PATTERN.fullmatch(secret) else None


def format_key_name(name: str) -> str:
    """Return the display name of a key that belongs to no member. It cannot be mistaken for a person's name."""
    return f"key “{name}”"
