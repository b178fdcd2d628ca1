"""What the routes of every kind of job share: submit a job, wait for it, find, list, cancel it."""

import datetime as dt
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

from fastapi import APIRouter, Depends, Header, Query, Request
from pydantic import BaseModel
from starlette.responses import Response

from assayer.errors import InputError
from assayer.ideas.parsing import idea_of_sections, parse_idea
from assayer.methods.innoeval.options import METHOD as INNOEVAL
from assayer.models import Idea, Section
from orchestrator.api.acting import actor_of
from orchestrator.api.authentication import Reader, Submitter, require_scope
from orchestrator.api.backpressure import StreamLimit
from orchestrator.api.common_schemas import CancelQuery, IdeaBody, JobResource, Page, PageQuery
from orchestrator.api.content_negotiation import html_report_headers, json_only, preferred_wait
from orchestrator.api.event_streams import wait_for_verdict
from orchestrator.api.idempotency import idempotency_record, replayed_response, request_fingerprint
from orchestrator.api.identifiers import PathId
from orchestrator.api.openapi import ACCEPTED_RESPONSE, problem_responses
from orchestrator.api.pagination import decode_cursor, page_of
from orchestrator.api.problems import HttpProblem, not_there
from orchestrator.api.request_log import request_record
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.jobs.acts import ActBy
from orchestrator.jobs.api_keys import AuthenticatedCaller
from orchestrator.jobs.models import BatchId, Job, JobId, JobKind, TenantId
from orchestrator.jobs.submissions import NewJob

__all__ = [
    "CUTOFF_AHEAD",
    "UNNAMED_SOURCE",
    "BoardProblem",
    "JobRoutes",
    "PreferHeader",
    "accept_job",
    "act_by",
    "answer_when_ended",
    "board_problem",
    "find_job",
    "idea_of",
    "job_fields",
    "job_in",
    "lies_ahead",
    "no_result_problem",
    "report_representations",
    "report_response",
    "submission_route",
    "traceparent_of",
]

R = TypeVar("R", bound=JobResource)
CUTOFF_AHEAD = "The cutoff lies in the future. Give a past date or leave it out."

PreferHeader = Annotated[
    list[str] | None,
    Header(alias="Prefer", description="`wait=N` (RFC 7240): answer with the result if it is there within N seconds"),
]

_JSON = "application/json"
UNNAMED_SOURCE = "the request"
"""Source of an idea to which the caller gives no name."""
_TRACEPARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


def submission_route(*statuses: int, accepted: type[BaseModel], ended: type[BaseModel] | None = None) -> dict[str, Any]:
    """Arguments of a POST route that accepts a job. `ended`: its answer where the caller may wait for the job."""
    waited = {200: {"model": ended, "description": "It ended within the time that `Prefer` names"}} if ended else {}
    return {
        "path": "",
        "status_code": 202,
        "response_model": accepted,
        "responses": {**waited, **ACCEPTED_RESPONSE, **problem_responses(400, 413, 415, 422, *statuses)},
        "dependencies": [Depends(json_only)],
    }


class BoardProblem(NamedTuple):
    field: Literal["board", "board_models"]
    detail: str


def board_problem(board: int | None, models: Sequence[str], method: str, services: Services) -> BoardProblem | None:
    """Why no board of this size can be drawn, or dealt among these models; None where one can, or none was asked
    for."""
    if method != INNOEVAL and (board is not None or models):
        detail = f"Only the method {INNOEVAL} has a board. Ask for that method, or leave the board out."
        return BoardProblem("board_models" if board is None else "board", detail)
    if board is not None and services.personas is not None and board > services.personas:
        counted = f"A board of {board} was asked for, and there are {services.personas} personas."
        return BoardProblem("board", f"{counted} Ask for that many at most.")
    for model in models:
        if model not in services.board_models:
            permitted = ", ".join(services.board_models)
            advice = (
                f"Permitted: {permitted}."
                if permitted
                else "None is permitted here; the operator permits models with ASSAYER_EVALUATION__BOARD_MODELS."
            )
            return BoardProblem("board_models", f"The model {model[:80]!r} is not permitted for boards. {advice}")
    return None


async def accept_job(
    request: Request,
    caller: AuthenticatedCaller,
    services: Services,
    job: NewJob,
    path: str,
    accepted: BaseModel,
    key: str | None,
    by: ActBy | None = None,
) -> Response:
    """202 with `accepted`, or what the same request was answered before. `path` ends in the job's id. `by`: whose act
    it is, where it stands in the audit log."""
    content = accepted.model_dump_json().encode()
    record = idempotency_record(key, request_fingerprint(request, await request.body()), 202, content, path)
    traced = job.model_copy(update={"traceparent": traceparent_of(request)})
    recorded = await services.jobs.add(caller.tenant, [traced], record=record, by=by)
    answer = Response(content, 202, {"Location": path}, _JSON) if recorded is None else replayed_response(recorded)
    request_record(request.scope).jobs.append(job_in(answer))
    return answer


async def answer_when_ended(
    answer: Response,
    request: Request,
    caller: AuthenticatedCaller,
    services: Services,
    streams: StreamLimit,
    prefer: Sequence[str] | None,
    show: Callable[[Services, Job], Awaitable[BaseModel]],
) -> Response:
    """The answer of `accept_job`, or the ended job (200) when it ends in the time that the caller prefers to wait."""
    seconds = preferred_wait(prefer or (), services.settings.max_wait_seconds)
    if seconds is None or not streams.has_room(caller.tenant):
        return answer
    with streams.hold(caller.tenant, request.scope):
        ended = await wait_for_verdict(seconds, services, caller.tenant, job_in(answer))
    answer.headers["Preference-Applied"] = f"wait={seconds:g}"
    if ended is None:
        return answer
    kept = {name: value for name, value in answer.headers.items() if name not in ("content-length", "content-type")}
    return Response((await show(services, ended)).model_dump_json(), 200, kept, _JSON)


def job_in(answer: Response) -> JobId:
    """Of an answer of `accept_job`."""
    return JobId(answer.headers["Location"].rpartition("/")[2])


@dataclass(frozen=True)
class JobRoutes(Generic[R]):
    """The routes that are the same for every kind of job."""

    router: APIRouter
    kind: JobKind
    resource: type[R]
    summarise: Callable[[Job], R]
    """For lists: what the job's row tells."""
    show: Callable[[Services, Job], Awaitable[R]]
    """With all that there is to it."""

    def add_list(self, description: str) -> None:
        async def listed(
            query: Annotated[PageQuery, Query()], caller: Reader, services: ServicesDependency
        ) -> Page[JobResource]:
            after, limit = decode_cursor(query.after), query.limit + 1
            jobs = await services.jobs.list(caller.tenant, kind=self.kind, after=after, limit=limit)
            return page_of(jobs, query.limit, self.summarise)

        self.router.get(
            "",
            response_model=Page.__class_getitem__(self.resource),
            responses=problem_responses(422),
            description=description,
        )(listed)

    def add_one(self, description: str, *statuses: int) -> None:
        async def one(id: PathId, caller: Reader, services: ServicesDependency) -> JobResource:
            return await self.show(services, await find_job(services, caller.tenant, id, self.kind))

        self.router.get(
            "/{id}",
            response_model=self.resource,
            responses=problem_responses(404, 410, *statuses),
            description=description,
        )(one)

    def add_cancel(self) -> None:
        async def cancel(
            id: PathId, caller: Submitter, services: ServicesDependency, query: Annotated[CancelQuery, Query()]
        ) -> Response | JobResource:
            """Cancels it: nothing more is spent on it. One that has ended stays as it is."""
            job = await _cancel_job(services, caller, id, self.kind, query)
            return Response(status_code=204) if job is None else await self.show(services, job)

        refusals = (
            problem_responses(404, 409, 410, 422)
            if self.kind in ("evaluation", "ranking")
            else problem_responses(404, 410, 422)
        )
        self.router.delete(
            "/{id}",
            response_model=self.resource,
            responses={204: {"description": "With `erase=true`: it is deleted"}, **refusals},
        )(cancel)


async def _cancel_job(
    services: Services, caller: AuthenticatedCaller, job: str, kind: JobKind, query: CancelQuery
) -> Job | None:
    """The job after it was cancelled; None when it was erased. Raises HttpProblem."""
    await find_job(services, caller.tenant, job, kind)
    if query.erase:
        require_scope(caller, "manage")
        ranking = JobId(job) if kind == "ranking" else None
        await services.erasures.erase(
            caller.tenant, actor_of(caller), [JobId(job)], services.clock.now(), ranking=ranking
        )
        return None
    ended = await services.jobs.cancel(caller.tenant, JobId(job), act_by(services, caller))
    if ended is None:
        raise not_there(kind, job)
    return ended


def act_by(services: Services, caller: AuthenticatedCaller, call: BatchId | None = None) -> ActBy:
    """An act that the caller does now. `call`: that a ranking orders."""
    return ActBy(actor_of(caller), services.clock.now(), call)


async def find_job(services: Services, tenant: TenantId, job: str, kind: JobKind) -> Job:
    """Raises HttpProblem: 404 for an unknown id, another tenant's, and another kind's alike, 410 for a deleted one."""
    found = await services.jobs.get(tenant, JobId(job))
    if found is None or found.kind != kind:
        raise not_there(kind, job)
    return found


def job_fields(job: Job) -> dict[str, Any]:
    """Of a resource, those that every kind of job has."""
    names = JobResource.model_fields.keys() - {"title"}
    return {"title": job.subject, **{name: getattr(job, name) for name in names}}


def no_result_problem(job: Job) -> HttpProblem:
    """For whoever asks for the result of a job that has none."""
    if job.problem is not None:
        return HttpProblem.of(job.problem, job.state)
    match job.state:
        case "cancelled":
            return HttpProblem("cancelled", f"The {job.kind} was cancelled before it was done.", state=job.state)
        case "done":
            return HttpProblem("gone", f"The result of this {job.kind} has been deleted.", state=job.state)
        case _:
            return HttpProblem(
                "not-finished", f"The {job.kind} is {job.state}. Its events tell when it is done.", state=job.state
            )


def report_representations(description: str, media_types: Sequence[str]) -> dict[str, Any]:
    """A response that comes in one of these media types."""
    schemas = {media: {"schema": {"type": "object" if media == _JSON else "string"}} for media in media_types}
    return {"description": description, "content": schemas}


def report_response(text: str, media_type: str, *stylesheets: str) -> Response:
    """A report in the negotiated media type; `stylesheets` are those of its HTML."""
    headers = {"Vary": "Accept", "Cache-Control": "private, no-cache"}
    if media_type == "text/html":
        headers |= html_report_headers(*stylesheets)
    return Response(text, 200, headers, media_type)


def lies_ahead(cutoff: dt.date | None, services: Services) -> bool:
    """Of such a day nobody knows what will have been published: every row would fail."""
    return cutoff is not None and cutoff > services.clock.now().date()


def idea_of(body: IdeaBody, source: str, pointer: str) -> Idea:
    """`pointer`: where in the request the idea is. Takes up to a second: never on the event loop. Raises
    HttpProblem."""
    name = source or UNNAMED_SOURCE
    try:
        if body.sections is None:
            return parse_idea(body.text or "", name, body.title)
        sections = [Section(title=section.title, text=section.text) for section in body.sections]
        return idea_of_sections(sections, name, body.title)
    except InputError as error:
        member = "text" if body.sections is None else "sections"
        raise HttpProblem.invalid(str(error), f"{pointer}/{member}") from None


def traceparent_of(request: Request) -> str | None:
    """The trace that a request is part of (W3C Trace Context). None where it names none, or not as the standard says:
    that is no reason to refuse anything."""
    header = request.headers.get("traceparent", "")
    return header if _TRACEPARENT.fullmatch(header) else None
