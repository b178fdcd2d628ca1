"""Who reviews a call: those chosen and invited for it. A call of which nobody was chosen has no row, and asks all."""

from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE call_reviewers (
        batch text NOT NULL REFERENCES batches ON DELETE CASCADE,
        member text NOT NULL REFERENCES members ON DELETE CASCADE,
        at timestamptz NOT NULL,
        PRIMARY KEY (batch, member)
    )
    """,
    "CREATE INDEX call_reviewers_member ON call_reviewers (member)",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TABLE call_reviewers")
