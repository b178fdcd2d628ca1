"""Jobs as the API shows them: found for their owner, listed by pages, without a result for a reason."""

import datetime as dt
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Never, TypeVar

from orchestrator.api.problems import Refusal
from orchestrator.api.resources import Evaluation, Page, links_of
from orchestrator.api.services import Services
from orchestrator.jobs.models import Job, JobId, JobKind, TenantId
from orchestrator.jobs.submissions import Batch, Cursor

__all__ = ["cursor_of", "evaluation_of", "found", "missing", "page_of", "place_of", "without_result"]


J = TypeVar("J", Job, Batch)
R = TypeVar("R")

_PLACE = re.compile(r"(?P<moment>[\d:T.-]{19,26}\+00:00) (?P<id>\w{1,64})", re.ASCII)


async def found(services: Services, tenant: TenantId, job: str, kind: JobKind) -> Job:
    """Raises Refusal (404) for an unknown id, another tenant's, and another kind's alike."""
    job_found = await services.jobs.get(tenant, JobId(job))
    if job_found is None or job_found.kind != kind:
        raise missing(kind, job)
    return job_found


def missing(what: str, name: str) -> Refusal:
    return Refusal("not-found", f"There is no {what} {name[:80]!r} among your own. Was it deleted?")


def without_result(job: Job) -> Refusal:
    """For whoever asks for the result of a job that has none."""
    if job.problem is not None:
        return Refusal.of(job.problem, job.state)
    match job.state:
        case "cancelled":
            return Refusal("cancelled", f"The {job.kind} was cancelled before it was done.", state=job.state)
        case "done":
            return Refusal("gone", f"The result of this {job.kind} has been deleted.", state=job.state)
        case _:
            return Refusal(
                "not-finished", f"The {job.kind} is {job.state}. Its events tell when it is done.", state=job.state
            )


def evaluation_of(job: Job) -> Evaluation:
    return Evaluation(
        id=job.id,
        state=job.state,
        title=job.subject,
        priority=job.priority,
        batch=job.batch,
        row=job.row,
        attempt=job.attempt,
        problem=job.problem,
        cost_usd=job.cost_usd,
        created_at=job.created_at,
        started_at=job.started_at,
        finished_at=job.finished_at,
        links=links_of(job.id),
    )


def page_of(listed: Sequence[J], limit: int, shown: Callable[[J], R]) -> Page[R]:
    """`listed` is one more than fit, where there is another page."""
    page = listed[:limit]
    return Page(items=tuple(map(shown, page)), next=cursor_of(Cursor.of(page[-1])) if len(listed) > limit else None)


def cursor_of(place: Cursor) -> str:
    """Opaque to clients: what is in it may change."""
    return urlsafe_b64encode(f"{place.created_at.isoformat()} {place.id}".encode()).decode().rstrip("=")


def place_of(cursor: str | None) -> Cursor | None:
    """Raises Refusal."""
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        match = _PLACE.fullmatch(urlsafe_b64decode(padded).decode("ascii"))
        return Cursor(dt.datetime.fromisoformat(match["moment"]), match["id"]) if match else _no_cursor()
    except ValueError:
        return _no_cursor()


def _no_cursor() -> Never:
    raise Refusal.parameter("after", "It is no cursor. Take `next` of the page before as it is.") from None
