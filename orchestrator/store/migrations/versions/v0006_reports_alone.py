"""The table of evaluations holds finished reports. Its own column of states went stale whenever a job was cancelled,
given up or taken over, and nobody needed it: the job tells how an evaluation stands."""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

UP = (
    "DELETE FROM evaluations WHERE report IS NULL",
    "UPDATE evaluations SET finished_at = started_at WHERE finished_at IS NULL",
    "DROP INDEX evaluations_started",
    "ALTER TABLE evaluations DROP COLUMN state, DROP COLUMN error, DROP COLUMN started_at",
    """
    ALTER TABLE evaluations ALTER COLUMN report SET NOT NULL, ALTER COLUMN finished_at SET NOT NULL,
        ALTER COLUMN finished_at SET DEFAULT now()
    """,
)

DOWN = (
    """
    ALTER TABLE evaluations ALTER COLUMN report DROP NOT NULL, ALTER COLUMN finished_at DROP NOT NULL,
        ALTER COLUMN finished_at DROP DEFAULT, ADD COLUMN error text NOT NULL DEFAULT '',
        ADD COLUMN started_at timestamptz NOT NULL DEFAULT now(),
        ADD COLUMN state text NOT NULL DEFAULT 'done' CHECK (state IN ('running', 'done', 'failed')),
        ADD CHECK (state <> 'done' OR report IS NOT NULL)
    """,
    "ALTER TABLE evaluations ALTER COLUMN state DROP DEFAULT",
    "UPDATE evaluations SET started_at = finished_at",
    "CREATE INDEX evaluations_started ON evaluations (started_at DESC)",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
