"""Documents of jobs that ended without a result stay for a while: found by when their jobs ended, and no file goes that
a job has."""

from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

# Processes of the version before take files of jobs that have ended for abandoned ones. The triggers that release a
# file run when its job has let go of it.
UP = (
    """
    CREATE INDEX jobs_kept_documents ON jobs (finished_at)
    WHERE finished_at IS NOT NULL AND (document IS NOT NULL OR document_file IS NOT NULL)
    """,
    """
    CREATE FUNCTION keep_document() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF EXISTS (SELECT FROM jobs WHERE id = NEW.job AND document_file = NEW.file) THEN
            RETURN NULL;
        END IF;
        RETURN NEW;
    END $$
    """,
    """
    CREATE TRIGGER document_files_keep BEFORE UPDATE OF released_at ON document_files FOR EACH ROW
    WHEN (NEW.released_at IS NOT NULL) EXECUTE FUNCTION keep_document()
    """,
)

DOWN = (
    "DROP TRIGGER document_files_keep ON document_files",
    "DROP FUNCTION keep_document",
    # The version before deletes a file when its job ends, and never looks at it again.
    """
    UPDATE jobs SET document = NULL, document_file = NULL
    WHERE finished_at IS NOT NULL AND (document IS NOT NULL OR document_file IS NOT NULL)
    """,
    "DROP INDEX jobs_kept_documents",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
