"""SQL that the stores of jobs share: the columns of a job and its conversion, what it has cost, and the statement that
finishes jobs.

Finishing writes the event and the cost of a job with its end, charges its tenant with what is not charged yet, and
forgets its document, unless the job may be run again. Deliveries to webhooks are added by a trigger (v0005), for every
way out of the queue.
"""

from collections.abc import Mapping

import asyncpg
from pydantic import TypeAdapter

from orchestrator.jobs.models import Job, JobRequest, Priority, Problem
from orchestrator.store.json_columns import from_json_column, from_json_column_as

__all__ = [
    "CHARGE",
    "FORGET_DOCUMENTS",
    "JOB_COLUMNS",
    "PAID_SO_FAR",
    "PRIORITIES_BY_NUMBER",
    "PRIORITY_NUMBERS",
    "PROMPT_TOKENS_SO_FAR",
    "called",
    "finish_statement",
    "job_of_row",
    "referred_to",
    "request_of_row",
]

JOB_COLUMNS = """
    id, tenant, batch, "row", kind, priority, state, subject, flags, attempt, run_id, problem, cost_usd, created_at,
    started_at, finished_at, source_name
"""
"""The columns of a Job."""

PRIORITY_NUMBERS: Mapping[Priority, int] = {"interactive": 0, "batch": 1, "overnight": 2}
PRIORITIES_BY_NUMBER: Mapping[int, Priority] = {number: priority for priority, number in PRIORITY_NUMBERS.items()}
_JOB_REQUEST: TypeAdapter[JobRequest] = TypeAdapter(JobRequest)

_SENT_CALLS = """
    FROM runs JOIN ledger USING (run_id)
    WHERE runs.job = jobs.id AND ledger.at >= jobs.started_at AND NOT ledger.cached
"""
PAID_SO_FAR = f"""(
    SELECT coalesce(
        sum(ledger.cost_usd),
        CASE WHEN coalesce(sum(ledger.prompt_tokens + ledger.completion_tokens), 0) = 0 THEN 0 END
    ) {_SENT_CALLS}
)"""
"""What was paid in all runs of a job, according to the ledger; NULL where calls were answered and none has a known
price."""
PROMPT_TOKENS_SO_FAR = f"(SELECT coalesce(sum(ledger.prompt_tokens), 0)::bigint {_SENT_CALLS})"
"""What was sent in all runs of a job."""

CHARGE = """
    INSERT INTO spending AS so_far (tenant, month, slot, usd)
    SELECT tenant, date_trunc('month', statement_timestamp() AT TIME ZONE 'UTC')::date, abs(hashtext(id) % 16), sum(usd)
    FROM charges WHERE usd > 0 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (tenant, month, slot) DO UPDATE SET usd = so_far.usd + excluded.usd
"""
"""Adds charges (id, tenant, usd) of jobs to what their tenants have spent this month."""
_FINISH = """
    WITH ended AS (
        UPDATE jobs
        SET finished_at = statement_timestamp(), lease = NULL, leased_until = NULL, worker = NULL, reserved_usd = 0,
            document = CASE WHEN {kept} THEN document END,
            document_file = CASE WHEN {kept} THEN document_file END,
            last_event = last_event + 1, {changes}
        WHERE {condition}
        RETURNING id, tenant, state, problem, cost_usd, charged_usd, last_event
    ), problem_of_job AS (
        INSERT INTO events (job, number, kind, data)
        SELECT id, last_event, state, jsonb_build_object('problem', problem, 'cost_usd', cost_usd) FROM ended
    ), charges AS (
        SELECT id, tenant, cost_usd - charged_usd AS usd FROM ended
    ), charged AS ({charge})
    SELECT id FROM ended
"""
# Nothing of a call that is signed off is run again.
_KEPT = "({keeps}) AND NOT EXISTS (SELECT FROM sign_offs WHERE sign_offs.batch = jobs.batch)"

FORGET_DOCUMENTS = """
    WITH chosen AS MATERIALIZED (
        SELECT id AS chosen FROM jobs
        WHERE finished_at IS NOT NULL AND (document IS NOT NULL OR document_file IS NOT NULL) AND ({condition})
        ORDER BY id LIMIT {most} FOR UPDATE {locked}
    )
    UPDATE jobs SET document = NULL, document_file = NULL FROM chosen WHERE id = chosen RETURNING id
"""
"""Forgets documents of jobs that have ended. Files are deleted later: a trigger notes that nobody needs them."""


def called(column: str, name: str) -> str:
    """SQL: whether a source is what the sender calls `name`, a parameter: alone, as the id in a row (`row 7 (A-1)`), or
    as the name of a file in a folder or archive."""
    return f"""({column} = {name}::text OR right({column}, length({name}::text) + 3) = ' (' || {name}::text || ')'
        OR right({column}, length({name}::text) + 1) = '/' || {name}::text)"""


def referred_to(column: str, name: str, in_batch: str) -> str:
    """SQL: whether the sender's own reference in a source is `name`, a parameter, to the letter (`own_reference`);
    `in_batch`: whether the source may be a place in a table."""
    row = r"'^(.*:\d+|row \d+)$'"
    after = f"length({name}::text) + 3"
    return f"""({column} = {name}::text AND NOT ({in_batch} AND {column} ~ {row}) OR {in_batch}
        AND right({column}, {after}) = ' (' || {name}::text || ')' AND left({column}, -({after})) ~ {row})"""


def job_of_row(row: asyncpg.Record) -> Job:
    values = {name: row[name] for name in Job.model_fields if name != "source"} | {"source": row["source_name"] or ""}
    problem = values["problem"]
    problem_of_job = None if problem is None else from_json_column(Problem, problem, f"The problem of job {row['id']}")
    return Job(**values | {"priority": PRIORITIES_BY_NUMBER[row["priority"]], "problem": problem_of_job})


def request_of_row(row: asyncpg.Record) -> JobRequest:
    """Raises StorageError when this version of the program cannot read it."""
    return from_json_column_as(_JOB_REQUEST, row["request"], f"The request of job {row['id']}")


def finish_statement(changes: str, condition: str, keeps: str = "false") -> str:
    """The statement that finishes the jobs that meet a condition; it returns their ids. `keeps`: whether they keep
    their documents, to be run again."""
    return _FINISH.format(changes=changes, condition=condition, charge=CHARGE, kept=_KEPT.format(keeps=keeps))
