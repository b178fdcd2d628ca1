"""What goes with the end of a job, in the statement that ends it: its event, its cost.

Webhooks are owed by a trigger (v0005), which no way out of the queue can go around."""

__all__ = ["PAID", "ended"]

PAID = """(
    SELECT sum(ledger.cost_usd) FROM ledger
    WHERE ledger.run_id = jobs.run_id AND ledger.at >= jobs.started_at AND NOT ledger.cached
)"""
"""What was paid for a job so far, as the ledger has it."""

_ENDED = """
    WITH ended AS (
        UPDATE jobs
        SET finished_at = statement_timestamp(), lease = NULL, leased_until = NULL, worker = NULL, reserved_usd = 0,
            last_event = last_event + 1, {changes}
        WHERE {condition}
        RETURNING id, tenant, state, problem, cost_usd, last_event, finished_at
    ), told AS (
        INSERT INTO events (job, number, kind, data)
        SELECT id, last_event, state, jsonb_build_object('problem', problem, 'cost_usd', cost_usd) FROM ended
    ), spent AS (
        INSERT INTO spending AS so_far (tenant, month, slot, usd)
        SELECT tenant, date_trunc('month', finished_at AT TIME ZONE 'UTC')::date, abs(hashtext(id) % 16), sum(cost_usd)
        FROM ended WHERE cost_usd > 0 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        ON CONFLICT (tenant, month, slot) DO UPDATE SET usd = so_far.usd + excluded.usd
    )
    SELECT id FROM ended
"""


def ended(changes: str, condition: str) -> str:
    """The statement that ends the jobs of a condition; it gives their ids."""
    return _ENDED.format(changes=changes, condition=condition)
