"""Whether a batch has jobs whose cost is not known: found without looking at the others."""

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE INDEX jobs_unpriced ON jobs (batch) WHERE finished_at IS NOT NULL AND cost_usd IS NULL")


def downgrade() -> None:
    op.execute("DROP INDEX jobs_unpriced")
