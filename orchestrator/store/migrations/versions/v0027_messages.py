"""What was sent to the language model for an answer, compressed: people read how a report was made."""

from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Packed by the writer: the server's own compression would only cost time.
    op.execute("ALTER TABLE answers ADD COLUMN messages bytea")
    op.execute("ALTER TABLE answers ALTER COLUMN messages SET STORAGE EXTERNAL")


def downgrade() -> None:
    op.execute("ALTER TABLE answers DROP COLUMN messages")
