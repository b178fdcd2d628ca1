"""Sessions of signed-in people, which are looked up by the hash of their token."""

import datetime as dt

from orchestrator.access.sessions import NewSession, Session, hash_token
from orchestrator.jobs.models import TenantId
from orchestrator.settings import AccessSettings
from orchestrator.store.database import Database, Store
from orchestrator.store.json_columns import replace_nul

_INSERT_SESSION = """
    INSERT INTO sessions (hash, tenant, role, name, key, member, created_at, seen_at, ends_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8)
"""

# The session's key or member is checked each time, so that revocations, removals and role changes take effect
# immediately. A machine key must be one that grants access to the console (see `derive_role_from_key`). `seen_at` is
# written at most once a minute. Requests are rate-limited by person, as API requests are by key.
_SELECT_SESSION = """
    WITH found AS (
        SELECT session.tenant, coalesce(session.member, session.key) AS subject, session.ends_at, session.member,
               coalesce(person.name, session.name) AS name, coalesce(person.role, session.role) AS role
        FROM sessions AS session
        LEFT JOIN members AS person ON person.id = session.member
        LEFT JOIN api_keys AS used ON used.id = session.key
        WHERE session.hash = $1 AND session.ends_at > $2 AND session.seen_at > $3
          AND person.removed_at IS NULL
          AND (session.member IS NOT NULL OR used.scopes && '{manage,admin}')
          AND used.revoked_at IS NULL AND (used.expires_at IS NULL OR used.expires_at > $2)
    ), seen AS (
        UPDATE sessions SET seen_at = $2
        WHERE hash = $1 AND seen_at < $2::timestamptz - interval '1 minute' AND EXISTS (SELECT FROM found)
    ), counted AS (
        INSERT INTO request_rates AS rate (subject, full_at)
        SELECT 'person ' || subject, now() + $4::interval FROM found
        ON CONFLICT (subject) DO UPDATE SET full_at = greatest(rate.full_at, now()) + $4
        WHERE greatest(rate.full_at, now()) + $4::interval - $5::interval <= now()
        RETURNING full_at
    )
    SELECT tenant, subject, name, role, member, ends_at,
           CASE WHEN NOT EXISTS (SELECT FROM counted) THEN (
               SELECT extract(epoch FROM greatest(full_at - now() + $4::interval - $5::interval, interval '0'))::float8
               FROM request_rates AS rate WHERE rate.subject = 'person ' || found.subject
           ) END AS wait_seconds
    FROM found
"""

_DELETE_SESSION = "DELETE FROM sessions WHERE hash = $1"
_DELETE_SESSIONS = "DELETE FROM sessions WHERE tenant = $1 AND coalesce(member, key) = $2"
_DELETE_EXPIRED = "DELETE FROM sessions WHERE ends_at < $1 OR seen_at < $2"


class PgSessions(Store):
    def __init__(self, database: Database, settings: AccessSettings) -> None:
        super().__init__(database)
        self._settings = settings

    async def begin(self, token: str, session: NewSession, now: dt.datetime) -> None:
        """Start a session, and delete all expired sessions."""
        await self._database.execute(_DELETE_EXPIRED, now, now - self._idle_timeout)
        ends_at = now + dt.timedelta(seconds=self._settings.session_seconds)
        name = replace_nul(session.name)
        values = (hash_token(token), session.tenant, session.role, name, session.key, session.member, now, ends_at)
        await self._database.execute(_INSERT_SESSION, *values)

    async def find(self, token: str, now: dt.datetime) -> Session | None:
        """Return the session with this token, and count a request against the person's rate limit. None if the session
        does not exist or has ended, if its key was revoked, or if its member was removed."""
        hashed = hash_token(token)
        if hashed is None:
            return None
        request_interval = dt.timedelta(minutes=1) / self._settings.requests_per_minute
        burst = max(request_interval, dt.timedelta(seconds=self._settings.burst_seconds))
        return await self._database.select_one(
            Session, _SELECT_SESSION, hashed, now, now - self._idle_timeout, request_interval, burst
        )

    async def end(self, token: str) -> None:
        await self._database.execute(_DELETE_SESSION, hash_token(token))

    async def end_all(self, tenant: TenantId, subject: str) -> None:
        """End all sessions in all browsers for a member, or for a key that belongs to no member."""
        await self._database.execute(_DELETE_SESSIONS, tenant, subject)

    @property
    def _idle_timeout(self) -> dt.timedelta:
        return dt.timedelta(seconds=self._settings.idle_seconds)
