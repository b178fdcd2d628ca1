"""Outbox for emails to members, and the sign-in links in emails. Each email is written in the same transaction as the
event that it announces.

No email is written if the member was removed or does not want emails, or if the service does not send emails."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from orchestrator.access.audit_chain import ActBy
from orchestrator.access.roles import MemberId, PersonRole
from orchestrator.access.sessions import SIGN_IN_LINK_DAYS, generate_token, hash_token
from orchestrator.jobs.models import BatchId, TenantId
from orchestrator.mail.models import (
    BidsRequested,
    ClaimedMail,
    EmailDelivery,
    MemberInvited,
    ReviewsAssigned,
    ReviewsMissing,
    SignInLink,
)
from orchestrator.reviewing.models import Member
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.database import Connection, Database, Store, in_transaction
from orchestrator.store.job_sql import CALL_TITLE
from orchestrator.store.json_columns import replace_nul, to_json_column
from orchestrator.store.outbox import PgOutbox, build_claim_query
from orchestrator.store.rows import from_row

_INSERT_MAIL = """
    INSERT INTO mails (member, batch, news)
    SELECT id, $2, $3 FROM members WHERE id = $1 AND receives_email AND removed_at IS NULL
"""
_SELECT_CALL = f"SELECT {CALL_TITLE} AS name, opinions_due FROM batches WHERE tenant = $1 AND id = $2"
_SELECT_MISSING_REVIEWERS = """
    SELECT members.id, members.name, members.email, members.receives_email, count(*) AS proposals, (
        SELECT max(created_at) FROM mails WHERE member = members.id AND mails.batch = $2
        AND news ->> 'kind' = 'reviews missing'
    ) AS reminded_at
    FROM assignments JOIN jobs ON jobs.id = evaluation JOIN members ON members.id = assignments.member
    WHERE jobs.tenant = $1 AND jobs.batch = $2 AND removed_at IS NULL AND NOT EXISTS (
        SELECT FROM opinions WHERE opinions.evaluation = assignments.evaluation AND opinions.member = members.id
    ) GROUP BY members.id ORDER BY members.name, members.id
"""
_INSERT_SIGN_IN_LINK = """
    INSERT INTO mails (member, news)
    SELECT id, $2 FROM members
    WHERE lower(email) = lower($1) AND role = 'reviewer' AND receives_email AND removed_at IS NULL AND NOT EXISTS (
        SELECT FROM mails WHERE member = members.id AND news ->> 'kind' = 'sign-in link'
        AND created_at > statement_timestamp() - interval '10 minutes'
    )
"""
_DELETE_PENDING = "DELETE FROM mails WHERE member = $1 AND state = 'pending'"

# Part of a statement that selects finished calls as `finished (id, tenant, name)`. Proposals are counted in the same
# way as on the console's pages.
INSERT_CALL_FINISHED = """
    INSERT INTO mails (member, batch, news)
    SELECT members.id, finished.id, jsonb_build_object(
        'kind', 'call finished', 'call', finished.id, 'name', finished.name, 'rows', batches.rows, 'full', sums."full",
        'part', sums.part, 'unscored', sums.unscored, 'failed', sums.failed, 'cancelled', sums.cancelled,
        'poorly_covered', sums.poorly_covered, 'refused', jsonb_array_length(batches.rejected),
        'erased', batches.erased,
        'cost_usd', CASE WHEN sums.unpriced = 0 AND batches.erased = 0 THEN sums.cost END, 'known_cost_usd', sums.cost
    )
    FROM finished JOIN batches ON batches.id = finished.id
    JOIN members ON members.id = batches.submitted_by AND members.receives_email AND members.removed_at IS NULL
    CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE state = 'succeeded' AND coalesce(complete, false)) AS "full",
               count(*) FILTER (
                   WHERE state = 'succeeded' AND NOT coalesce(complete, false) AND score IS NOT NULL
               ) AS part,
               count(*) FILTER (
                   WHERE state = 'succeeded' AND NOT coalesce(complete, false) AND score IS NULL
               ) AS unscored,
               count(*) FILTER (WHERE state = 'succeeded' AND fit = 'poor') AS poorly_covered,
               count(*) FILTER (WHERE state = 'failed') AS failed,
               count(*) FILTER (WHERE state = 'cancelled') AS cancelled,
               count(*) FILTER (WHERE cost_usd IS NULL) AS unpriced, coalesce(sum(cost_usd), 0)::float8 AS cost
        FROM jobs LEFT JOIN report_figures ON run = jobs.run_id AND state = 'succeeded'
        WHERE jobs.tenant = finished.tenant AND jobs.batch = finished.id
    ) AS sums
"""

_CLAIM_MAILS = build_claim_query(
    "mails",
    "members.name, members.email AS address, tenants.name AS tenant, news, members.id AS member, members.role",
    receivers="members, tenants",
    join_condition="members.id = member AND tenants.id = members.tenant",
)
_SELECT_MAILS = """
    SELECT mails.id, news ->> 'kind' AS kind, batch, state, attempt, last_result, mails.created_at,
           CASE WHEN state = 'pending' THEN next_at END AS next_at
    FROM mails JOIN members ON members.id = mails.member
    WHERE members.tenant = $1 AND members.id = $2 ORDER BY mails.created_at DESC, mails.id LIMIT $3
"""
_SELECT_FAILURE_REASONS = """
    SELECT DISTINCT ON (members.id) members.id, last_result FROM mails JOIN members ON members.id = mails.member
    WHERE members.tenant = $1 AND state = 'failed' AND removed_at IS NULL ORDER BY members.id, mails.created_at DESC
"""


class MissingReviewer(NamedTuple):
    """A reviewer who has not submitted all of the reviews assigned to them in a call."""

    id: MemberId
    name: str
    email: str
    receives_email: bool
    """True if the reviewer wants emails."""
    proposals: int
    """Number of missing reviews."""
    reminded_at: dt.datetime | None
    """Time of the latest reminder; None if there was none in the past week, because older emails are not kept."""

    def is_due(self, now: dt.datetime) -> bool:
        """Return whether a reminder may be sent: the reviewer wants emails, and the last reminder is more than a day
        old."""
        return self.receives_email and (self.reminded_at is None or self.reminded_at < now - dt.timedelta(days=1))


class PgMails(PgOutbox):
    def __init__(self, database: Database, *, enabled: bool) -> None:
        super().__init__(database, "mails", "sent")
        self.enabled = enabled
        """True if this service sends emails."""
        self.links = PgSignInLinks(database)

    async def queue_invitation(self, connection: Connection, member: Member, batch: BatchId | None = None) -> None:
        """Queue an invitation email. `batch` is the call that the member is invited to review, if any."""
        message, call = MemberInvited(role=member.role), None
        if self.enabled and batch is not None:
            call = await connection.fetchrow(_SELECT_CALL, member.tenant, batch)
        if call is not None:
            message = MemberInvited(role=member.role, call=batch, name=call["name"], due=call["opinions_due"])
        await self._queue(connection, member.id, batch, message)

    async def queue_assignments(
        self, connection: Connection, tenant: TenantId, batch: BatchId, members: Iterable[MemberId]
    ) -> None:
        """Queue one email about new assignments for each member. `members` contains a member once for each proposal."""
        counts = Counter(members) if self.enabled else {}
        call = await connection.fetchrow(_SELECT_CALL, tenant, batch) if counts else None
        if call is None:
            return
        for member, proposals in counts.items():
            message = ReviewsAssigned(call=batch, name=call["name"], proposals=proposals, due=call["opinions_due"])
            await self._queue(connection, member, batch, message)

    async def queue_bid_requests(
        self, connection: Connection, tenant: TenantId, batch: BatchId, members: Iterable[MemberId]
    ) -> None:
        """Queue an email to each member that asks for bids on a call's proposals."""
        call = await connection.fetchrow(_SELECT_CALL, tenant, batch)
        if call is not None:
            for member in members:
                await self._queue(connection, member, batch, BidsRequested(call=batch, name=call["name"]))

    async def list_missing_reviewers(self, tenant: TenantId, batch: BatchId) -> list[MissingReviewer]:
        """Return the reviewers who have missing reviews in a call, sorted by name."""
        return await self._database.select(MissingReviewer, _SELECT_MISSING_REVIEWERS, tenant, batch)

    @in_transaction
    async def remind(self, connection: Connection, tenant: TenantId, batch: BatchId, by: ActBy, log: PgAuditLog) -> int:
        """Queue a reminder to each reviewer who has missing reviews in a call, wants emails, and was not reminded
        within the last day. Return the number of reminders."""
        # Locks the call, so that two officers cannot send reminders at the same time.
        call = await connection.fetchrow(f"{_SELECT_CALL} FOR NO KEY UPDATE", tenant, batch)
        if call is None or not self.enabled:
            return 0
        rows = await connection.fetch(_SELECT_MISSING_REVIEWERS, tenant, batch)
        due_reviewers = [reviewer for row in rows if (reviewer := from_row(MissingReviewer, row)).is_due(by.at)]
        for reviewer in due_reviewers:
            message = ReviewsMissing(
                call=batch, name=call["name"], proposals=reviewer.proposals, due=call["opinions_due"]
            )
            await self._queue(connection, reviewer.id, batch, message)
        if due_reviewers:
            await log.append(connection, tenant, by, "reviewers reminded", batch, reviewers=len(due_reviewers))
        return len(due_reviewers)

    async def queue_sign_in_link(self, address: str) -> None:
        """Queue an email with a sign-in link for each reviewer with this address, at most once in ten minutes."""
        if self.enabled:
            await self._database.execute(_INSERT_SIGN_IN_LINK, replace_nul(address), to_json_column(SignInLink()))

    async def delete_pending(self, connection: Connection, member: MemberId) -> None:
        """Delete unsent emails to a member who was removed or no longer wants emails."""
        await connection.execute(_DELETE_PENDING, member)

    async def _queue(
        self,
        connection: Connection,
        member: MemberId,
        batch: BatchId | None,
        message: MemberInvited | ReviewsAssigned | ReviewsMissing | BidsRequested,
    ) -> None:
        if self.enabled:
            await connection.execute(_INSERT_MAIL, member, batch, to_json_column(message))

    async def claim(self, limit: int, seconds: float) -> list[ClaimedMail]:
        """Claim up to `limit` emails that are due. No other process can claim them for `seconds` seconds."""
        return await self._database.select(ClaimedMail, _CLAIM_MAILS, limit, seconds)

    async def list_for_member(self, tenant: TenantId, member: MemberId, limit: int = 50) -> list[EmailDelivery]:
        """Return a member's emails, newest first. Emails that were sent or given up are kept for a week."""
        return await self._database.select(EmailDelivery, _SELECT_MAILS, tenant, member, limit)

    async def get_failure_reasons(self, tenant: TenantId) -> dict[MemberId, str]:
        """Return, by member id, why the latest undeliverable email to that member was abandoned."""
        return {row["id"]: row["last_result"] for row in await self._database.fetch(_SELECT_FAILURE_REASONS, tenant)}


_INSERT_LINK = "INSERT INTO sign_in_links (hash, member, expires_at) VALUES ($1, $2, $3)"
_DELETE_EXPIRED = "DELETE FROM sign_in_links WHERE used_at IS NULL AND expires_at < $1"
_IS_VALID = """
    hash = $1 AND used_at IS NULL AND expires_at > $2
    AND members.id = member AND removed_at IS NULL AND role = 'reviewer'
"""
_SELECT_LINK = f"SELECT tenant, id, name, role FROM sign_in_links, members WHERE {_IS_VALID}"
_USE_LINK = f"UPDATE sign_in_links SET used_at = $2 FROM members WHERE {_IS_VALID} RETURNING tenant, id, name, role"


class LinkedMember(NamedTuple):
    """The reviewer whom a link signs in."""

    tenant: TenantId
    id: MemberId
    name: str
    role: PersonRole


class PgSignInLinks(Store):
    async def create(self, member: MemberId, now: dt.datetime) -> str:
        """Create a link for a member and return its token. Also delete all links that expired unused."""
        token = generate_token()
        await self._database.execute(_DELETE_EXPIRED, now)
        await self._database.execute(
            _INSERT_LINK, hash_token(token), member, now + dt.timedelta(days=SIGN_IN_LINK_DAYS)
        )
        return token

    async def find(self, token: str, now: dt.datetime) -> LinkedMember | None:
        """Return the reviewer whom a link would sign in. None if the link was used or has expired, or if the member is
        no longer a reviewer."""
        return await self._database.select_one(LinkedMember, _SELECT_LINK, hash_token(token), now)

    async def use(self, token: str, now: dt.datetime) -> LinkedMember | None:
        """Mark a link as used, and return the reviewer whom it signs in. None in the same cases as `find`."""
        return await self._database.select_one(LinkedMember, _USE_LINK, hash_token(token), now)
