"""SQL shared by the job stores: a job's columns and their conversion, its cost, and the statement that finishes jobs.

Whenever a job ends, that statement also writes its event and cost, charges the tenant any cost not yet charged, queues
webhook messages, and deletes the document unless the job can be rerun."""

from collections.abc import Sequence

import asyncpg
from pydantic import TypeAdapter

from orchestrator.jobs.models import JobRequest, JobState, Priority
from orchestrator.jobs.state_machine import RETRIABLE_STATES, UNFINISHED_STATES
from orchestrator.store.json_columns import from_json_column

PRIORITIES: tuple[Priority, ...] = ("interactive", "batch", "overnight")
"""Priorities; the database stores each as its index."""
PRIORITY = f"(ARRAY{list(PRIORITIES)})[jobs.priority + 1]"
"""SQL expression for the name of a job's priority."""
JOB_COLUMNS = f"""
    jobs.id, tenant, batch, "row", kind, {PRIORITY} AS priority, state, subject, flags, attempt, run_id, problem,
    cost_usd, created_at, started_at, finished_at, source_name AS source
"""
"""Columns of a Job."""


def _state_in(states: Sequence[JobState]) -> str:
    quoted = ", ".join(f"'{state}'" for state in states)
    return f"jobs.state IN ({quoted})"


IS_UNFINISHED, IS_RETRIABLE = _state_in(UNFINISHED_STATES), _state_in(RETRIABLE_STATES)
"""SQL conditions for a job that has no verdict yet, and for a job that can be rerun."""

_JOB_REQUEST: TypeAdapter[JobRequest] = TypeAdapter(JobRequest)

# A run may be shared with an earlier job that had the same request. `written_at` and `started_at` come from the
# database server's clock, `at` from a worker's.
_SENT_CALLS = """
    FROM runs JOIN ledger USING (run_id)
    WHERE runs.job = jobs.id AND NOT ledger.cached
      AND ledger.written_at >= jobs.started_at AND ledger.at >= jobs.started_at - interval '1 day'
"""
PAID_SO_FAR = f"""(
    SELECT coalesce(
        sum(ledger.cost_usd),
        CASE WHEN coalesce(sum(ledger.prompt_tokens + ledger.completion_tokens), 0) = 0 THEN 0 END
    ) {_SENT_CALLS}
)"""
"""SQL expression for the cost of all of a job's runs according to the ledger; NULL if model requests were answered but
no price is known."""
PROMPT_TOKENS_SO_FAR = f"(SELECT coalesce(sum(ledger.prompt_tokens), 0)::bigint {_SENT_CALLS})"
"""SQL expression for the prompt tokens sent in all of a job's runs."""

SPENT_THIS_MONTH = """(
    SELECT coalesce(sum(usd), 0) FROM spending
    WHERE tenant = tenants.id AND month = date_trunc('month', statement_timestamp() AT TIME ZONE 'UTC')::date
)"""
"""SQL expression for what a tenant (a row in `tenants`) has spent on jobs this month."""
CHARGE = """
    INSERT INTO spending AS so_far (tenant, month, slot, usd)
    SELECT tenant, date_trunc('month', statement_timestamp() AT TIME ZONE 'UTC')::date, abs(hashtext(id) % 16), sum(usd)
    FROM charges WHERE usd > 0 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (tenant, month, slot) DO UPDATE SET usd = so_far.usd + excluded.usd
"""
"""SQL statement that adds the rows in `charges` (id, tenant, usd) to the tenants' spending for this month."""
_FINISH = """
    WITH ended AS (
        UPDATE jobs
        SET finished_at = statement_timestamp(), lease = NULL, leased_until = NULL, worker = NULL, reserved_usd = 0,
            document = CASE WHEN {kept} THEN document END,
            document_file = CASE WHEN {kept} THEN document_file END,
            last_event = last_event + 1, {changes}
        WHERE {condition}
        RETURNING id, tenant, batch, "row", kind, state, subject, source_name, flags, problem, cost_usd, charged_usd,
                  last_event, finished_at, document_file
    ), run AS ({run}), released AS ({release}), owed AS (
        INSERT INTO deliveries (webhook, payload)
        SELECT webhooks.id, jsonb_build_object(
            'type', kind || '.finished',
            'timestamp', to_char(finished_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            'data', jsonb_build_object(
                'id', ended.id, 'state', state, 'title', subject, 'batch', batch, 'row', "row", 'problem', problem,
                'cost_usd', cost_usd, 'flags', to_jsonb(flags),
                'source', coalesce(nullif(source_name, 'the request'), '')
            )
        )
        FROM ended JOIN webhooks USING (tenant) WHERE kind || '.finished' = ANY(events)
    ), problem_of_job AS (
        INSERT INTO events (job, number, kind, data)
        SELECT id, last_event, state, jsonb_build_object('problem', problem, 'cost_usd', cost_usd) FROM ended
    ), charges AS (
        SELECT id, tenant, cost_usd - charged_usd AS usd FROM ended
    ), charged AS ({charge})
    SELECT id FROM ended
"""
RELEASE_FILES = """
    UPDATE document_files SET released_at = statement_timestamp() FROM {jobs} AS freed
    WHERE document_files.job = freed.id AND freed.document_file IS NULL AND released_at IS NULL
"""
"""SQL statement that marks the files of finished jobs for deletion, unless the jobs keep their documents."""


def source_matches(column: str, name: str) -> str:
    """Return an SQL condition for whether a source matches `name`, an SQL parameter that holds the sender's name for
    it. It matches as the complete source, as the id in a row (`row 7 (A-1)`), or as a file name in a folder or
    archive."""
    return f"""({column} = {name}::text OR right({column}, length({name}::text) + 3) = ' (' || {name}::text || ')'
        OR right({column}, length({name}::text) + 1) = '/' || {name}::text)"""


def reference_matches(column: str, name: str, in_batch: str) -> str:
    """Return an SQL condition for whether the sender's own reference in a source (see `own_reference`) is exactly
    `name`, an SQL parameter. `in_batch` is the condition under which the source may be a position in a table."""
    row = r"'^(.*:\d+|row \d+)$'"
    after = f"length({name}::text) + 3"
    return f"""({column} = {name}::text AND NOT ({in_batch} AND {column} ~ {row}) OR {in_batch}
        AND right({column}, {after}) = ' (' || {name}::text || ')' AND left({column}, -({after})) ~ {row})"""


def source_ends(name: str) -> str:
    """Return an SQL condition for whether `source_name` ends with `name` (an SQL parameter), with or without
    parentheses around it. It uses the index `jobs_source`.

    Every source that `source_matches` or `reference_matches` accepts meets this condition."""
    reverse = 'reverse(source_name) COLLATE "C"'
    ends = (f"reverse({name}::text)", f"reverse(' (' || {name}::text || ')')")
    # chr(1114111) is the last code point.
    return f"({' OR '.join(f'{reverse} >= {end} AND {reverse} < {end} || chr(1114111)' for end in ends)})"


def parse_request(row: asyncpg.Record) -> JobRequest:
    """Return the request in a job's row. Raises StorageError if this version of assayer cannot read it."""
    return from_json_column(_JOB_REQUEST, row["request"], f"The request for job {row['id']}")


def build_finish_statement(changes: str, condition: str, keep_if: str = "false", run_insert: str = "SELECT") -> str:
    """Return a statement that finishes all jobs that meet `condition` and returns their ids. `changes` holds further
    column assignments.

    `keep_if` is the condition under which jobs keep their documents. `run_insert` is a statement that records the runs
    of the jobs in `ended`."""
    return _FINISH.format(
        changes=changes,
        condition=condition,
        charge=CHARGE,
        kept=keep_if,
        run=run_insert,
        release=RELEASE_FILES.format(jobs="ended"),
    )


CALL_TITLE = """CASE WHEN batches.id IS NULL THEN '' WHEN batches.name <> '' THEN batches.name ELSE concat(
    'Unnamed call of ', to_char(batches.created_at AT TIME ZONE 'UTC', 'FMDD FMMonth YYYY'), ', ', batches.rows,
    CASE batches.rows WHEN 1 THEN ' proposal' ELSE ' proposals' END
) END"""
"""SQL expression for a call's title: its name, or else the same text as `format_call_title`; empty without a call."""
