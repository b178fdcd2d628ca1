"""Decisions on proposals, and the table on which they are based: applicants, reviewers' scores and report scores."""

from typing import Literal, NamedTuple

from pydantic import Field

from assayer.models import Frozen
from assayer_client.decisions import BudgetUse, Decision, DecisionBody, DecisionOutcome
from orchestrator.access.audit_chain import ActBy
from orchestrator.jobs.models import BatchId, JobId, TenantId
from orchestrator.reviewing.models import ReviewRefused
from orchestrator.store.audit_log import LoggedStore
from orchestrator.store.call_tables import PROPOSALS
from orchestrator.store.database import Connection, in_transaction
from orchestrator.store.json_columns import replace_nul
from orchestrator.store.open_calls import prevent_sign_off
from orchestrator.store.rows import PAGE, TablePage, from_row

_SORT_COLUMNS = {
    "people": "people DESC NULLS LAST, score DESC NULLS LAST",
    "row": '"row"',
    "score": "score DESC NULLS LAST",
    "rank": "rank NULLS LAST",
    "requested": "requested DESC NULLS LAST",
    "decision": "array_position(ARRAY['fund', 'reserve', 'decline'], decision) NULLS FIRST, people DESC NULLS LAST",
}
_SELECT_VERSIONS = """
    SELECT jobs.id, coalesce(decisions.version, 0) AS version, decided_by, applicants.amount AS requested
    FROM jobs LEFT JOIN decisions ON decisions.evaluation = jobs.id
    LEFT JOIN applicants ON applicants.evaluation = jobs.id
    WHERE jobs.tenant = $1 AND jobs.batch = $2 AND jobs.kind = 'evaluation' AND jobs.state <> 'cancelled'
      AND jobs.id = ANY($3)
"""
_UPSERT_DECISION = """
    INSERT INTO decisions AS stored
        (evaluation, outcome, amount, reason, version, decided_by_id, decided_by, decided_at)
    SELECT id, $2, $3, $4, 1, $5, $6, $7 FROM jobs WHERE id = $1 FOR KEY SHARE
    ON CONFLICT (evaluation) DO UPDATE
    SET outcome = $2, amount = $3, reason = $4, version = stored.version + 1,
        decided_by_id = $5, decided_by = $6, decided_at = $7
    RETURNING stored.*
"""
_SELECT_DECISIONS = """
    SELECT decisions.* FROM decisions JOIN jobs ON jobs.id = evaluation
    WHERE jobs.tenant = $1 AND jobs.batch = $2 ORDER BY jobs."row", evaluation
"""
_SELECT_DECISION = (
    "SELECT decisions.* FROM decisions JOIN jobs ON jobs.id = evaluation WHERE jobs.tenant = $1 AND evaluation = $2"
)
_SELECT_BUDGET_USE = """
    SELECT (terms ->> 'budget')::float8 AS budget, coalesce(terms ->> 'currency', '') AS currency,
           count(*) FILTER (WHERE outcome = 'fund') AS funded, count(*) FILTER (WHERE outcome = 'reserve') AS reserved,
           count(*) FILTER (WHERE outcome = 'decline') AS declined,
           count(*) FILTER (WHERE jobs.id IS NOT NULL AND outcome IS NULL) AS undecided,
           coalesce(sum(amount) FILTER (WHERE outcome = 'fund'), 0) AS awarded,
           coalesce(sum(amount) FILTER (WHERE outcome = 'reserve'), 0) AS reserved_amount,
           count(*) FILTER (WHERE outcome = 'fund' AND amount IS NULL) AS funded_without_amount,
           coalesce(sum(amount) FILTER (WHERE outcome = 'fund') > (terms ->> 'budget')::float8, false) AS over_budget
    FROM batches LEFT JOIN call_terms ON call_terms.batch = batches.id
    LEFT JOIN jobs ON jobs.batch = batches.id AND jobs.kind = 'evaluation' AND jobs.state <> 'cancelled'
    LEFT JOIN decisions ON decisions.evaluation = jobs.id
    WHERE batches.tenant = $1 AND batches.id = $2 GROUP BY terms
"""
_SELECT_PAGE = f"""{PROPOSALS}
    SELECT proposals.id, "row", subject AS title, people, reviews, overridden, score, rank, low, high, band,
           decision AS outcome, decisions.amount, decisions.reason, decided_by,
           coalesce(decisions.version, 0) AS version, applicant, institution, requested, count(*) OVER () AS matching
    FROM proposals LEFT JOIN decisions ON decisions.evaluation = proposals.id
    WHERE state <> 'cancelled' AND (cardinality($4::text[]) = 0 OR coalesce(decision, 'undecided') = ANY($4))
    ORDER BY {{order}}, "row", id LIMIT {PAGE} OFFSET $5
"""


class DecisionView(Frozen, defer_build=False):
    """Filters and sort order for a call's proposals, taken from the page's URL parameters."""

    sort: Literal["people", "row", "score", "rank", "requested", "decision"] = "people"
    only: tuple[DecisionOutcome | Literal["undecided"], ...] = Field(default=(), max_length=4)
    ranking: str = Field(default="", pattern=r"^[A-Za-z0-9_-]{0,64}$")
    page: int = Field(default=1, ge=1, le=10_000)


class DecisionRow(NamedTuple):
    """A row in the table of decisions."""

    id: JobId
    row: int | None
    title: str
    people: float | None
    """Final score from 1 to 5; None if no review counts and no score was set."""
    reviews: int
    overridden: bool
    score: float | None
    """Score from the report, 0 to 1."""
    rank: int | None
    low: float | None
    high: float | None
    band: str | None
    outcome: DecisionOutcome | None
    amount: float | None
    reason: str | None
    decided_by: str | None
    version: int
    applicant: str | None
    institution: str | None
    requested: float | None


class PgProposalDecisions(LoggedStore):
    @in_transaction
    async def decide(
        self, connection: Connection, tenant: TenantId, batch: BatchId, body: DecisionBody, by: ActBy
    ) -> list[Decision] | None:
        """Store the same decision on each of these proposals, replacing earlier ones (which remain in the audit log).
        Return None if a proposal is not in the call. Raises ReviewRefused and stores nothing if the call is signed off,
        or if a decision has changed since the version that the caller read."""
        await prevent_sign_off(connection, tenant, batch, exclusive=True)
        versions = {item.evaluation: item.version for item in body.proposals}
        current_rows = {
            row["id"]: row for row in await connection.fetch(_SELECT_VERSIONS, tenant, batch, list(versions))
        }
        if len(current_rows) < len(versions):
            return None
        stale_rows = [current_rows[id] for id, version in versions.items() if current_rows[id]["version"] != version]
        if stale_rows:
            names = ", ".join(sorted({row["decided_by"] for row in stale_rows if row["decided_by"]}))
            raise ReviewRefused(
                f"{names or 'Others'} decided on {len(stale_rows)} of these proposals "
                "after you opened the page, so none of your decisions were saved.",
                "Check the current decisions, then decide again.",
            )
        reason, decisions = replace_nul(body.reason), list[Decision]()
        for id in versions:
            amount = None if body.outcome == "decline" else body.amount
            if amount is None and body.outcome != "decline":
                amount = current_rows[id]["requested"]
            values = (id, body.outcome, amount, reason, by.actor.id, replace_nul(by.actor.name), by.at)
            decisions += [from_row(Decision, row) for row in await connection.fetch(_UPSERT_DECISION, *values)]
            content = {"outcome": body.outcome, "amount": amount, "reason": reason}
            await self._log.append(connection, tenant, by, "decision made", id, **content)
        return decisions

    async def list_decisions(self, tenant: TenantId, batch: BatchId) -> list[Decision]:
        return await self._database.select(Decision, _SELECT_DECISIONS, tenant, batch)

    async def get(self, tenant: TenantId, evaluation: JobId) -> Decision | None:
        return await self._database.select_one(Decision, _SELECT_DECISION, tenant, evaluation)

    async def get_budget_use(self, tenant: TenantId, batch: BatchId) -> BudgetUse:
        """Return how a call's decisions use its budget. The call must exist."""
        (use,) = await self._database.select(BudgetUse, _SELECT_BUDGET_USE, tenant, batch)
        return use

    async def get_page(self, tenant: TenantId, batch: BatchId, view: DecisionView) -> TablePage[DecisionRow]:
        query = _SELECT_PAGE.format(order=_SORT_COLUMNS[view.sort])
        values = (view.ranking, list(view.only), (view.page - 1) * PAGE)
        rows = await self._database.fetch(query, tenant, batch, *values)
        return TablePage.from_records(rows, [from_row(DecisionRow, row) for row in rows])
