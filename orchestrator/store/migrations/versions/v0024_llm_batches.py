"""Calls of language models that wait for a batch, and batches that are out."""

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE llm_batches (
        id text PRIMARY KEY,
        endpoint text NOT NULL,
        model text NOT NULL,
        created_at timestamptz NOT NULL,
        until timestamptz NOT NULL,
        remote_id text NOT NULL DEFAULT '',
        cancelled_at timestamptz
    )
    """,
    """
    CREATE TABLE llm_batch_calls (
        endpoint text NOT NULL,
        key text NOT NULL,
        run_id text NOT NULL,
        model text NOT NULL,
        body text NOT NULL,
        until timestamptz NOT NULL,
        state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'out', 'answered', 'returned')),
        batch text REFERENCES llm_batches ON DELETE SET NULL,
        answer text,
        why text NOT NULL DEFAULT '',
        billed_to text,
        queued_at timestamptz NOT NULL,
        ended_at timestamptz,
        settled boolean NOT NULL DEFAULT false,
        PRIMARY KEY (endpoint, key)
    )
    """,
    "CREATE INDEX llm_batch_calls_waiting ON llm_batch_calls (endpoint, model) WHERE state = 'waiting'",
    "CREATE INDEX llm_batch_calls_batch ON llm_batch_calls (batch)",
    "CREATE INDEX llm_batch_calls_run ON llm_batch_calls (run_id)",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TABLE llm_batch_calls")
    op.execute("DROP TABLE llm_batches")
