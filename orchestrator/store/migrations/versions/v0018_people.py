"""People of a tenant, the keys that are theirs, and their sessions in a browser."""

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # `issuer` and `subject` are those of an identity provider, once somebody has signed in by one.
    op.execute("""
        CREATE TABLE members (
            id text PRIMARY KEY,
            tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
            name text NOT NULL,
            email text NOT NULL,
            affiliation text NOT NULL,
            role text NOT NULL CHECK (role IN ('owner', 'officer', 'reviewer', 'auditor')),
            issuer text,
            subject text,
            invited_by text NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            removed_at timestamptz
        )
    """)
    op.execute("CREATE UNIQUE INDEX members_email ON members (tenant, lower(email)) WHERE removed_at IS NULL")
    op.execute("CREATE UNIQUE INDEX members_subject ON members (tenant, issuer, subject) WHERE removed_at IS NULL")
    op.execute("ALTER TABLE api_keys ADD COLUMN member text REFERENCES members ON DELETE CASCADE")
    # `hash` is SHA-256 of a token that only the browser has.
    op.execute("""
        CREATE TABLE sessions (
            hash bytea PRIMARY KEY,
            tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
            role text NOT NULL,
            name text NOT NULL,
            key text REFERENCES api_keys ON DELETE CASCADE,
            member text REFERENCES members ON DELETE CASCADE,
            created_at timestamptz NOT NULL,
            seen_at timestamptz NOT NULL,
            ends_at timestamptz NOT NULL,
            CHECK (key IS NOT NULL OR member IS NOT NULL)
        )
    """)


def downgrade() -> None:
    op.execute("DROP TABLE sessions")
    op.execute("ALTER TABLE api_keys DROP COLUMN member")
    op.execute("DROP TABLE members")
