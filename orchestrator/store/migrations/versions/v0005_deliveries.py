"""Deliveries to webhooks are owed by the database itself: whatever ends a job, ends it together with them."""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

# `told`: whether the end of the batch is among its tenant's deliveries.
COLUMNS = (
    """
    ALTER TABLE webhooks ADD COLUMN events text[] NOT NULL DEFAULT
        '{evaluation.finished,comparison.finished,ranking.finished,batch.finished}'
    """,
    "ALTER TABLE batches ADD COLUMN told boolean NOT NULL DEFAULT false",
)

# Of jobs of one batch that end at the same moment each would see the others running: the last one must be last for
# certain. So a tenant with webhooks ends the jobs of one batch one after the other, each with a look of its own.
FUNCTION = """
    CREATE FUNCTION owe_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        stamp text := to_char(NEW.finished_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
        batch_name text;
    BEGIN
        PERFORM FROM webhooks WHERE tenant = NEW.tenant;
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
        INSERT INTO deliveries (id, webhook, state, payload)
        SELECT gen_random_uuid(), id, 'pending', jsonb_build_object(
            'type', NEW.kind || '.finished',
            'timestamp', stamp,
            'data', jsonb_build_object(
                'id', NEW.id, 'state', NEW.state, 'title', NEW.subject, 'batch', NEW.batch, 'row', NEW."row",
                'problem', NEW.problem, 'cost_usd', NEW.cost_usd
            )
        )
        FROM webhooks WHERE tenant = NEW.tenant AND NEW.kind || '.finished' = ANY(events);
        IF NEW.batch IS NOT NULL THEN
            PERFORM FROM batches WHERE id = NEW.batch FOR NO KEY UPDATE;
            UPDATE batches SET told = true
            WHERE id = NEW.batch AND NOT told
              AND NOT EXISTS (SELECT FROM jobs WHERE tenant = NEW.tenant AND batch = NEW.batch AND state = 'running')
              AND NOT EXISTS (SELECT FROM jobs WHERE tenant = NEW.tenant AND batch = NEW.batch AND state = 'queued')
            RETURNING name INTO batch_name;
            IF FOUND THEN
                INSERT INTO deliveries (id, webhook, state, payload)
                SELECT gen_random_uuid(), webhooks.id, 'pending', jsonb_build_object(
                    'type', 'batch.finished',
                    'timestamp', stamp,
                    'data', jsonb_build_object(
                        'id', NEW.batch, 'name', batch_name, 'states', sums.states, 'cost_usd', sums.cost
                    )
                )
                FROM webhooks, (
                    SELECT jsonb_object_agg(state, jobs) AS states, sum(cost) AS cost
                    FROM (
                        SELECT state, count(*) AS jobs, sum(cost_usd) AS cost FROM jobs
                        WHERE batch = NEW.batch GROUP BY state
                    ) AS by_state
                ) AS sums
                WHERE tenant = NEW.tenant AND 'batch.finished' = ANY(events);
            END IF;
        END IF;
        PERFORM pg_notify('assayer_deliveries', '');
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
    op.execute("ALTER TABLE batches DROP COLUMN told")
    op.execute("ALTER TABLE webhooks DROP COLUMN events")
