"""Runs whose jobs were erased, so that nothing is stored for them that was still on its way."""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE TABLE erased_runs (run_id text PRIMARY KEY, erased_at timestamptz NOT NULL DEFAULT now())")


def downgrade() -> None:
    op.execute("DROP TABLE erased_runs")
