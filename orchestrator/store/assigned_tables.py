"""A call's assignments as a table that the database sorts and paginates, and the number of proposals per reviewer."""

from collections import defaultdict
from typing import Literal, NamedTuple

from pydantic import Field

from assayer.models import Frozen
from orchestrator.access.roles import MemberId
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.reviewing.models import ConflictOfInterest
from orchestrator.store.assignments import OPINION_GIVEN
from orchestrator.store.database import Store
from orchestrator.store.rows import PAGE, TablePage, from_row

_SORT_COLUMNS = {"row": "NULL::int", "missing": "missing"}
_FILTERS = {"missing": "missing > 0", "unassigned": "assigned = 0"}

_SELECT_PAGE = f"""
    WITH by_proposal AS (
        SELECT assignments.evaluation, count(*) AS assigned,
               count(*) FILTER (WHERE opinions.member IS NULL) AS missing
        FROM jobs JOIN assignments ON assignments.evaluation = jobs.id LEFT JOIN opinions USING (evaluation, member)
        WHERE jobs.tenant = $1 AND jobs.batch = $2 GROUP BY assignments.evaluation
    ), proposals AS (
        SELECT id, "row", subject AS title, coalesce(assigned, 0) AS assigned, coalesce(missing, 0) AS missing
        FROM jobs LEFT JOIN by_proposal ON by_proposal.evaluation = jobs.id
        WHERE jobs.tenant = $1 AND jobs.batch = $2 AND kind = 'evaluation' AND state <> 'cancelled'
    )
    SELECT id, title, count(*) OVER () AS matching FROM proposals WHERE {{only}}
    ORDER BY {{order}} DESC NULLS LAST, "row", id LIMIT {PAGE} OFFSET $3
"""
_SELECT_REVIEWERS = f"""
    SELECT evaluation, member, assignments.reason, {OPINION_GIVEN} AS opinion
    FROM assignments LEFT JOIN opinions USING (evaluation, member)
    WHERE evaluation = ANY($1) ORDER BY blind_at IS NOT NULL, evaluation, member
"""
_SELECT_LOADS = """
    SELECT member, count(*) AS assigned, count(*) FILTER (WHERE opinions.blind_at IS NULL) AS waiting
    FROM jobs JOIN assignments ON assignments.evaluation = jobs.id LEFT JOIN opinions USING (evaluation, member)
    WHERE jobs.tenant = $1 AND jobs.batch = $2 GROUP BY member
"""
_SELECT_CONFLICTS = """
    SELECT conflicts.*, jobs.subject AS title, count(*) OVER () AS total
    FROM conflicts JOIN jobs ON jobs.id = conflicts.evaluation
    WHERE jobs.tenant = $1 AND jobs.batch = $2 ORDER BY jobs."row", conflicts.evaluation, conflicts.member LIMIT $3
"""


class AssignedView(Frozen, defer_build=False):
    """Filters and sort order for a call's proposals, taken from the page's URL parameters."""

    sort: Literal["row", "missing"] = "row"
    """`row` sorts by row number; `missing` by the number of missing opinions, highest first."""
    only: tuple[Literal["missing", "unassigned"], ...] = Field(default=(), max_length=2)
    """`missing` shows only proposals with missing opinions, `nobody` only those without reviewers; both together match
    nothing."""
    page: int = Field(default=1, ge=1, le=100_000)


class AssignedReviewer(NamedTuple):
    member: MemberId
    opinion: Literal["none", "blind", "revised"]
    reason: str
    """Why the proposal was assigned to the reviewer."""


class AssignedProposal(NamedTuple):
    id: JobId
    title: str
    reviewers: list[AssignedReviewer]
    """The proposal's reviewers; those whose opinion is missing come first."""


class ReviewerLoad(NamedTuple):
    """A reviewer's load in one call."""

    assigned: int
    waiting: int
    """Number of assigned proposals that have no opinion yet."""


class CallConflicts(NamedTuple):
    listed: list[tuple[ConflictOfInterest, str]]
    """Conflicts, each with the proposal's title; cleared conflicts are included."""
    total: int


class PgAssignedTables(Store):
    """Assignment tables for officers and owners; titles are not masked."""

    async def get_page(self, tenant: TenantId, batch: BatchId, view: AssignedView) -> TablePage[AssignedProposal]:
        condition = " AND ".join(_FILTERS[item] for item in view.only) or "true"
        query = _SELECT_PAGE.format(only=condition, order=_SORT_COLUMNS[view.sort])
        rows = await self._database.fetch(query, tenant, batch, (view.page - 1) * PAGE)
        by_evaluation = defaultdict[JobId, list[AssignedReviewer]](list)
        for item in await self._database.fetch(_SELECT_REVIEWERS, [row["id"] for row in rows]) if rows else ():
            by_evaluation[item["evaluation"]].append(from_row(AssignedReviewer, item))
        proposals = [AssignedProposal(row["id"], row["title"], by_evaluation[row["id"]]) for row in rows]
        return TablePage.from_records(rows, proposals)

    async def get_reviewer_loads(self, tenant: TenantId, batch: BatchId) -> dict[str, ReviewerLoad]:
        """Return the load of each reviewer who has assignments in the call, by member id."""
        rows = await self._database.fetch(_SELECT_LOADS, tenant, batch)
        return {row["member"]: from_row(ReviewerLoad, row) for row in rows}

    async def list_conflicts(self, tenant: TenantId, batch: BatchId, limit: int) -> CallConflicts:
        """Return up to `limit` conflicts, in row order."""
        rows = await self._database.fetch(_SELECT_CONFLICTS, tenant, batch, limit)
        conflicts = [(from_row(ConflictOfInterest, row), row["title"]) for row in rows]
        return CallConflicts(conflicts, rows[0]["total"] if rows else 0)
