"""Opinions of people on the proposals of a call: conflicts of interest, assignments, overrides, sign-off."""

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_OF = """
    evaluation text NOT NULL REFERENCES jobs ON DELETE CASCADE,
    member text NOT NULL REFERENCES members ON DELETE CASCADE
"""
TABLES = (
    # `cleared`: why it is none after all.
    f"""
    CREATE TABLE conflicts (
        {_OF},
        source text NOT NULL,
        reason text NOT NULL,
        cleared text,
        at timestamptz NOT NULL,
        PRIMARY KEY (evaluation, member)
    )
    """,
    f"CREATE TABLE assignments ({_OF}, at timestamptz NOT NULL, PRIMARY KEY (evaluation, member))",
    "CREATE INDEX assignments_member ON assignments (member, at, evaluation)",
    f"""
    CREATE TABLE opinions (
        {_OF},
        blind_score smallint NOT NULL,
        blind_note text NOT NULL,
        blind_at timestamptz NOT NULL,
        score smallint NOT NULL,
        note text NOT NULL,
        revised_at timestamptz,
        PRIMARY KEY (evaluation, member)
    )
    """,
    f"""
    CREATE TABLE point_judgements (
        {_OF},
        point text NOT NULL,
        agrees boolean NOT NULL,
        reason text NOT NULL,
        at timestamptz NOT NULL,
        PRIMARY KEY (evaluation, member, point)
    )
    """,
    """
    CREATE TABLE score_overrides (
        evaluation text PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
        score smallint NOT NULL,
        reason text NOT NULL,
        by text NOT NULL,
        name text NOT NULL,
        at timestamptz NOT NULL
    )
    """,
    """
    CREATE TABLE sign_offs (
        batch text PRIMARY KEY REFERENCES batches ON DELETE CASCADE,
        by text NOT NULL,
        name text NOT NULL,
        note text NOT NULL,
        missing_opinions integer NOT NULL,
        at timestamptz NOT NULL,
        audit_number bigint NOT NULL,
        audit_hash text NOT NULL
    )
    """,
)


def upgrade() -> None:
    for statement in TABLES:
        op.execute(statement)


def downgrade() -> None:
    for table in ("sign_offs", "score_overrides", "point_judgements", "opinions", "assignments", "conflicts"):
        op.execute(f"DROP TABLE {table}")
