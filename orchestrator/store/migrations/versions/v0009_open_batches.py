"""A batch may be sent in parts: as long as it is open, more rows are to come."""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE batches ADD COLUMN open boolean NOT NULL DEFAULT false")


def downgrade() -> None:
    op.execute("ALTER TABLE batches DROP COLUMN open")
