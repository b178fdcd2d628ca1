"""The language model requests behind a report, and their stored messages and answers."""

import datetime as dt
from collections.abc import Sequence

from assayer.models import LedgerRow
from assayer_client.llm_requests import LlmRequest, LlmRequestContents
from assayer_client.resources import Absent
from orchestrator.jobs.models import Job, JobEvent
from orchestrator.jobs.timeline import ledger_rows_of_job
from orchestrator.problems import HttpProblem
from orchestrator.store import PgLedger
from orchestrator.store.llm_answer_cache import PgCallContents


async def get_llm_request_contents(
    stored: PgCallContents, job: Job, calls: Sequence[tuple[LlmRequest, str]], number: int
) -> LlmRequestContents:
    """Return one of the job's model requests with its messages and answer. Raises HttpProblem if there is none with
    this number."""
    if number > len(calls):
        raise HttpProblem(
            "not-found",
            f"The evaluation {job.id} has no model request {number:,}. Recorded model requests: {len(calls):,}.",
        )
    call, key = calls[number - 1]
    contents = await stored.find(key)
    if contents is None:
        missing = Absent(
            reason="The request failed without an answer."
            if call.outcome == "failed"
            else "The messages and the answer are no longer stored."
        )
        return LlmRequestContents(request=call, messages=missing, answer=missing)
    unstored = Absent(
        reason="The messages were not stored, because storing them is disabled or was disabled at the time."
    )
    return LlmRequestContents(request=call, messages=contents.messages or unstored, answer=contents.answer)


async def find_llm_requests(
    ledger: PgLedger, job: Job, events: Sequence[JobEvent], now: dt.datetime
) -> list[tuple[LlmRequest, str]]:
    """Return the job's model requests in the order in which they ended, each with the key of its stored answer.
    `events` holds all of the job's events."""
    rows = await ledger.rows_of_job(job.id)
    end = job.finished_at or now
    return [
        (_build_llm_request(number, row), row.key)
        for number, row in enumerate(ledger_rows_of_job(job, events, rows, end), start=1)
    ]


def _build_llm_request(number: int, row: LedgerRow) -> LlmRequest:
    record = row.record
    fields = record.model_dump(exclude={"latency_seconds", "redacted"})
    seconds = record.latency_seconds
    return LlmRequest(**fields, number=number, outcome=row.outcome, error=row.error, ended_at=row.at, seconds=seconds)
