"""Messages to webhooks say what the sender of an idea calls it."""

from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

FUNCTION = """
    CREATE OR REPLACE FUNCTION owe_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO deliveries (id, webhook, state, payload)
        SELECT gen_random_uuid(), id, 'pending', jsonb_build_object(
            'type', NEW.kind || '.finished',
            'timestamp', to_char(NEW.finished_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            'data', jsonb_build_object(
                'id', NEW.id, 'state', NEW.state, 'title', NEW.subject, 'batch', NEW.batch, 'row', NEW."row",
                'problem', NEW.problem, 'cost_usd', NEW.cost_usd, 'flags', to_jsonb(NEW.flags){source}
            )
        )
        FROM webhooks WHERE tenant = NEW.tenant AND NEW.kind || '.finished' = ANY(events);
        RETURN NULL;
    END $$
"""
# An idea that nobody named is stored as coming from `the request`.
SOURCE = ", 'source', coalesce(nullif(NEW.source_name, 'the request'), '')"


def upgrade() -> None:
    op.execute(FUNCTION.replace("{source}", SOURCE))


def downgrade() -> None:
    op.execute(FUNCTION.replace("{source}", ""))
