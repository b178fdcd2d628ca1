"""The language model requests behind a report, and their stored messages and answers."""

import datetime as dt
from collections.abc import Sequence

from assayer.models import LedgerRow
from assayer_client.llm_requests import LlmRequest, LlmRequestContents
from assayer_client.resources import Absent
from orchestrator.jobs.models import Job, JobEvent
from orchestrator.jobs.timeline import select_ledger_rows
from orchestrator.problems import HttpProblem
from orchestrator.store import PgLedger
from orchestrator.store.llm_answer_cache import PgLlmRequestContents


async def get_llm_request_contents(
    store: PgLlmRequestContents, job: Job, requests: Sequence[tuple[LlmRequest, str]], number: int
) -> LlmRequestContents:
    """Return one of the job's model requests with its messages and answer. Raises HttpProblem if there is none with
    this number."""
    if number > len(requests):
        raise HttpProblem(
            "not-found",
            f"The evaluation {job.id} has no model request {number:,}. Recorded model requests: {len(requests):,}.",
        )
    request, key = requests[number - 1]
    contents = await store.find(key)
    if contents is None:
        absent_contents = Absent(
            reason="The request failed without an answer."
            if request.outcome == "failed"
            else "The messages and the answer are no longer stored."
        )
        return LlmRequestContents(request=request, messages=absent_contents, answer=absent_contents)
    absent_messages = Absent(
        reason="The messages were not stored, because storing them is disabled or was disabled at the time."
    )
    return LlmRequestContents(request=request, messages=contents.messages or absent_messages, answer=contents.answer)


async def find_llm_requests(
    ledger: PgLedger, job: Job, events: Sequence[JobEvent], now: dt.datetime
) -> list[tuple[LlmRequest, str]]:
    """Return the job's model requests in the order in which they ended, each with the key of its stored answer.
    `events` holds all of the job's events."""
    rows = await ledger.list_job_rows(job.id)
    end = job.finished_at or now
    return [
        (_build_llm_request(number, row), row.key)
        for number, row in enumerate(select_ledger_rows(job, events, rows, end), start=1)
    ]


def _build_llm_request(number: int, ledger_row: LedgerRow) -> LlmRequest:
    record = ledger_row.record
    fields = record.model_dump(exclude={"latency_seconds", "redacted"})
    seconds = record.latency_seconds
    return LlmRequest(
        **fields,
        number=number,
        outcome=ledger_row.outcome,
        error=ledger_row.error,
        ended_at=ledger_row.at,
        seconds=seconds,
    )
