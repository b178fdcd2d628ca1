"""How many rows of a batch were erased, so that what is left still adds up."""

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE batches ADD COLUMN erased integer NOT NULL DEFAULT 0")


def downgrade() -> None:
    op.execute("ALTER TABLE batches DROP COLUMN erased")
