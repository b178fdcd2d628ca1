"""Attempts to sign in with an identity provider, between leaving for it and coming back: each is finished once."""

import datetime as dt
from typing import NamedTuple

from orchestrator.access.sessions import hash_token
from orchestrator.settings import AccessSettings
from orchestrator.store.database import Database

__all__ = ["PgSignInAttempts", "SignInAttempt"]

_BEGIN = """
    INSERT INTO sign_in_attempts (hash, provider, state, nonce, verifier, next, ends_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
"""
_TAKE = """
    DELETE FROM sign_in_attempts WHERE hash = $1 RETURNING provider, state, nonce, verifier, next, ends_at > $2 AS open
"""


class SignInAttempt(NamedTuple):
    provider: str
    state: str
    """What comes back must carry it: it was begun here."""
    nonce: str
    """What the provider signs must carry it: it was signed for this attempt."""
    verifier: str
    """Without it the code that comes back is worth nothing to anybody else (RFC 7636)."""
    next: str
    """Page of the console."""


class PgSignInAttempts:
    def __init__(self, database: Database, settings: AccessSettings) -> None:
        self._database = database
        self._settings = settings

    async def begin(self, token: str, attempt: SignInAttempt, now: dt.datetime) -> None:
        """Deletes those that nobody came back from."""
        await self._database.execute("DELETE FROM sign_in_attempts WHERE ends_at < $1", now)
        ends = now + dt.timedelta(seconds=self._settings.attempt_seconds)
        await self._database.execute(_BEGIN, hash_token(token), *attempt, ends)

    async def take(self, token: str, now: dt.datetime) -> SignInAttempt | None:
        """None for one that is over, was never begun, or was taken before."""
        row = await self._database.fetch_one(_TAKE, hash_token(token), now)
        if row is None or not row["open"]:
            return None
        return SignInAttempt(row["provider"], row["state"], row["nonce"], row["verifier"], row["next"])
