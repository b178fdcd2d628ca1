"""Answers, ledger, papers and evaluations."""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = (
    # `value` is text, not jsonb: a cached answer comes back to the byte.
    """
    CREATE TABLE answers (
        key text PRIMARY KEY,
        task text NOT NULL,
        version integer NOT NULL,
        model text NOT NULL,
        value text NOT NULL,
        record jsonb NOT NULL,
        created_at timestamptz NOT NULL
    )
    """,
    # `id` is made by the writer: the same row sent again after a lost connection is not a second call.
    """
    CREATE TABLE ledger (
        id uuid PRIMARY KEY,
        run_id text NOT NULL,
        key text NOT NULL,
        task text NOT NULL,
        version integer NOT NULL,
        model text NOT NULL,
        prompt_tokens bigint NOT NULL,
        completion_tokens bigint NOT NULL,
        cost_usd double precision,
        latency_seconds double precision NOT NULL,
        attempts integer NOT NULL,
        faults jsonb NOT NULL,
        cached boolean NOT NULL,
        outcome text NOT NULL CHECK (outcome IN ('answered', 'failed')),
        error text NOT NULL,
        at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX ledger_run ON ledger (run_id)",
    # Keyed by content: when a corpus changes a paper's record, what older reports cited stays as it was.
    """
    CREATE TABLE papers (
        digest text PRIMARY KEY,
        id text NOT NULL,
        source text NOT NULL,
        record jsonb NOT NULL,
        first_seen timestamptz NOT NULL DEFAULT now()
    )
    """,
    "CREATE INDEX papers_id ON papers (id, first_seen DESC)",
    # `cited` holds digests of `papers`.
    """
    CREATE TABLE evaluations (
        id text PRIMARY KEY,
        idea_id text NOT NULL,
        method text NOT NULL,
        state text NOT NULL CHECK (state IN ('running', 'done', 'failed')),
        request jsonb NOT NULL,
        report jsonb,
        cited text[] NOT NULL DEFAULT '{}',
        error text NOT NULL DEFAULT '',
        started_at timestamptz NOT NULL DEFAULT now(),
        finished_at timestamptz,
        CHECK (state <> 'done' OR report IS NOT NULL)
    )
    """,
    "CREATE INDEX evaluations_started ON evaluations (started_at DESC)",
)


def upgrade() -> None:
    for statement in TABLES:
        op.execute(statement)


def downgrade() -> None:
    for table in ("evaluations", "papers", "ledger", "answers"):
        op.execute(f"DROP TABLE {table}")
