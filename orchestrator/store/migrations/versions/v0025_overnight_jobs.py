"""Overnight as a third priority of jobs: `priority` 2."""

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE jobs DROP CONSTRAINT jobs_priority_check")
    op.execute("ALTER TABLE jobs ADD CONSTRAINT jobs_priority_check CHECK (priority IN (0, 1, 2))")


def downgrade() -> None:
    op.execute("UPDATE jobs SET priority = 1 WHERE priority = 2")
    op.execute("ALTER TABLE jobs DROP CONSTRAINT jobs_priority_check")
    op.execute("ALTER TABLE jobs ADD CONSTRAINT jobs_priority_check CHECK (priority IN (0, 1))")
