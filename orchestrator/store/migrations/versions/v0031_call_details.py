"""A call has tags, and a day until which opinions are due."""

from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE batches ADD COLUMN tags text[] NOT NULL DEFAULT '{}', ADD COLUMN opinions_due date")


def downgrade() -> None:
    op.execute("ALTER TABLE batches DROP COLUMN tags, DROP COLUMN opinions_due")
