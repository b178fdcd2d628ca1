"""Secrets of webhooks lie sealed in their rows. The key is not known here: plain ones are sealed by the first process
that has it. The column's new name keeps an older program from signing with what it cannot read."""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE webhooks RENAME COLUMN secret TO sealed")
    # These remember the answer, with the secret in it.
    op.execute("DELETE FROM idempotency WHERE location LIKE '/v1/webhooks/%'")


def downgrade() -> None:
    op.execute("ALTER TABLE webhooks RENAME COLUMN sealed TO secret")
