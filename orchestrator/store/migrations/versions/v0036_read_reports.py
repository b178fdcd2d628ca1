"""Until when a reviewer could read reports in another role."""

from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

COLUMN = "ALTER TABLE members ADD COLUMN read_reports_until timestamptz"
# What is known of roles that people had before: the audit log says when each was given. Entries that say only whether
# somebody wants mails hold none. Materialized: words of other entries may hold what no jsonb can, a NUL in a reason.
FROM_THE_LOG = """
    WITH said AS MATERIALIZED (
        SELECT entry.tenant, entry.about, entry.at, entry.number, words.content
        FROM audit_log AS entry JOIN audit_contents AS words USING (tenant, number)
        WHERE entry.act IN ('member invited', 'member changed')
    )
    UPDATE members SET read_reports_until = known.until
    FROM (
        SELECT tenant, about, max(at) AS until
        FROM (
            SELECT tenant, about, at, content::jsonb ->> 'role' AS role,
                   lag(content::jsonb ->> 'role') OVER (PARTITION BY tenant, about ORDER BY number) AS before
            FROM said WHERE content::jsonb ->> 'role' IS NOT NULL
        ) AS given
        WHERE role = 'reviewer' AND before <> 'reviewer' GROUP BY tenant, about
    ) AS known
    WHERE members.tenant = known.tenant AND members.id = known.about
"""
REMOVED = """
    UPDATE members SET read_reports_until = removed_at WHERE removed_at IS NOT NULL AND role <> 'reviewer'
"""
# The same person, invited anew.
BACK = """
    UPDATE members SET read_reports_until = greatest(members.read_reports_until, (
        SELECT max(known.read_reports_until) FROM members AS known
        WHERE known.tenant = members.tenant
          AND (lower(known.email) = lower(members.email)
               OR known.issuer = members.issuer AND known.subject = members.subject)
    ))
    WHERE removed_at IS NULL AND role = 'reviewer'
"""


def upgrade() -> None:
    for statement in (COLUMN, FROM_THE_LOG, REMOVED, BACK):
        op.execute(statement)


def downgrade() -> None:
    op.execute("ALTER TABLE members DROP COLUMN read_reports_until")
