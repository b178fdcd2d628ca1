"""Reviewers' bids: which of a call's proposals they would like to review. Titles are masked in blind mode."""

import datetime as dt
from collections.abc import Mapping
from typing import NamedTuple

from assayer_client.expertise import Bid, BiddableProposal, ReviewerBid
from orchestrator.access.audit_chain import ActBy
from orchestrator.access.roles import MemberId
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.reviewing.models import ReviewRefused
from orchestrator.store.assignments import READABLE, TITLE_FOR_REVIEWERS, PgAssignments
from orchestrator.store.audit_log import LoggedStore, PgAuditLog
from orchestrator.store.database import Connection, Database, in_transaction
from orchestrator.store.job_sql import CALL_TITLE
from orchestrator.store.mails import PgMails
from orchestrator.store.members import COULD_READ_REPORTS
from orchestrator.store.open_calls import prevent_sign_off
from orchestrator.store.rows import from_row

_SELECT_IS_OPEN = """
    SELECT EXISTS (SELECT FROM open_bidding JOIN batches ON batches.id = batch WHERE tenant = $1 AND batch = $2)
"""
_OPEN_BIDDING = """
    INSERT INTO open_bidding (batch, at) SELECT id, $3 FROM batches WHERE tenant = $1 AND id = $2
    ON CONFLICT DO NOTHING RETURNING batch
"""
_CLOSE_BIDDING = (
    "DELETE FROM open_bidding USING batches WHERE id = batch AND tenant = $1 AND batch = $2 RETURNING batch"
)
_CALLS_AND_REVIEWERS = f"""
    open_bidding JOIN batches ON batches.id = open_bidding.batch JOIN members ON members.tenant = batches.tenant
    WHERE batches.tenant = $1 AND members.role = 'reviewer' AND members.removed_at IS NULL
      AND NOT {COULD_READ_REPORTS}
      AND NOT EXISTS (SELECT FROM sign_offs WHERE sign_offs.batch = batches.id)
      AND (
          NOT EXISTS (SELECT FROM call_reviewers WHERE call_reviewers.batch = batches.id)
          OR EXISTS (
              SELECT FROM call_reviewers WHERE call_reviewers.batch = batches.id AND call_reviewers.member = members.id
          )
      )
"""
"""SQL for pairs of a call with open bidding and a reviewer who is asked to bid on it."""
_CALLS_OF_REVIEWER = f"{_CALLS_AND_REVIEWERS} AND members.id = $2"
"""SQL for the calls on which a reviewer is asked to bid."""
_SELECT_REVIEWERS = f"SELECT members.id FROM {_CALLS_AND_REVIEWERS} AND batches.id = $2 ORDER BY members.id"
_SELECT_CALLS = f"""
    SELECT batches.id, {CALL_TITLE} AS name, (
        SELECT count(*) FROM bids JOIN jobs ON jobs.id = evaluation WHERE jobs.batch = batches.id AND bids.member = $2
    ) AS bid_count
    FROM {_CALLS_OF_REVIEWER} ORDER BY batches.created_at DESC, batches.id
"""
_IS_BIDDABLE = f"""
    jobs.tenant = $1 AND jobs.batch = $3 AND jobs.kind = 'evaluation' AND jobs.state <> 'cancelled' AND {READABLE}
    AND EXISTS (SELECT FROM {_CALLS_OF_REVIEWER} AND batches.id = $3)
    AND EXISTS (
        SELECT FROM bid_searches JOIN expertise USING (member)
        WHERE bid_searches.evaluation = jobs.id AND bid_searches.member = $2
          AND bid_searches.changed_at = expertise.changed_at
    )
    AND NOT EXISTS (
        SELECT FROM conflicts WHERE conflicts.evaluation = jobs.id AND conflicts.member = $2 AND cleared_reason IS NULL
    )
"""
"""SQL condition for the proposals that a reviewer may bid on. They have been checked for conflicts with the reviewer's
current details, and have none."""
_SELECT_PROPOSALS = f"""
    SELECT jobs.id AS evaluation, jobs."row", {TITLE_FOR_REVIEWERS} AS title, bids.bid
    FROM jobs JOIN bid_searches ON bid_searches.evaluation = jobs.id AND bid_searches.member = $2
    LEFT JOIN bids ON bids.evaluation = jobs.id AND bids.member = $2
    WHERE {_IS_BIDDABLE} ORDER BY bid_searches.similarity DESC, jobs."row", jobs.id LIMIT $4 OFFSET $5
"""
_COUNT_PROPOSALS_AND_BIDS = f"""
    SELECT count(*) AS proposals, count(bids.bid) AS bid_count
    FROM jobs LEFT JOIN bids ON bids.evaluation = jobs.id AND bids.member = $2 WHERE {_IS_BIDDABLE}
"""
# NOT IN uses a hash table. With NOT EXISTS, the server compares all pairs of proposals if it expects few rows, as it
# does after the first check for a reviewer.
_SELECT_UNCHECKED = f"""
    SELECT jobs.id FROM jobs
    WHERE jobs.tenant = $1 AND jobs.batch = $3 AND jobs.kind = 'evaluation' AND jobs.state <> 'cancelled' AND {READABLE}
      AND jobs.id NOT IN (
          SELECT evaluation FROM bid_searches JOIN expertise USING (member, changed_at) WHERE member = $2
      )
"""
_MARK_CHECKED = """
    INSERT INTO bid_searches (evaluation, member, changed_at, similarity)
    SELECT jobs.id, $2, $5, checked.similarity
    FROM jobs JOIN unnest($3::text[], $4::float8[]) AS checked (id, similarity) ON checked.id = jobs.id
    WHERE jobs.tenant = $1 FOR KEY SHARE OF jobs
    ON CONFLICT (evaluation, member) DO UPDATE SET changed_at = $5, similarity = excluded.similarity
"""
_SELECT_BIDDABLE = f"SELECT jobs.id FROM jobs WHERE {_IS_BIDDABLE} AND jobs.id = ANY($4)"
_UPSERT_BIDS = """
    INSERT INTO bids (evaluation, member, bid, bid_at) SELECT evaluation, $2, bid, $4
    FROM unnest($1::text[], $3::text[]) AS new_bids (evaluation, bid)
    ON CONFLICT (evaluation, member) DO UPDATE SET bid = excluded.bid, bid_at = excluded.bid_at
"""
_DELETE_BIDS = "DELETE FROM bids WHERE evaluation = ANY($1) AND member = $2"
_SELECT_BIDS = """
    SELECT bids.* FROM bids JOIN jobs ON jobs.id = evaluation WHERE jobs.tenant = $1 AND jobs.batch = $2
    ORDER BY jobs."row", evaluation, member
"""


class CallForBids(NamedTuple):
    """A call on which a reviewer is asked to bid."""

    id: BatchId
    name: str
    bid_count: int
    """Number of bids that the reviewer has given."""


class PgBids(LoggedStore):
    def __init__(self, database: Database, audit_log: PgAuditLog, assignments: PgAssignments, mails: PgMails) -> None:
        super().__init__(database, audit_log)
        self._assignments, self._mails = assignments, mails

    async def is_open(self, tenant: TenantId, batch: BatchId) -> bool:
        (row,) = await self._database.fetch(_SELECT_IS_OPEN, tenant, batch)
        return bool(row["exists"])

    @in_transaction
    async def set_open(
        self, connection: Connection, tenant: TenantId, batch: BatchId, open_bidding: bool, by: ActBy
    ) -> None:
        """Open or close bidding on a call. Opening it also emails the reviewers; closing it keeps the bids already
        given. Raises ReviewRefused if the call is signed off."""
        await prevent_sign_off(connection, tenant, batch, exclusive=True)
        values = (tenant, batch, by.at) if open_bidding else (tenant, batch)
        if await connection.fetchrow(_OPEN_BIDDING if open_bidding else _CLOSE_BIDDING, *values) is None:
            return
        await self._log.append(connection, tenant, by, "bidding opened" if open_bidding else "bidding closed", batch)
        if open_bidding:
            reviewers = [row["id"] for row in await connection.fetch(_SELECT_REVIEWERS, tenant, batch)]
            await self._mails.queue_bid_requests(connection, tenant, batch, reviewers)

    async def list_calls(self, tenant: TenantId, member: MemberId) -> list[CallForBids]:
        """Return the calls on which a reviewer is asked to bid."""
        return await self._database.select(CallForBids, _SELECT_CALLS, tenant, member)

    async def list_unchecked_proposals(self, tenant: TenantId, member: MemberId, batch: BatchId) -> list[JobId]:
        """Return the proposals not yet checked for conflicts with the reviewer's current details."""
        return [row["id"] for row in await self._database.fetch(_SELECT_UNCHECKED, tenant, member, batch)]

    async def mark_checked(
        self, tenant: TenantId, member: MemberId, similarities: Mapping[JobId, float], changed_at: dt.datetime
    ) -> None:
        """Record that proposals were checked for conflicts with the reviewer's details, in the version stored at
        `changed_at`. `similarities` holds each proposal's similarity to the reviewer's expertise."""
        values = list(similarities), list(similarities.values())
        await self._database.fetch(_MARK_CHECKED, tenant, member, *values, changed_at)

    async def list_proposals(
        self, tenant: TenantId, member: MemberId, batch: BatchId, limit: int | None = None, offset: int = 0
    ) -> list[BiddableProposal]:
        """Return the proposals that a reviewer may bid on, the best match to their expertise first. Empty if they are
        not asked to bid."""
        return await self._database.select(BiddableProposal, _SELECT_PROPOSALS, tenant, member, batch, limit, offset)

    async def count_proposals_and_bids(self, tenant: TenantId, member: MemberId, batch: BatchId) -> tuple[int, int]:
        """Return how many proposals a reviewer may bid on, and how many of those they have bid on."""
        (row,) = await self._database.fetch(_COUNT_PROPOSALS_AND_BIDS, tenant, member, batch)
        return row["proposals"], row["bid_count"]

    @in_transaction
    async def save_bids(
        self,
        connection: Connection,
        tenant: TenantId,
        member: MemberId,
        batch: BatchId,
        bids: Mapping[JobId, Bid | None],
        reason: str,
        by: ActBy,
    ) -> None:
        """Store a reviewer's bids. None withdraws a bid; "conflict" declares a conflict of interest, with `reason`.
        Raises ReviewRefused and stores nothing if the reviewer may not bid on one of the proposals, or is not asked to
        bid."""
        conflicts = [evaluation for evaluation, bid in bids.items() if bid == "conflict"]
        explicit_bids = {evaluation: bid for evaluation, bid in bids.items() if bid not in (None, "conflict")}
        await prevent_sign_off(connection, tenant, batch, exclusive=bool(conflicts))
        rows = await connection.fetch(_SELECT_BIDDABLE, tenant, member, batch, list(bids))
        if unknown_proposals := sorted(set(bids) - {row["id"] for row in rows}):
            raise ReviewRefused(
                f"You cannot bid on {', '.join(unknown_proposals[:5])}: bidding is closed, or the list of "
                "proposals has changed. Nothing was stored.",
                "Reload the list of proposals.",
            )
        await connection.execute(
            _DELETE_BIDS, [evaluation for evaluation in bids if evaluation not in explicit_bids], member
        )
        await connection.execute(_UPSERT_BIDS, list(explicit_bids), member, list(explicit_bids.values()), by.at)
        await self._log.append(
            connection, tenant, by, "bids given", batch, bids={item: explicit_bids.get(item) for item in bids}
        )
        for evaluation in conflicts:
            await self._assignments.declare_within(connection, tenant, evaluation, member, reason, by)

    async def list_bids(self, tenant: TenantId, batch: BatchId) -> list[ReviewerBid]:
        """Return all bids on a call's proposals. Conflicts of interest are not stored as bids, so they are not
        included."""
        return [from_row(ReviewerBid, row) for row in await self._database.fetch(_SELECT_BIDS, tenant, batch)]
