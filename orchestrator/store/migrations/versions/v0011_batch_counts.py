"""How many jobs of a batch are in each state: kept as they change, instead of counted whenever somebody looks."""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

# The rows of a batch add up. Each connection has its own, in which there may be fewer than none: so that nobody waits
# for anybody, not even for an upload of thousands of rows.
TABLE = """
    CREATE TABLE batch_counts (
        batch text NOT NULL REFERENCES batches ON DELETE CASCADE,
        state text NOT NULL,
        connection integer NOT NULL,
        jobs integer NOT NULL,
        cost_usd numeric NOT NULL,
        finished_at timestamptz,
        PRIMARY KEY (batch, state, connection)
    ) WITH (fillfactor = 50)
"""

FILL = """
    INSERT INTO batch_counts (batch, state, connection, jobs, cost_usd, finished_at)
    SELECT batch, state, 0, count(*), coalesce(sum(cost_usd::numeric), 0), max(finished_at)
    FROM jobs WHERE batch IS NOT NULL GROUP BY batch, state
"""

# Of changes that leave state and cost alone, as most do, nothing is left. A batch that is deleted with its jobs has
# gone by the time that these are counted.
FUNCTION = """
    CREATE FUNCTION count_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO batch_counts AS so_far (batch, state, connection, jobs, cost_usd, finished_at)
        SELECT batch, state, pg_backend_pid(), sum(one), sum(cost), max(finished) FROM ({changes}) AS changes
        WHERE batch IN (SELECT id FROM batches)
        GROUP BY batch, state HAVING sum(one) <> 0 OR sum(cost) <> 0 ORDER BY batch, state
        ON CONFLICT (batch, state, connection) DO UPDATE
        SET jobs = so_far.jobs + excluded.jobs, cost_usd = so_far.cost_usd + excluded.cost_usd,
            finished_at = greatest(so_far.finished_at, excluded.finished_at);
        RETURN NULL;
    END $$
"""
ADDED = """
    SELECT batch, state, 1 AS one, coalesce(cost_usd, 0)::numeric AS cost, finished_at AS finished FROM new_jobs
    WHERE batch IS NOT NULL
"""
REMOVED = """
    SELECT batch, state, -1 AS one, -coalesce(cost_usd, 0)::numeric AS cost, NULL::timestamptz AS finished FROM old_jobs
    WHERE batch IS NOT NULL
"""

TRIGGERS = {
    "insert": (ADDED, "NEW TABLE AS new_jobs"),
    "update": (f"{ADDED} UNION ALL {REMOVED}", "OLD TABLE AS old_jobs NEW TABLE AS new_jobs"),
    "delete": (REMOVED, "OLD TABLE AS old_jobs"),
}


def upgrade() -> None:
    op.execute(TABLE)
    op.execute(FILL)
    for event, (changes, tables) in TRIGGERS.items():
        op.execute(FUNCTION.replace("count_jobs", f"count_jobs_of_{event}").format(changes=changes))
        op.execute(
            f"CREATE TRIGGER jobs_count_{event} AFTER {event} ON jobs REFERENCING {tables} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION count_jobs_of_{event}()"
        )


def downgrade() -> None:
    for event in TRIGGERS:
        op.execute(f"DROP TRIGGER jobs_count_{event} ON jobs")
        op.execute(f"DROP FUNCTION count_jobs_of_{event}")
    op.execute("DROP TABLE batch_counts")
