"""What a table of proposals shows and sorts by: figures beside each report, and the sender's name beside each job."""

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

# Figures of reports that are there already are written when their table is first looked at.
UP = (
    """
    CREATE TABLE report_figures (
        run text PRIMARY KEY REFERENCES evaluations ON DELETE CASCADE,
        idea text NOT NULL,
        score double precision,
        certainty smallint,
        fit text,
        complete boolean NOT NULL,
        shares jsonb NOT NULL,
        figures jsonb NOT NULL,
        words tsvector NOT NULL
    )
    """,
    "CREATE INDEX report_figures_words ON report_figures USING gin (words)",
    # Read out once: requests are large, and a table would read thousands of them.
    """
    ALTER TABLE jobs ADD COLUMN source_name text GENERATED ALWAYS AS
        (left(coalesce(request #>> '{idea,source}', request ->> 'source', ''), 300)) STORED
    """,
    """
    CREATE TABLE saved_views (
        tenant text NOT NULL REFERENCES tenants ON DELETE CASCADE,
        name text NOT NULL,
        query text NOT NULL,
        PRIMARY KEY (tenant, name)
    )
    """,
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TABLE saved_views")
    op.execute("ALTER TABLE jobs DROP COLUMN source_name")
    op.execute("DROP TABLE report_figures")
