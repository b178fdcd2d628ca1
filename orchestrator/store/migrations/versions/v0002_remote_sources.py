"""Answers of remote sources, who is asking for which, and the sources' limits."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TABLES = (
    # `body` is compressed by the writer.
    """
    CREATE TABLE replies (
        key text PRIMARY KEY,
        source text NOT NULL,
        status smallint NOT NULL CHECK (status IN (200, 404)),
        body bytea NOT NULL,
        fetched_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL
    )
    """,
    "ALTER TABLE replies ALTER COLUMN body SET STORAGE EXTERNAL",
    "CREATE INDEX replies_expires ON replies (expires_at)",
    # Unlogged: claims lost in a crash of the server cost at most a request that is made twice.
    """
    CREATE UNLOGGED TABLE reply_claims (
        key text PRIMARY KEY,
        claimant text NOT NULL,
        expires_at timestamptz NOT NULL
    )
    """,
    "CREATE INDEX reply_claims_claimant ON reply_claims (claimant)",
    # One row a bucket, changed several times a second: room for the new versions of the row on its page.
    """
    CREATE TABLE turns (
        bucket text PRIMARY KEY,
        version bigint NOT NULL,
        state jsonb NOT NULL
    ) WITH (fillfactor = 50)
    """,
)


def upgrade() -> None:
    for statement in TABLES:
        op.execute(statement)


def downgrade() -> None:
    for table in ("turns", "reply_claims", "replies"):
        op.execute(f"DROP TABLE {table}")
