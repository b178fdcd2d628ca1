"""Attempts to sign in with an identity provider that have not come back yet."""

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE sign_in_attempts (
            hash bytea PRIMARY KEY,
            provider text NOT NULL,
            state text NOT NULL,
            nonce text NOT NULL,
            verifier text NOT NULL,
            next text NOT NULL,
            ends_at timestamptz NOT NULL
        )
    """)


def downgrade() -> None:
    op.execute("DROP TABLE sign_in_attempts")
