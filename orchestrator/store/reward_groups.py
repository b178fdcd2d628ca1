"""Groups of ideas whose rewards are relative to each other. Members arrive one at a time, at any process. Each member
is a separate job: it is judged while others are still missing, and it is paid for only once even if it is sent
repeatedly."""

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

import asyncpg

from assayer.errors import InputError
from assayer_client.rewards import RewardOutcome
from orchestrator.jobs.models import TERMINAL, JobId, JobState, TenantId
from orchestrator.store.database import Connection, Store
from orchestrator.store.json_columns import replace_nul
from orchestrator.store.rows import from_row

_INSERT_GROUP = """
    INSERT INTO reward_groups (tenant, id, size, judge, due_at)
    VALUES ($1, $2, $3, $4, statement_timestamp() + $5 * interval '1 second') ON CONFLICT (tenant, id) DO NOTHING
"""

_SELECT_GROUP = "SELECT size, judge FROM reward_groups WHERE tenant = $1 AND id = $2"

_SELECT_MEMBER = """
    SELECT digest, job, state FROM reward_group_members JOIN jobs ON jobs.id = job
    WHERE reward_group_members.tenant = $1 AND "group" = $2 AND member = $3
"""

# A new member extends the deadline for the others. A member that is sent again extends it only if the deadline has
# passed, because the others may be sent again too.
_INSERT_MEMBER = """
    WITH joined AS (
        INSERT INTO reward_group_members AS existing (tenant, "group", member, digest, job) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (tenant, "group", member) DO UPDATE SET job = excluded.job
        WHERE existing.digest = excluded.digest AND existing.job <> excluded.job
        RETURNING member
    )
    UPDATE reward_groups SET due_at = greatest(due_at, statement_timestamp() + $6 * interval '1 second')
    WHERE tenant = $1 AND id = $2 AND (due_at < statement_timestamp() OR EXISTS (SELECT FROM joined))
"""

_SELECT_STATE = """
    SELECT size, extract(epoch FROM due_at - statement_timestamp())::float8 AS seconds_left, member, jobs.id AS job,
           state, outcome
    FROM reward_groups AS reward_group
    LEFT JOIN reward_group_members AS member ON member.tenant = reward_group.tenant AND member."group" = reward_group.id
    LEFT JOIN jobs ON jobs.id = member.job
    LEFT JOIN item_outcomes ON item_outcomes.job = jobs.id AND item = 0
    WHERE reward_group.tenant = $1 AND reward_group.id = $2 ORDER BY member
"""


class GroupConflict(InputError):
    """Raised if a submission contradicts what is already known about its group; `field` names the field at fault."""

    def __init__(self, message: str, hint: str, field: str) -> None:
        super().__init__(message, hint)
        self.args = (message, hint, field)
        self.field = field


class GroupPlan(NamedTuple):
    """Properties that all members of a group declare."""

    id: str
    size: int
    judge: str


class GroupMember(NamedTuple):
    job: JobId
    state: JobState
    outcome: RewardOutcome | None
    """The member's outcome; None until it is judged."""


class RewardGroup(NamedTuple):
    """A group's current state."""

    size: int
    seconds_left: float
    """Seconds left to wait for missing members; negative once the deadline has passed."""
    members: Mapping[int, GroupMember]

    @property
    def missing(self) -> tuple[int, ...]:
        return tuple(number for number in range(self.size) if number not in self.members)

    @property
    def has_ended(self) -> bool:
        return not self.missing and all(member.state in TERMINAL for member in self.members.values())


class PgRewardGroups(Store):
    async def begin(self, tenant: TenantId, plan: GroupPlan, member: int, digest: bytes, seconds: float) -> JobId:
        """Create the group if it does not exist, and return the id under which the member's job was, or must be,
        submitted. A member whose job failed or was cancelled gets a new id. Raises GroupConflict if size, judge or
        content differ from what was sent before; nothing must be submitted then."""
        plan = plan._replace(id=replace_nul(plan.id))

        async def insert_group(connection: Connection) -> tuple[asyncpg.Record | None, asyncpg.Record | None]:
            await connection.fetch(_INSERT_GROUP, tenant, *plan, seconds)
            group = await connection.fetchrow(_SELECT_GROUP, tenant, plan.id)
            return group, await connection.fetchrow(_SELECT_MEMBER, tenant, plan.id, member)

        group, earlier_member = await self._database.run(insert_group)
        if group is not None:
            _require_same_plan(plan, group)
        if earlier_member is None:
            return _derive_job_id(tenant, plan.id, member, digest, "")
        if earlier_member["digest"] != digest:
            raise GroupConflict(
                f"Member {member} of group {plan.id!r} was sent before, with different content.",
                "Use a separate id for every group, and a separate number for every member.",
                "member",
            )
        must_rerun = earlier_member["state"] in ("failed", "cancelled")
        return (
            _derive_job_id(tenant, plan.id, member, digest, earlier_member["job"])
            if must_rerun
            else JobId(earlier_member["job"])
        )

    async def join(self, tenant: TenantId, group: str, member: int, digest: bytes, job: JobId, seconds: float) -> None:
        """Record a member whose job has been submitted, and extend the wait for other members to at least `seconds`
        from now."""
        await self._database.execute(_INSERT_MEMBER, tenant, replace_nul(group), member, digest, job, seconds)

    async def get(self, tenant: TenantId, group: str) -> RewardGroup | None:
        rows = await self._database.fetch(_SELECT_STATE, tenant, replace_nul(group))
        if not rows:
            return None
        members = {row["member"]: from_row(GroupMember, row) for row in rows if row["member"] is not None}
        return RewardGroup(rows[0]["size"], rows[0]["seconds_left"], members)


def _require_same_plan(plan: GroupPlan, group: asyncpg.Record) -> None:
    if group["size"] != plan.size:
        message = f"The group {plan.id!r} has size {group['size']}, but this member states size {plan.size}."
        raise GroupConflict(message, "State the same size in every member.", "size")
    if group["judge"] != plan.judge:
        message = f"The group {plan.id!r} is judged by {group['judge']}, but this member requests {plan.judge}."
        raise GroupConflict(message, "Rewards from different judges cannot be compared.", "judge")


def _derive_job_id(tenant: TenantId, group: str, member: int, digest: bytes, earlier_job: str) -> JobId:
    """Derive a member's job id from its content, so that the queue accepts it only once even if it is sent twice
    concurrently. `earlier_job` is the id of the member's earlier job if that failed or was cancelled, otherwise
    empty."""
    hashed = hashlib.sha256()
    for part in (tenant.encode(), group.encode(), str(member).encode(), digest, earlier_job.encode()):
        hashed.update(len(part).to_bytes(8))
        hashed.update(part)
    return JobId(f"rw_{hashed.hexdigest()[:26]}")
