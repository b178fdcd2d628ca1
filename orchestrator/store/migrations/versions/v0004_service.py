"""The service: tenants and their keys, jobs and their events, batches, webhooks."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TABLES = (
    # One row: the virtual time of the queue. Who gives out leases holds a lock on it.
    "CREATE TABLE queue_clock (virtual_time double precision NOT NULL) WITH (fillfactor = 50)",
    "INSERT INTO queue_clock VALUES (0)",
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
    # What jobs that have ended cost; outlives them. In slots, so that jobs that end together need not wait in line.
    """
    CREATE TABLE spending (
        tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
        month date NOT NULL,
        slot smallint NOT NULL,
        usd double precision NOT NULL,
        PRIMARY KEY (tenant, month, slot)
    ) WITH (fillfactor = 50)
    """,
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
    "CREATE INDEX batches_tenant ON batches (tenant, created_at DESC, id DESC)",
    # `request` is what was asked, `pinned` everything that determined the answer when it was last begun anew.
    # `priority` 0 is interactive, 1 is batch. `created_at` differs from row to row of a batch, in their order.
    # `last_lease` is the token that ended the last attempt, so that its holder may say so twice; `last_event` the
    # number of the job's newest event.
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
        max_usd double precision,
        attempt integer NOT NULL DEFAULT 0,
        failures integer NOT NULL DEFAULT 0,
        losses integer NOT NULL DEFAULT 0,
        outages integer NOT NULL DEFAULT 0,
        reasons text[] NOT NULL DEFAULT '{}',
        last_event integer NOT NULL DEFAULT 0,
        last_lease uuid,
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
    ) WITH (fillfactor = 80)
    """,
    "CREATE INDEX jobs_queue ON jobs (tenant, priority, ready_at) WHERE state = 'queued'",
    # Not `leased_until`, which every heartbeat changes.
    "CREATE INDEX jobs_running ON jobs (tenant) WHERE state = 'running'",
    "CREATE UNIQUE INDEX jobs_lease ON jobs (lease) WHERE lease IS NOT NULL",
    "CREATE INDEX jobs_suspect ON jobs (losses) WHERE state = 'running' AND losses > 0",
    'CREATE INDEX jobs_batch ON jobs (batch, "row")',
    "CREATE INDEX jobs_tenant ON jobs (tenant, created_at DESC, id DESC)",
    "CREATE INDEX jobs_finished ON jobs (finished_at) WHERE finished_at IS NOT NULL",
    "CREATE INDEX jobs_run ON jobs (run_id)",
    # Numbered from 1 without gaps within a job: what a reader has seen, it need not see again. `id` is drawn by
    # the writer, so that an event sent again after a lost connection is known.
    """
    CREATE TABLE events (
        job text NOT NULL REFERENCES jobs ON DELETE CASCADE,
        number integer NOT NULL,
        id uuid,
        kind text NOT NULL,
        data jsonb NOT NULL,
        at timestamptz NOT NULL DEFAULT clock_timestamp(),
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
    "CREATE INDEX idempotency_created ON idempotency (created_at)",
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
    "CREATE INDEX deliveries_webhook ON deliveries (webhook)",
    "CREATE INDEX ledger_at ON ledger (at)",
)

NAMES = (
    "deliveries",
    "webhooks",
    "idempotency",
    "events",
    "jobs",
    "batches",
    "key_rates",
    "spending",
    "api_keys",
    "tenants",
    "queue_clock",
)


def upgrade() -> None:
    for statement in TABLES:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP INDEX ledger_at")
    for table in NAMES:
        op.execute(f"DROP TABLE {table}")
