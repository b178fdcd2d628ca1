"""Remarks of people on a proposal, which are added and never changed."""

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE remarks (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            evaluation text NOT NULL REFERENCES jobs ON DELETE CASCADE,
            by text NOT NULL,
            name text NOT NULL,
            role text NOT NULL,
            text text NOT NULL,
            at timestamptz NOT NULL
        )
    """)
    op.execute("CREATE INDEX remarks_evaluation ON remarks (evaluation, id)")
    # Sent again, a remark is the same.
    op.execute("CREATE UNIQUE INDEX remarks_once ON remarks (evaluation, by, md5(text))")
    op.execute("""
        CREATE FUNCTION remarks_are_not_changed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'remarks are added and never changed';
        END $$
    """)
    op.execute("""
        CREATE TRIGGER append_only BEFORE UPDATE ON remarks
        FOR EACH STATEMENT EXECUTE FUNCTION remarks_are_not_changed()
    """)


def downgrade() -> None:
    op.execute("DROP TABLE remarks")
    op.execute("DROP FUNCTION remarks_are_not_changed")
