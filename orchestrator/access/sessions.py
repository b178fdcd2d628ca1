"""Browser sessions of people: tokens and duration. Only a hash of the token is stored."""

import datetime as dt
import hashlib
import hmac
import re
import secrets
from typing import NamedTuple

from assayer_client.accounts import Scope
from orchestrator.access.roles import MemberId, PersonRole
from orchestrator.jobs.models import KeyId, TenantId

_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


class NewSession(NamedTuple):
    """Session to create after a person signs in, either with a key or through an identity provider as a member."""

    tenant: TenantId
    role: PersonRole
    name: str
    key: KeyId | None = None
    """Key used to sign in. The session ends when the key does."""
    member: MemberId | None = None
    """Member who signed in. The session ends when the member is removed, and follows changes of role."""


class Session(NamedTuple):
    tenant: TenantId
    subject: str
    """Id of the member, or of the key of a person who is not a member."""
    name: str
    role: PersonRole
    member: MemberId | None
    ends_at: dt.datetime
    """Latest time at which the session ends."""
    wait_seconds: float | None = None
    """Seconds until the next request is allowed; None if this request is within the rate limit."""


def draw_token() -> str:
    """Return a random token of 256 bits."""
    return secrets.token_urlsafe(32)


def hash_token(token: str) -> bytes | None:
    """Return the SHA-256 hash of a token, which suffices for 256 random bits; None if it cannot be a token."""
    return hashlib.sha256(token.encode()).digest() if _TOKEN.fullmatch(token) else None


def csrf_token_of(token: str) -> str:
    """Return a CSRF token that only the holder of the session's token can compute and that does not reveal it."""
    return hmac.digest(token.encode(), b"assayer csrf", "sha256").hex()


def role_of_key(scopes: frozenset[Scope]) -> PersonRole | None:
    """Return the role of a person who signs in with a key that belongs to no member; None for a key that cannot open
    the console. A person is allowed to see and decide more than a program with the same scope."""
    return "owner" if scopes & {"manage", "admin"} else None


def scopes_of_role(role: PersonRole) -> frozenset[Scope]:
    """Return the scopes a person with this role has in the machine API."""
    match role:
        case "owner":
            return frozenset({"submit", "read", "manage"})
        case "officer":
            return frozenset({"submit", "read"})
        case "auditor" | "reviewer":
            return frozenset({"read"})
