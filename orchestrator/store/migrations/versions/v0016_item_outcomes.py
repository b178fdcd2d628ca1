"""Outcomes of items of every kind of job that has many: what was the table of rewards. Curations, proposals, scores."""

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_KINDS = "ALTER TABLE jobs ADD CONSTRAINT jobs_kind_check CHECK (kind IN ({}))"
_BEFORE = "'evaluation', 'comparison', 'ranking', 'rewards'"


def upgrade() -> None:
    op.execute("ALTER TABLE rewards RENAME TO item_outcomes")
    op.execute("ALTER INDEX rewards_came RENAME TO item_outcomes_came")
    op.execute("ALTER INDEX rewards_pkey RENAME TO item_outcomes_pkey")
    op.execute("ALTER TABLE jobs DROP CONSTRAINT jobs_kind_check")
    op.execute(_KINDS.format(f"{_BEFORE}, 'curation', 'proposal', 'score'"))


def downgrade() -> None:
    op.execute("DELETE FROM jobs WHERE kind IN ('curation', 'proposal', 'score')")
    op.execute("ALTER TABLE jobs DROP CONSTRAINT jobs_kind_check")
    op.execute(_KINDS.format(_BEFORE))
    op.execute("ALTER INDEX item_outcomes_pkey RENAME TO rewards_pkey")
    op.execute("ALTER INDEX item_outcomes_came RENAME TO rewards_came")
    op.execute("ALTER TABLE item_outcomes RENAME TO rewards")
