"""How fast all keys of a tenant ask together."""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE UNLOGGED TABLE tenant_rates (tenant text PRIMARY KEY, full_at timestamptz NOT NULL)")


def downgrade() -> None:
    op.execute("DROP TABLE tenant_rates")
