"""Deliveries to webhooks are owed by the database itself: whatever ends a job, ends it together with them."""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

# `told`: whether the batch has finished and its tenant's webhooks are owed that. Told apart from the end of its last
# job: jobs that end at the same moment each see the others running, unless they wait for each other.
COLUMNS = (
    """
    ALTER TABLE webhooks ADD COLUMN events text[] NOT NULL DEFAULT
        '{evaluation.finished,comparison.finished,ranking.finished,batch.finished}'
    """,
    "ALTER TABLE batches ADD COLUMN told boolean NOT NULL DEFAULT false",
    "CREATE INDEX batches_untold ON batches (id) WHERE NOT told",
)

FUNCTION = """
    CREATE FUNCTION owe_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO deliveries (id, webhook, state, payload)
        SELECT gen_random_uuid(), id, 'pending', jsonb_build_object(
            'type', NEW.kind || '.finished',
            'timestamp', to_char(NEW.finished_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            'data', jsonb_build_object(
                'id', NEW.id, 'state', NEW.state, 'title', NEW.subject, 'batch', NEW.batch, 'row', NEW."row",
                'problem', NEW.problem, 'cost_usd', NEW.cost_usd
            )
        )
        FROM webhooks WHERE tenant = NEW.tenant AND NEW.kind || '.finished' = ANY(events);
        RETURN NULL;
    END $$
"""

TRIGGER = """
    CREATE TRIGGER jobs_owe_deliveries AFTER UPDATE OF state ON jobs FOR EACH ROW
    WHEN (OLD.state IN ('queued', 'running') AND NEW.state NOT IN ('queued', 'running'))
    EXECUTE FUNCTION owe_deliveries()
"""


def upgrade() -> None:
    for statement in (*COLUMNS, FUNCTION, TRIGGER):
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TRIGGER jobs_owe_deliveries ON jobs")
    op.execute("DROP FUNCTION owe_deliveries")
    op.execute("DROP INDEX batches_untold")
    op.execute("ALTER TABLE batches DROP COLUMN told")
    op.execute("ALTER TABLE webhooks DROP COLUMN events")
