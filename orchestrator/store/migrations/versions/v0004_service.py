"""The service: tenants and their keys, jobs and their events, batches, webhooks."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TABLES = (
    # `virtual_time` grows by 1/weight with every job begun: who has the least is next.
    """
    CREATE TABLE tenants (
        id text PRIMARY KEY,
        name text NOT NULL,
        weight double precision NOT NULL DEFAULT 1 CHECK (weight > 0),
        max_running integer CHECK (max_running > 0),
        max_queued integer NOT NULL DEFAULT 20000 CHECK (max_queued > 0),
        monthly_usd double precision CHECK (monthly_usd > 0),
        retention_days integer CHECK (retention_days > 0),
        virtual_time double precision NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    # `hash` is SHA-256 of the whole key, which nobody but its holder has.
    """
    CREATE TABLE api_keys (
        id text PRIMARY KEY,
        tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
        name text NOT NULL,
        hash bytea NOT NULL UNIQUE,
        scopes text[] NOT NULL,
        requests_per_minute integer CHECK (requests_per_minute > 0),
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz,
        revoked_at timestamptz
    )
    """,
    "CREATE INDEX api_keys_tenant ON api_keys (tenant)",
    # Unlogged, as it changes with every request: a crash of the server forgets how fast a key has asked.
    """
    CREATE UNLOGGED TABLE key_rates (
        key text PRIMARY KEY,
        full_at timestamptz NOT NULL
    ) WITH (fillfactor = 50)
    """,
    """
    CREATE TABLE batches (
        id text PRIMARY KEY,
        tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
        name text NOT NULL,
        rows integer NOT NULL,
        rejected jsonb NOT NULL DEFAULT '[]',
        created_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    "CREATE INDEX batches_tenant ON batches (tenant, created_at DESC)",
    # `request` is what was asked, `pinned` everything that determined the answer when it was first begun.
    # `priority` 0 is interactive, 1 is batch.
    """
    CREATE TABLE jobs (
        id text PRIMARY KEY,
        tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
        batch text REFERENCES batches ON DELETE CASCADE,
        "row" integer,
        kind text NOT NULL CHECK (kind IN ('evaluation', 'comparison', 'ranking')),
        priority smallint NOT NULL CHECK (priority IN (0, 1)),
        state text NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'dead', 'cancelled')),
        subject text NOT NULL,
        request jsonb NOT NULL,
        document bytea,
        attempt integer NOT NULL DEFAULT 0,
        lease uuid,
        leased_until timestamptz,
        worker text,
        reserved_usd double precision NOT NULL DEFAULT 0,
        run_id text,
        pinned jsonb,
        result jsonb,
        problem jsonb,
        cost_usd double precision,
        prompt_tokens bigint NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL DEFAULT now(),
        ready_at timestamptz NOT NULL DEFAULT now(),
        started_at timestamptz,
        finished_at timestamptz,
        CHECK ((state = 'running') = (lease IS NOT NULL)),
        CHECK ((state IN ('done', 'failed', 'dead', 'cancelled')) = (finished_at IS NOT NULL)),
        CHECK (state NOT IN ('failed', 'dead') OR problem IS NOT NULL)
    )
    """,
    "CREATE INDEX jobs_queue ON jobs (tenant, priority, created_at) WHERE state = 'queued'",
    "CREATE INDEX jobs_leases ON jobs (leased_until) WHERE state = 'running'",
    'CREATE INDEX jobs_batch ON jobs (batch, "row")',
    "CREATE INDEX jobs_tenant ON jobs (tenant, created_at DESC)",
    "CREATE INDEX jobs_run ON jobs (run_id)",
    # Numbered from 1 without gaps within a job: what a reader has seen, it need not see again.
    """
    CREATE TABLE events (
        job text NOT NULL REFERENCES jobs ON DELETE CASCADE,
        number integer NOT NULL,
        kind text NOT NULL,
        data jsonb NOT NULL,
        at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (job, number)
    )
    """,
    # What a request with an Idempotency-Key was answered, and the hash of its body.
    """
    CREATE TABLE idempotency (
        tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
        key text NOT NULL,
        request bytea NOT NULL,
        status smallint NOT NULL,
        body bytea NOT NULL,
        location text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant, key)
    )
    """,
    # The secret signs, so it cannot be hashed; it is shown once and never again.
    """
    CREATE TABLE webhooks (
        id text PRIMARY KEY,
        tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
        url text NOT NULL,
        secret text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    "CREATE INDEX webhooks_tenant ON webhooks (tenant)",
    """
    CREATE TABLE deliveries (
        id uuid PRIMARY KEY,
        webhook text NOT NULL REFERENCES webhooks ON DELETE CASCADE,
        payload jsonb NOT NULL,
        state text NOT NULL CHECK (state IN ('pending', 'delivered', 'dead')),
        attempt integer NOT NULL DEFAULT 0,
        next_at timestamptz NOT NULL DEFAULT now(),
        said text NOT NULL DEFAULT '',
        created_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    "CREATE INDEX deliveries_pending ON deliveries (next_at) WHERE state = 'pending'",
)

NAMES = ("deliveries", "webhooks", "idempotency", "events", "jobs", "batches", "key_rates", "api_keys", "tenants")


def upgrade() -> None:
    for statement in TABLES:
        op.execute(statement)


def downgrade() -> None:
    for table in NAMES:
        op.execute(f"DROP TABLE {table}")
