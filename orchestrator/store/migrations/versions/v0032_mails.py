"""Mails to members: written with what they tell of, sent afterwards; who handed a call in; who wants no mails."""

from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE members ADD COLUMN mails boolean NOT NULL DEFAULT true",
    "ALTER TABLE batches ADD COLUMN submitted_by text REFERENCES members ON DELETE SET NULL",
    # A mail goes with its member, and with the call that it tells of.
    """
    CREATE TABLE mails (
        id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
        member text NOT NULL REFERENCES members ON DELETE CASCADE,
        batch text REFERENCES batches ON DELETE CASCADE,
        news jsonb NOT NULL,
        state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sent', 'dead')),
        attempt integer NOT NULL DEFAULT 0,
        next_at timestamptz NOT NULL DEFAULT now(),
        said text NOT NULL DEFAULT '',
        created_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    "CREATE INDEX mails_due ON mails (next_at) WHERE state = 'pending'",
    "CREATE INDEX mails_member ON mails (member, created_at)",
    "CREATE INDEX mails_batch ON mails (batch)",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TABLE mails")
    op.execute("ALTER TABLE batches DROP COLUMN submitted_by")
    op.execute("ALTER TABLE members DROP COLUMN mails")
