"""The ledger and the events of jobs in months, so that old ones can be dropped instead of deleted row by row."""

import datetime as dt

from alembic import op
from sqlalchemy import text

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

# What is there already becomes one partition, as it is: nothing is copied and no index is made anew. So keys are those
# of a partition: the time of a row is drawn with its id and never changes, and the number of an event under a lock on
# its job. What comes outside all months goes into `…_other`, so that no row is ever refused.
TABLES = {
    "ledger": ("CREATE INDEX ledger_run ON ledger (run_id)", "CREATE INDEX ledger_at ON ledger (at)"),
    "events": ("ALTER TABLE events ADD FOREIGN KEY (job) REFERENCES jobs ON DELETE CASCADE",),
}
INDEXES = {"ledger": ("ledger_pkey", "ledger_run", "ledger_at"), "events": ("events_pkey",)}

# True where the month was missing. What came for it meanwhile moves into it.
ADD_MONTH = r"""
    CREATE FUNCTION add_month(parent text, first date) RETURNS boolean LANGUAGE plpgsql AS $$
    DECLARE
        begins timestamptz := first::timestamp AT TIME ZONE 'UTC';
        ends timestamptz := (first + interval '1 month') AT TIME ZONE 'UTC';
        other text := parent || '_other';
        part text := parent || to_char(first, '"_"YYYY"_"MM');
    BEGIN
        FOR look IN 1..2 LOOP
            IF EXISTS (
                SELECT FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
                WHERE inhparent = parent::regclass
                  AND substring(pg_get_expr(relpartbound, inhrelid) FROM 'TO \(''([^'']+)''\)')::timestamptz >= ends
            ) THEN
                RETURN false;
            END IF;
            -- Another process may be at it: looked at again once it is known that none is. What is locked is locked in
            -- the order of those who write events.
            IF look = 1 THEN
                IF parent = 'events' THEN
                    LOCK TABLE jobs IN SHARE ROW EXCLUSIVE MODE;
                END IF;
                EXECUTE format('LOCK TABLE %I IN SHARE UPDATE EXCLUSIVE MODE', parent);
                EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', other);
            END IF;
        END LOOP;
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', part, other);
        EXECUTE format(
            'WITH moved AS (DELETE FROM %I WHERE at >= %L AND at < %L RETURNING *) INSERT INTO %I SELECT * FROM moved',
            other, begins, ends, part
        );
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, part, begins, ends);
        RETURN true;
    END $$
"""


def upgrade() -> None:
    op.execute("LOCK TABLE jobs, ledger, events IN ACCESS EXCLUSIVE MODE")
    op.execute(ADD_MONTH)
    for table, keys in TABLES.items():
        latest = op.get_bind().execute(text(f"SELECT greatest(now(), max(at)) FROM {table}")).scalar_one()  # noqa: S608
        month = _month_after(latest)
        before = f"{table}_before_{month:%Y_%m}"
        op.execute(f"ALTER TABLE {table} RENAME TO {before}")
        for index in INDEXES[table]:
            op.execute(f"ALTER INDEX {index} RENAME TO {before}{index.removeprefix(table)}")
        op.execute(
            f"CREATE TABLE {table} (LIKE {before} INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY RANGE (at)"
        )
        for key in keys:
            op.execute(key)
        op.execute(f"ALTER TABLE {table} ATTACH PARTITION {before} FOR VALUES FROM (MINVALUE) TO ('{month} 00:00+00')")
        op.execute(f"CREATE TABLE {table}_other (LIKE {before} INCLUDING ALL)")
        op.execute(f"ALTER TABLE {table} ATTACH PARTITION {table}_other DEFAULT")
        op.execute(f"SELECT add_month('{table}', '{month}')")


def _month_after(time: dt.datetime) -> dt.date:
    utc = time.astimezone(dt.UTC)
    return dt.date(utc.year + utc.month // 12, utc.month % 12 + 1, 1)


def downgrade() -> None:
    op.execute("LOCK TABLE jobs, ledger, events IN ACCESS EXCLUSIVE MODE")
    for table, keys in TABLES.items():
        op.execute(f"ALTER TABLE {table} RENAME TO {table}_in_months")
        op.execute(f"CREATE TABLE {table} (LIKE {table}_other INCLUDING DEFAULTS INCLUDING CONSTRAINTS)")
        op.execute(f"INSERT INTO {table} SELECT * FROM {table}_in_months")  # noqa: S608 - put together from constants
        op.execute(f"DROP TABLE {table}_in_months")
        op.execute(f"ALTER TABLE {table} ADD PRIMARY KEY ({'id' if table == 'ledger' else 'job, number'})")
        for key in keys:
            op.execute(key)
    op.execute("DROP FUNCTION add_month")
