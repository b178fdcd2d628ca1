"""What is suspicious in the texts of a job stands in lists and in messages to webhooks."""

from alembic import op

revision = "0015"
down_revision = "0014"
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
                'problem', NEW.problem, 'cost_usd', NEW.cost_usd{flags}
            )
        )
        FROM webhooks WHERE tenant = NEW.tenant AND NEW.kind || '.finished' = ANY(events);
        RETURN NULL;
    END $$
"""


def upgrade() -> None:
    op.execute("ALTER TABLE jobs ADD COLUMN flags text[] NOT NULL DEFAULT '{}'")
    op.execute(FUNCTION.replace("{flags}", ", 'flags', to_jsonb(NEW.flags)"))


def downgrade() -> None:
    op.execute(FUNCTION.replace("{flags}", ""))
    op.execute("ALTER TABLE jobs DROP COLUMN flags")
