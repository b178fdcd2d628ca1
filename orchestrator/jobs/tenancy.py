"""Who may ask for what: tenants, their shares and limits, and their API keys."""

import datetime as dt
import hashlib
import re
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Literal, NamedTuple

from pydantic import Field

from assayer.models import Frozen
from orchestrator.jobs.models import KeyId, TenantId

__all__ = [
    "ApiKey",
    "Caller",
    "DrawnKey",
    "KeyPlan",
    "Rate",
    "Refused",
    "Scope",
    "Tenant",
    "TenantPlan",
    "draw_key",
    "hash_of",
]

Scope = Literal["submit", "read", "manage", "admin"]
"""manage: a tenant's own keys, webhooks and deletion; admin: all tenants."""

_KEY = re.compile(r"ak_[A-Za-z0-9]{1,40}_[A-Za-z0-9_-]{43}")


class TenantPlan(Frozen):
    """What is agreed with a tenant."""

    name: str = Field(min_length=1, max_length=200)
    weight: float = Field(default=1.0, gt=0, le=1_000)
    """Share of the service, in proportion to the weights of the others who ask at the time."""
    max_running: int | None = Field(default=None, gt=0)
    """Jobs at once; None: as many as there are places."""
    max_queued: int = Field(default=20_000, gt=0)
    """More are refused."""
    monthly_usd: float | None = Field(default=None, gt=0)
    """Of a calendar month in UTC. Jobs for which it leaves too little wait for the next."""
    retention_days: int | None = Field(default=None, gt=0)
    """So long after their end jobs are deleted with all that belongs to them; None: kept."""


class Tenant(TenantPlan):
    id: TenantId
    created_at: dt.datetime


class KeyPlan(Frozen):
    name: str = Field(min_length=1, max_length=200)
    scopes: frozenset[Scope] = Field(min_length=1)
    requests_per_minute: int | None = Field(default=None, gt=0)
    """None: what the service's settings say."""
    expires_at: dt.datetime | None = None


class ApiKey(KeyPlan):
    """What is told of a key: not the key, which nobody but its holder has."""

    id: KeyId
    tenant: TenantId
    created_at: dt.datetime
    revoked_at: dt.datetime | None


class DrawnKey(NamedTuple):
    """A new key. `secret` is shown once; stored is its hash."""

    id: KeyId
    secret: str

    def __repr__(self) -> str:
        return f"DrawnKey(id={self.id!r})"


class Rate(NamedTuple):
    """How fast a key may ask, and how far it has come."""

    per_minute: int
    remaining: int
    """Requests that could follow at once."""
    full_seconds: float
    """Until as many as ever could."""


class Caller(NamedTuple):
    """Whose key it was, after it took its turn."""

    tenant: TenantId
    key: KeyId
    scopes: frozenset[Scope]
    rate: Rate


class Refused(NamedTuple):
    reason: Literal["unknown", "expired", "revoked", "rate"]
    retry_after: float | None = None
    """Seconds to the next turn, where asking too fast was the reason."""
    rate: Rate | None = None
    tenant: TenantId | None = None
    key: KeyId | None = None


def draw_key(random: Callable[[int], bytes] = secrets.token_bytes) -> DrawnKey:
    """`ak_<id>_<43 characters>`: 64 bits that name it and 256 that nobody can guess."""
    key = KeyId(f"ak_{random(8).hex()}")
    return DrawnKey(key, f"{key}_{_text(random(32))}")


def hash_of(secret: str) -> bytes | None:
    """SHA-256, which is enough for 256 random bits; None for what cannot be a key."""
    return hashlib.sha256(secret.encode()).digest() if _KEY.fullmatch(secret) else None


def _text(random: bytes) -> str:
    return urlsafe_b64encode(random).decode().rstrip("=")
