"""From a job that is asked for to the answer: stored once, and waited for where the caller would rather."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated

from fastapi import Header, Request
from pydantic import BaseModel
from starlette.responses import Response

from orchestrator.api.idempotency import fingerprint, once, replayed
from orchestrator.api.jobs import found, missing
from orchestrator.api.limits import Streams
from orchestrator.api.observing import visit
from orchestrator.api.representations import seconds_to_wait
from orchestrator.api.resources import CancelQuery
from orchestrator.api.security import require
from orchestrator.api.services import Services
from orchestrator.api.traced import traceparent_of
from orchestrator.api.waiting import verdict_within
from orchestrator.jobs.idempotency import Replay
from orchestrator.jobs.models import Job, JobId, JobKind
from orchestrator.jobs.submissions import NewJob
from orchestrator.jobs.tenancy import Caller

__all__ = ["Preference", "accepted", "awaited", "cancelled"]

Preference = Annotated[
    list[str] | None,
    Header(alias="Prefer", description="`wait=N` (RFC 7240): answer with the thing itself if it ends within N seconds"),
]
_JSON = "application/json"


async def accepted(
    request: Request, caller: Caller, services: Services, new: NewJob, path: str, told: bytes, key: str | None
) -> Response:
    """202 with what is `told`, or what the same request was answered before. `path` ends in the job's id."""
    keep = once(key, fingerprint(request, await request.body()), 202, told, path)
    traced = new.model_copy(update={"traceparent": traceparent_of(request)})
    replay: Replay | None = await services.jobs.add(caller.tenant, [traced], once=keep)
    answer = Response(told, 202, {"Location": path}, _JSON) if replay is None else replayed(replay)
    visit(request.scope).jobs.append(answer.headers["Location"].rpartition("/")[2])
    return answer


async def awaited(
    answer: Response,
    request: Request,
    caller: Caller,
    services: Services,
    streams: Streams,
    prefer: Sequence[str] | None,
    shown: Callable[[Job], Awaitable[BaseModel]],
) -> Response:
    """The answer of `accepted`, or the thing itself (200) when it ends in the time that the caller prefers to wait."""
    seconds = seconds_to_wait(prefer or (), services.settings.max_wait_seconds)
    if seconds is None or not streams.free(caller.key):
        return answer
    job = JobId(answer.headers["Location"].rpartition("/")[2])
    with streams.held(caller.key, request.scope):
        ended = await verdict_within(seconds, services, caller.tenant, job)
    answer.headers["Preference-Applied"] = f"wait={seconds:g}"
    if ended is None:
        return answer
    kept = {name: value for name, value in answer.headers.items() if name not in ("content-length", "content-type")}
    return Response((await shown(ended)).model_dump_json(), 200, kept, _JSON)


async def cancelled(services: Services, caller: Caller, job: str, kind: JobKind, query: CancelQuery) -> Job | None:
    """The job as it stands then; None when it was erased. Raises Refusal."""
    await found(services, caller.tenant, job, kind)
    if query.erase:
        require(caller, "manage")
        await services.jobs.delete(caller.tenant, JobId(job))
        return None
    ended = await services.jobs.cancel(caller.tenant, JobId(job))
    if ended is None:
        raise missing(kind, job)
    return ended
