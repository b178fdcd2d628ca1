"""The log of people's acts: a chain of hashes that takes no change, and words that can be erased."""

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # No reference to tenants: the log outlives what it tells of.
    op.execute("""
        CREATE TABLE audit_log (
            tenant text NOT NULL,
            number bigint NOT NULL CHECK (number > 0),
            at timestamptz NOT NULL,
            actor text NOT NULL,
            role text NOT NULL,
            act text NOT NULL,
            about text NOT NULL,
            content_hash text NOT NULL,
            previous text NOT NULL,
            hash text NOT NULL,
            PRIMARY KEY (tenant, number)
        )
    """)
    # `content` as text: its hash is that of these very letters.
    op.execute("""
        CREATE TABLE audit_contents (
            tenant text NOT NULL,
            number bigint NOT NULL,
            about text NOT NULL,
            salt text NOT NULL,
            content text NOT NULL,
            PRIMARY KEY (tenant, number)
        )
    """)
    op.execute("CREATE INDEX audit_contents_about ON audit_contents (tenant, about)")
    op.execute("CREATE TABLE audit_tips (tenant text PRIMARY KEY, number bigint NOT NULL, hash text NOT NULL)")
    op.execute("""
        CREATE FUNCTION audit_log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'entries of the audit log are neither changed nor deleted';
        END $$
    """)
    op.execute("""
        CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
        FOR EACH STATEMENT EXECUTE FUNCTION audit_log_is_append_only()
    """)
    op.execute("""
        CREATE TRIGGER append_only BEFORE UPDATE ON audit_contents
        FOR EACH STATEMENT EXECUTE FUNCTION audit_log_is_append_only()
    """)
    op.execute("""
        CREATE FUNCTION audit_tip_only_moves_on() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP <> 'UPDATE' OR NEW.tenant <> OLD.tenant OR NEW.number <> OLD.number + 1 THEN
                RAISE EXCEPTION 'the end of the audit log only moves on, one entry at a time';
            END IF;
            RETURN NEW;
        END $$
    """)
    op.execute("""
        CREATE TRIGGER moves_on BEFORE UPDATE OR DELETE ON audit_tips
        FOR EACH ROW EXECUTE FUNCTION audit_tip_only_moves_on()
    """)


def downgrade() -> None:
    op.execute("DROP TABLE audit_tips")
    op.execute("DROP TABLE audit_contents")
    op.execute("DROP TABLE audit_log")
    op.execute("DROP FUNCTION audit_tip_only_moves_on")
    op.execute("DROP FUNCTION audit_log_is_append_only")
