"""What was deleted, when and why: nothing but ids, so that whoever asks for it is told."""

from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

TABLE = """
    CREATE TABLE tombstones (
        tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
        id text NOT NULL,
        kind text NOT NULL,
        deleted_at timestamptz NOT NULL,
        why text NOT NULL CHECK (why IN ('erased', 'retention')),
        proof bigint,
        PRIMARY KEY (tenant, id)
    )
"""
# Retention takes tombstones by their age, a few at a time.
INDEX = "CREATE INDEX tombstones_deleted_at ON tombstones (deleted_at)"

# What was erased before: its entry in the audit log names it. Of what retention took, only that of which something had
# been said is named there. Materialized: of other entries the words may hold what no jsonb can, a NUL in a reason.
FILL = """
    WITH entry AS MATERIALIZED (
        SELECT tenant, number, audit_log.at, audit_log.actor, words.content
        FROM audit_log JOIN audit_contents AS words USING (tenant, number) WHERE audit_log.act = 'erased'
    )
    INSERT INTO tombstones (tenant, id, kind, deleted_at, why, proof)
    SELECT DISTINCT ON (tenant, thing.id) tenant, thing.id, kinds.kind, entry.at,
           CASE WHEN entry.actor = 'retention' THEN 'retention' ELSE 'erased' END,
           CASE WHEN entry.actor <> 'retention' THEN number END
    FROM entry CROSS JOIN LATERAL jsonb_array_elements_text(content::jsonb -> 'things') AS thing (id)
    JOIN (VALUES ('ev', 'evaluation'), ('cp', 'comparison'), ('rk', 'ranking'), ('rw', 'rewards'), ('cu', 'curation'),
                 ('pr', 'proposal'), ('sc', 'score'), ('bt', 'batch')) AS kinds (prefix, kind)
        ON kinds.prefix = split_part(thing.id, '_', 1)
    WHERE EXISTS (SELECT FROM tenants WHERE tenants.id = tenant)
      AND NOT EXISTS (SELECT FROM jobs WHERE jobs.id = thing.id)
      AND NOT EXISTS (SELECT FROM batches WHERE batches.id = thing.id)
    ORDER BY tenant, thing.id, number
"""


def upgrade() -> None:
    for statement in (TABLE, INDEX, FILL):
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TABLE tombstones")
