"""Rewards: what became of each item of a job, as it comes; and groups whose members are rewarded against each other."""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_KINDS = "ALTER TABLE jobs ADD CONSTRAINT jobs_kind_check CHECK (kind IN ({}))"

# `item` is the place in the request, `came` the order in which the outcomes came, both within a job.
TABLES = (
    """
    CREATE TABLE rewards (
        job text NOT NULL REFERENCES jobs ON DELETE CASCADE,
        item integer NOT NULL,
        came integer NOT NULL,
        outcome jsonb NOT NULL,
        PRIMARY KEY (job, item)
    )
    """,
    "CREATE INDEX rewards_came ON rewards (job, came)",
    # `due_at`: until then whoever waits for the missing members waits.
    """
    CREATE TABLE reward_groups (
        tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
        id text NOT NULL,
        size integer NOT NULL,
        judge text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        due_at timestamptz NOT NULL,
        PRIMARY KEY (tenant, id)
    )
    """,
    "CREATE INDEX reward_groups_created ON reward_groups (created_at)",
    """
    CREATE TABLE reward_group_members (
        tenant text NOT NULL,
        "group" text NOT NULL,
        member integer NOT NULL,
        digest bytea NOT NULL,
        job text NOT NULL REFERENCES jobs ON DELETE CASCADE,
        PRIMARY KEY (tenant, "group", member),
        FOREIGN KEY (tenant, "group") REFERENCES reward_groups ON DELETE CASCADE
    )
    """,
    "CREATE INDEX reward_group_members_job ON reward_group_members (job)",
)


def upgrade() -> None:
    op.execute("ALTER TABLE jobs DROP CONSTRAINT jobs_kind_check")
    op.execute(_KINDS.format("'evaluation', 'comparison', 'ranking', 'rewards'"))
    for statement in TABLES:
        op.execute(statement)


def downgrade() -> None:
    for table in ("reward_group_members", "reward_groups", "rewards"):
        op.execute(f"DROP TABLE {table}")
    op.execute("DELETE FROM jobs WHERE kind = 'rewards'")
    op.execute("ALTER TABLE jobs DROP CONSTRAINT jobs_kind_check")
    op.execute(_KINDS.format("'evaluation', 'comparison', 'ranking'"))
