"""Browser sessions of people, and their tokens. Only a hash of each token is stored."""

import datetime as dt
import hashlib
import hmac
import re
import secrets
from typing import NamedTuple

from assayer_client.accounts import Scope
from orchestrator.access.roles import MemberId, PersonRole
from orchestrator.jobs.models import KeyId, TenantId

_TOKEN_PATTERN = re.compile(r"[A-Za-z0-9_-]{43}")


SIGN_IN_LINK_DAYS = 14
"""Days for which a reviewer's sign-in link is valid."""


class NewSession(NamedTuple):
    """Session to create for a person who signed in, with a key or as a member through an identity provider."""

    tenant: TenantId
    role: PersonRole
    name: str
    key: KeyId | None = None
    """Key used to sign in. The session ends when the key expires or is revoked."""
    member: MemberId | None = None
    """Member who signed in. The session ends when the member is removed; a change of the member's role applies to the
    session immediately."""


class Session(NamedTuple):
    tenant: TenantId
    subject: str
    """Id of the member, or the id of the key if the person is not a member."""
    name: str
    role: PersonRole
    member: MemberId | None
    ends_at: dt.datetime
    """Time at which the session ends at the latest."""
    wait_seconds: float | None = None
    """Seconds until the next request is allowed; None if this request is within the rate limit."""


def generate_token() -> str:
    """Return a random token of 256 bits."""
    return secrets.token_urlsafe(32)


def hash_token(token: str) -> bytes | None:
    """Return the SHA-256 hash of a token; None if the text does not have the form of a token. A slow password hash is
    not needed, because 256 random bits cannot be guessed."""
    return hashlib.sha256(token.encode()).digest() if _TOKEN_PATTERN.fullmatch(token) else None


def derive_csrf_token(token: str) -> str:
    """Return the CSRF token of a session. Only the holder of the session's token can compute it, and it does not reveal
    that token."""
    return hmac.digest(token.encode(), b"assayer csrf", "sha256").hex()


def derive_role_from_key(scopes: frozenset[Scope]) -> PersonRole | None:
    """Return the role of a person who signs in with a key that belongs to no member; None if the key cannot open the
    console. In the console, the person can see and do more than a program with the same key."""
    return "owner" if scopes & {"manage", "admin"} else None


def get_role_scopes(role: PersonRole) -> frozenset[Scope]:
    """Return the scopes that a person with this role has in the API."""
    match role:
        case "owner":
            return frozenset({"submit", "read", "manage"})
        case "officer":
            return frozenset({"submit", "read"})
        case "auditor" | "reviewer":
            return frozenset({"read"})
