"""Sessions of people in a browser: their tokens, and how long they last. What is stored is a hash of the token."""

import datetime as dt
import hashlib
import hmac
import re
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import NamedTuple

from orchestrator.access.roles import MemberId, PersonRole
from orchestrator.jobs.api_keys import Scope
from orchestrator.jobs.models import KeyId, TenantId

__all__ = [
    "NewSession",
    "Session",
    "csrf_token_of",
    "draw_token",
    "hash_token",
    "role_of_key",
    "scopes_of_role",
]

_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


class NewSession(NamedTuple):
    """Somebody has signed in: by a key, or by an identity provider as a member."""

    tenant: TenantId
    role: PersonRole
    name: str
    key: KeyId | None = None
    """What was signed in with. The session ends when the key does."""
    member: MemberId | None = None
    """Who signed in. The session ends when the member is removed, and follows changes of role."""


class Session(NamedTuple):
    tenant: TenantId
    subject: str
    """Id of the member, or of the key of somebody who is no member."""
    name: str
    role: PersonRole
    member: MemberId | None
    ends_at: dt.datetime
    """At the latest."""
    wait_seconds: float | None = None
    """Until they may send the next request; None: this one is within their rate."""


def draw_token(random: Callable[[int], bytes] = secrets.token_bytes) -> str:
    """256 bits that nobody can guess."""
    return urlsafe_b64encode(random(32)).decode().rstrip("=")


def hash_token(token: str) -> bytes | None:
    """SHA-256, which is enough for 256 random bits; None for what cannot be a token."""
    return hashlib.sha256(token.encode()).digest() if _TOKEN.fullmatch(token) else None


def csrf_token_of(token: str) -> str:
    """Only who holds the session's token can make it, and it does not tell the token."""
    return hmac.digest(token.encode(), b"assayer csrf", "sha256").hex()


def role_of_key(scopes: frozenset[Scope]) -> PersonRole | None:
    """In which role somebody signs in with a key that belongs to no member; None for a key that opens no console: a
    person sees and decides more than a program with the same scope may."""
    return "owner" if scopes & {"manage", "admin"} else None


def scopes_of_role(role: PersonRole) -> frozenset[Scope]:
    """What a person may ask of the API for machines."""
    match role:
        case "owner":
            return frozenset({"submit", "read", "manage"})
        case "officer":
            return frozenset({"submit", "read"})
        case "auditor" | "reviewer":
            return frozenset({"read"})
