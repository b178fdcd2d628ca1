"""Rankings beside their comparisons: a row for each ranked idea and for each answer of a judge, and which rankings are
of which call."""

from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

TABLES = (
    # `head`: the ranking without its ideas; `ideas`: all that it says of them, from the best.
    """
    CREATE TABLE rankings (
        job text PRIMARY KEY,
        cut integer,
        size integer NOT NULL,
        head jsonb NOT NULL,
        ideas jsonb NOT NULL
    )
    """,
    """
    CREATE TABLE ranked_ideas (
        job text NOT NULL,
        idea text NOT NULL,
        rank integer NOT NULL,
        low double precision NOT NULL,
        high double precision NOT NULL,
        band text,
        chance_in double precision,
        strength double precision NOT NULL,
        strength_low double precision NOT NULL,
        strength_high double precision NOT NULL,
        comparisons integer NOT NULL,
        alike boolean NOT NULL,
        title text NOT NULL,
        PRIMARY KEY (job, idea)
    )
    """,
    """
    CREATE TABLE pair_verdicts (
        job text NOT NULL,
        place integer NOT NULL,
        first text NOT NULL,
        second text NOT NULL,
        answer jsonb NOT NULL,
        PRIMARY KEY (job, place)
    )
    """,
    # Of a ranking that holds two proposals of a call or more, whoever started it.
    """
    CREATE TABLE ranking_calls (
        batch text NOT NULL,
        job text NOT NULL,
        PRIMARY KEY (batch, job)
    )
    """,
    "CREATE INDEX evaluations_idea ON evaluations (idea_id)",
)

# Written by the database itself, so that processes of the version before write them as well, and with the verdict.
FUNCTIONS = (
    """
    CREATE FUNCTION keep_ranks(of_job text, result jsonb) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
        made CONSTANT jsonb := result -> 'ranking';
        answers CONSTANT jsonb := coalesce(result -> 'comparisons', result -> 'answers');
    BEGIN
        IF jsonb_typeof(made -> 'ideas') = 'array' THEN
            INSERT INTO rankings (job, cut, size, head, ideas)
            VALUES (of_job, (made ->> 'cut')::integer, jsonb_array_length(made -> 'ideas'), made - 'ideas',
                    made -> 'ideas');
            INSERT INTO ranked_ideas
            SELECT of_job, one ->> 'id', (one ->> 'rank')::integer, (one #>> '{ranks,low}')::float8,
                   (one #>> '{ranks,high}')::float8, one ->> 'band', (one ->> 'chance_in')::float8,
                   (one ->> 'strength')::float8, (one #>> '{strengths,low}')::float8,
                   (one #>> '{strengths,high}')::float8, (one ->> 'comparisons')::integer,
                   coalesce(one -> 'same_text_as' <> '[]', false), one ->> 'title'
            FROM jsonb_array_elements(made -> 'ideas') AS one;
        END IF;
        IF jsonb_typeof(answers) = 'array' THEN
            INSERT INTO pair_verdicts
            SELECT of_job, place, one ->> 'first', one ->> 'second', one
            FROM jsonb_array_elements(answers) WITH ORDINALITY AS each (one, place);
        END IF;
    END $$
    """,
    """
    CREATE FUNCTION keep_ranks_of_job() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM keep_ranks(NEW.id, NEW.result);
        RETURN NULL;
    END $$
    """,
    """
    CREATE FUNCTION keep_calls(of_job text, of_tenant text, asked jsonb) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        IF jsonb_typeof(asked -> 'ideas') = 'array' THEN
            INSERT INTO ranking_calls (batch, job)
            SELECT proposals.batch, of_job
            FROM (SELECT DISTINCT one ->> 'id' AS idea FROM jsonb_array_elements(asked -> 'ideas') AS one) AS ranked
            JOIN evaluations ON evaluations.idea_id = ranked.idea
            JOIN jobs AS proposals ON proposals.run_id = evaluations.id
            WHERE proposals.tenant = of_tenant AND proposals.kind = 'evaluation' AND proposals.batch IS NOT NULL
            GROUP BY proposals.batch HAVING count(DISTINCT ranked.idea) > 1
            ON CONFLICT DO NOTHING;
        END IF;
    END $$
    """,
    """
    CREATE FUNCTION keep_calls_of_job() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM keep_calls(NEW.id, NEW.tenant, NEW.request);
        RETURN NULL;
    END $$
    """,
)

# Most of what is there is copied before anybody has to wait for it; what ended meanwhile, when jobs are locked.
COPY_RESULTS = """
    SELECT keep_ranks(id, result) FROM jobs
    WHERE kind IN ('ranking', 'comparison') AND state = 'done' AND NOT EXISTS (SELECT FROM rankings WHERE job = id)
      AND NOT EXISTS (SELECT FROM pair_verdicts WHERE job = id)
"""
COPY_CALLS = "SELECT keep_calls(id, tenant, request) FROM jobs WHERE kind = 'ranking'"
LOCKED = (
    "LOCK TABLE jobs, batches IN SHARE ROW EXCLUSIVE MODE",
    *(
        f"DELETE FROM {table} WHERE NOT EXISTS (SELECT FROM jobs WHERE id = job)"  # noqa: S608 - of constants
        for table in ("rankings", "ranked_ideas", "pair_verdicts", "ranking_calls")
    ),
    "DELETE FROM ranking_calls WHERE NOT EXISTS (SELECT FROM batches WHERE id = batch)",
    COPY_RESULTS,
    COPY_CALLS,
    *(
        f"ALTER TABLE {table} ADD FOREIGN KEY (job) REFERENCES jobs ON DELETE CASCADE"
        for table in ("rankings", "ranked_ideas", "pair_verdicts", "ranking_calls")
    ),
    "ALTER TABLE ranking_calls ADD FOREIGN KEY (batch) REFERENCES batches ON DELETE CASCADE",
    """
    CREATE TRIGGER jobs_keep_ranks AFTER UPDATE OF state ON jobs FOR EACH ROW
    WHEN (NEW.kind IN ('ranking', 'comparison') AND NEW.state = 'done' AND OLD.state <> 'done')
    EXECUTE FUNCTION keep_ranks_of_job()
    """,
    """
    CREATE TRIGGER jobs_keep_calls AFTER INSERT ON jobs FOR EACH ROW
    WHEN (NEW.kind = 'ranking') EXECUTE FUNCTION keep_calls_of_job()
    """,
)
INDEXES = (
    "CREATE INDEX pair_verdicts_pair ON pair_verdicts (first, second)",
    "CREATE INDEX ranking_calls_job ON ranking_calls (job)",
)

DOWN = (
    "DROP TRIGGER jobs_keep_calls ON jobs",
    "DROP TRIGGER jobs_keep_ranks ON jobs",
    "DROP FUNCTION keep_calls_of_job",
    "DROP FUNCTION keep_calls",
    "DROP FUNCTION keep_ranks_of_job",
    "DROP FUNCTION keep_ranks",
    "DROP TABLE ranking_calls",
    "DROP TABLE pair_verdicts",
    "DROP TABLE ranked_ideas",
    "DROP TABLE rankings",
    "DROP INDEX evaluations_idea",
)


def upgrade() -> None:
    for statement in (*TABLES, *FUNCTIONS, COPY_RESULTS, *INDEXES, COPY_CALLS, *LOCKED):
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
