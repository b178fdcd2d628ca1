"""`/v1/evaluations/{id}/calls`: the calls of language models that a report was made with, down to the messages."""

import datetime as dt
from typing import Annotated, Literal

from fastapi import APIRouter, Path

from assayer.models import Absent, Fault, LedgerRow, Message
from orchestrator.api.authentication import Reader
from orchestrator.api.common_schemas import Page, Resource
from orchestrator.api.identifiers import PathId
from orchestrator.api.job_routes import find_job
from orchestrator.api.openapi import problem_responses
from orchestrator.api.problems import HttpProblem
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.jobs.models import Job, JobEvent
from orchestrator.jobs.timeline import ledger_rows_of_job

__all__ = ["CallNumber", "ModelCall", "ModelCallContents", "call_contents", "calls_of", "events_of", "router"]

router = APIRouter(prefix="/v1/evaluations/{id}/calls", tags=["evaluations"])

CallNumber = Annotated[int, Path(ge=1, le=1_000_000)]
_PAGE = 200


class ModelCall(Resource):
    number: int
    """From 1, in the order in which they ended."""
    task: str
    version: int
    """Of the task's prompt."""
    model: str
    outcome: Literal["answered", "failed"]
    error: str
    cached: bool
    """Answered before; nothing was sent, and nothing paid."""
    ended_at: dt.datetime
    seconds: float
    """From the first send to the valid answer; of a cached one, of the call that paid."""
    attempts: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    """Null where the price is not known. A cached one cost this when it was paid."""
    faults: tuple[Fault, ...]


class ModelCallContents(Resource):
    """One call with what was said."""

    call: ModelCall
    messages: tuple[Message, ...] | Absent
    """What was sent first. Where an answer could not be used, `faults` of the call says what was asked again."""
    answer: str | Absent
    """JSON."""


@router.get("", responses=problem_responses(404, 410))
async def model_calls(id: PathId, caller: Reader, services: ServicesDependency) -> Page[ModelCall]:
    """All of them, in the order in which they ended."""
    job = await find_job(services, caller.tenant, id, "evaluation")
    return Page(items=tuple(call for call, _ in await calls_of(services, job)), next=None)


@router.get("/{number}", responses=problem_responses(404, 410, 422))
async def model_call(id: PathId, number: CallNumber, caller: Reader, services: ServicesDependency) -> ModelCallContents:
    """With the messages that were sent and the answer that was taken."""
    job = await find_job(services, caller.tenant, id, "evaluation")
    return await call_contents(services, job, number)


async def call_contents(services: Services, job: Job, number: int) -> ModelCallContents:
    """Raises HttpProblem (404)."""
    calls = await calls_of(services, job)
    if number > len(calls):
        raise HttpProblem("not-found", f"The evaluation {job.id} has {len(calls):,} calls, and no number {number:,}.")
    call, key = calls[number - 1]
    found = await services.call_contents.find(key)
    if found is None:
        lost = Absent(reason="There was no answer." if call.outcome == "failed" else "It is kept no longer.")
        return ModelCallContents(call=call, messages=lost, answer=lost)
    unkept = Absent(reason="They were not kept: the answer is from before that was done, or it is switched off.")
    return ModelCallContents(call=call, messages=found.messages or unkept, answer=found.answer)


async def calls_of(services: Services, job: Job) -> list[tuple[ModelCall, str]]:
    """Each with the key of its answer."""
    events = await events_of(services, job)
    rows = await services.ledger.rows_of_job(job.id)
    end = job.finished_at or services.clock.now()
    return [
        (_call(number, row), row.key) for number, row in enumerate(ledger_rows_of_job(job, events, rows, end), start=1)
    ]


async def events_of(services: Services, job: Job) -> list[JobEvent]:
    events: list[JobEvent] = []
    while page := await services.events.after(job.id, events[-1].number if events else 0, _PAGE):
        events += page
    return events


def _call(number: int, row: LedgerRow) -> ModelCall:
    record = row.record
    return ModelCall(
        number=number,
        task=record.task,
        version=record.version,
        model=record.model,
        outcome=row.outcome,
        error=row.error,
        cached=record.cached,
        ended_at=row.at,
        seconds=record.latency_seconds,
        attempts=record.attempts,
        prompt_tokens=record.prompt_tokens,
        completion_tokens=record.completion_tokens,
        cost_usd=record.cost_usd,
        faults=record.faults,
    )
