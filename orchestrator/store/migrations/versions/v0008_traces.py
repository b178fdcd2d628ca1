"""Of each job: the trace of the request that asked for it, and whether its own trace was given out."""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE jobs ADD COLUMN traceparent text, ADD COLUMN traced boolean NOT NULL DEFAULT false")


def downgrade() -> None:
    op.execute("ALTER TABLE jobs DROP COLUMN traceparent, DROP COLUMN traced")
