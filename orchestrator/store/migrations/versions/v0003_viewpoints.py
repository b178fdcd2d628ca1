"""Viewpoint graphs: ideas with known outcomes, their viewpoints and the edges between them."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TABLES = (
    # `plan` never changes; `version` is a hash over everything added so far, in order.
    """
    CREATE TABLE viewpoint_graphs (
        name text PRIMARY KEY,
        plan jsonb NOT NULL,
        version text NOT NULL,
        ideas integer NOT NULL DEFAULT 0,
        viewpoints integer NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL DEFAULT now(),
        changed_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    # Numbered from 0 without gaps, as rows of arrays are.
    """
    CREATE TABLE viewpoint_ideas (
        graph text NOT NULL REFERENCES viewpoint_graphs ON DELETE CASCADE,
        number integer NOT NULL,
        id text NOT NULL,
        digest text NOT NULL,
        record jsonb NOT NULL,
        label text,
        maker text NOT NULL,
        added_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (graph, number),
        UNIQUE (graph, id)
    )
    """,
    # `vector` holds little-endian float32; `idea` is a number in viewpoint_ideas.
    """
    CREATE TABLE viewpoints (
        graph text NOT NULL REFERENCES viewpoint_graphs ON DELETE CASCADE,
        number integer NOT NULL,
        idea integer NOT NULL,
        statement text NOT NULL,
        words text NOT NULL,
        self_contained boolean NOT NULL,
        vector bytea NOT NULL,
        PRIMARY KEY (graph, number)
    )
    """,
    # Undirected: source < target. Never looked up one by one, always read as a whole.
    """
    CREATE TABLE viewpoint_edges (
        graph text NOT NULL REFERENCES viewpoint_graphs ON DELETE CASCADE,
        source integer NOT NULL,
        target integer NOT NULL,
        weight real NOT NULL,
        PRIMARY KEY (graph, target, source)
    )
    """,
)


def upgrade() -> None:
    for statement in TABLES:
        op.execute(statement)


def downgrade() -> None:
    for table in ("viewpoint_edges", "viewpoints", "viewpoint_ideas", "viewpoint_graphs"):
        op.execute(f"DROP TABLE {table}")
