"""Documents of jobs in a store of files: which there are, of which job, and which are to go."""

from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

# A file is noted before it is written and until it has gone: `released_at` says that nobody needs it any more. No
# reference to jobs, which it outlives. Documents in rows stay there until their jobs end.
UP = (
    """
    CREATE TABLE document_files (
        file text PRIMARY KEY,
        job text NOT NULL,
        written_at timestamptz NOT NULL DEFAULT now(),
        released_at timestamptz
    )
    """,
    "CREATE INDEX document_files_job ON document_files (job)",
    "CREATE INDEX document_files_released ON document_files (released_at) WHERE released_at IS NOT NULL",
    "ALTER TABLE jobs ADD COLUMN document_file text",
    """
    CREATE FUNCTION release_document() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        UPDATE document_files SET released_at = now() WHERE file = OLD.document_file;
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER jobs_end_document AFTER UPDATE OF document_file ON jobs FOR EACH ROW
    WHEN (OLD.document_file IS NOT NULL AND NEW.document_file IS DISTINCT FROM OLD.document_file)
    EXECUTE FUNCTION release_document()
    """,
    """
    CREATE TRIGGER jobs_delete_document AFTER DELETE ON jobs FOR EACH ROW
    WHEN (OLD.document_file IS NOT NULL) EXECUTE FUNCTION release_document()
    """,
)

DOWN = (
    "DROP TRIGGER jobs_delete_document ON jobs",
    "DROP TRIGGER jobs_end_document ON jobs",
    "DROP FUNCTION release_document",
    "ALTER TABLE jobs DROP COLUMN document_file",
    "DROP TABLE document_files",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
