"""Every run of a job, so that what it cost is charged and what it left is erased; what of a job is charged already; and
no documents of jobs that have ended."""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

# By a trigger, as processes of the version before, beside which this one may be started, know nothing of the table.
# `charged_usd`: what earlier attempts cost, which is in `spending` already.
UP = (
    """
    CREATE TABLE runs (
        job text NOT NULL REFERENCES jobs ON DELETE CASCADE,
        run_id text NOT NULL,
        pinned_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (job, run_id)
    )
    """,
    "CREATE INDEX runs_run ON runs (run_id)",
    """
    INSERT INTO runs (job, run_id, pinned_at)
    SELECT id, run_id, coalesce(started_at, created_at) FROM jobs WHERE run_id IS NOT NULL
    """,
    """
    CREATE FUNCTION keep_run() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO runs (job, run_id) VALUES (NEW.id, NEW.run_id) ON CONFLICT DO NOTHING;
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER jobs_keep_run AFTER INSERT OR UPDATE OF run_id ON jobs FOR EACH ROW
    WHEN (NEW.run_id IS NOT NULL) EXECUTE FUNCTION keep_run()
    """,
    "DROP INDEX jobs_run",
    "ALTER TABLE jobs ADD COLUMN charged_usd double precision NOT NULL DEFAULT 0",
    "UPDATE jobs SET document = NULL WHERE document IS NOT NULL AND finished_at IS NOT NULL",
)

DOWN = (
    "ALTER TABLE jobs DROP COLUMN charged_usd",
    "CREATE INDEX jobs_run ON jobs (run_id)",
    "DROP TRIGGER jobs_keep_run ON jobs",
    "DROP FUNCTION keep_run",
    "DROP TABLE runs",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
