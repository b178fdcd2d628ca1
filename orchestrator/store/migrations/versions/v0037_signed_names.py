"""What people of a call were called when it was signed off."""

from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

TABLE = """
    CREATE TABLE signed_names (
        batch text NOT NULL REFERENCES batches ON DELETE CASCADE,
        member text NOT NULL REFERENCES members ON DELETE CASCADE,
        name text NOT NULL,
        PRIMARY KEY (batch, member)
    )
"""
INDEX = "CREATE INDEX signed_names_member ON signed_names (member)"
# Of calls that were signed off before: as the audit log had them by then, else as they are now. Materialized: of other
# entries the words may hold what no jsonb can, a NUL in a reason.
FILL = """
    WITH said AS MATERIALIZED (
        SELECT entry.tenant, entry.about, entry.number, words.content
        FROM audit_log AS entry JOIN audit_contents AS words USING (tenant, number)
        WHERE entry.act IN ('member invited', 'member changed')
    ), called AS MATERIALIZED (
        SELECT tenant, about, number, content::jsonb ->> 'name' AS name FROM said
        WHERE content::jsonb ->> 'name' IS NOT NULL
    )
    INSERT INTO signed_names (batch, member, name)
    SELECT sign_offs.batch, members.id, coalesce(told.name, members.name)
    FROM sign_offs JOIN batches ON batches.id = sign_offs.batch JOIN members ON members.tenant = batches.tenant
    LEFT JOIN LATERAL (
        SELECT called.name FROM called
        WHERE called.tenant = members.tenant AND called.about = members.id AND called.number < sign_offs.audit_number
        ORDER BY called.number DESC LIMIT 1
    ) AS told ON true
    WHERE members.id IN (
        SELECT member FROM assignments JOIN jobs ON jobs.id = evaluation WHERE jobs.batch = sign_offs.batch
        UNION SELECT member FROM conflicts JOIN jobs ON jobs.id = evaluation WHERE jobs.batch = sign_offs.batch
    )
"""


def upgrade() -> None:
    for statement in (TABLE, INDEX, FILL):
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TABLE signed_names")
