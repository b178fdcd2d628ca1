"""Shared code for the routes of every kind of job: submit, wait, find, list and cancel."""

import datetime as dt
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from fastapi import APIRouter, Depends, Header, Query, Request
from pydantic import BaseModel
from starlette.responses import Response

from assayer_client.resources import JobResource, Page
from orchestrator.access.audit_chain import ActBy
from orchestrator.api.event_streams import wait_for_verdict
from orchestrator.api.idempotency import (
    IdempotencyKey,
    build_idempotency_record,
    build_replayed_response,
    compute_fingerprint,
)
from orchestrator.api.openapi import ACCEPTED_RESPONSE
from orchestrator.api.url_queries import CancelQuery, PageQuery
from orchestrator.jobs.models import Job, JobId, JobKind
from orchestrator.jobs.requests import EvaluationRequest
from orchestrator.jobs.submissions import NewJob
from orchestrator.problems import build_missing_problem, require
from orchestrator.store.idempotency import RecordedResponse
from orchestrator.web.authentication import Reader, Submitter, require_scope
from orchestrator.web.content_negotiation import build_html_report_headers, parse_preferred_wait
from orchestrator.web.context import RouteContext
from orchestrator.web.pagination import build_page, decode_cursor
from orchestrator.web.path_parameters import PathId
from orchestrator.web.request_log import get_request_record
from orchestrator.web.services import Services, StreamLimitDependency

R = TypeVar("R", bound=JobResource)
FUTURE_CUTOFF_MESSAGE = "The cutoff is in the future. Give a past date or omit it."

PreferHeader = Annotated[
    list[str] | None,
    Header(
        alias="Prefer",
        description="`wait=N` (RFC 7240): wait up to N seconds for the result, and return it if it is "
        "available by then",
    ),
]

_JSON = "application/json"
_TRACEPARENT_PATTERN = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


def describe_submission_route(accepted_model: type[BaseModel], ended_model: type[BaseModel]) -> dict[str, Any]:
    """Return the arguments that declare a POST route for submitting a job. `accepted_model` models the usual response;
    `ended_model` models the response if the caller waits and the job ends in time."""
    ended_response = {200: {"model": ended_model, "description": "The job ended within the time given in `Prefer`"}}
    return {
        "path": "",
        "status_code": 202,
        "response_model": accepted_model,
        "responses": {**ended_response, **ACCEPTED_RESPONSE},
    }


@dataclass(frozen=True)
class JobCreation:
    """A request that starts a job, with everything needed to respond to it."""

    request: Request
    context: Submitter
    streams: StreamLimitDependency
    idempotency_key: IdempotencyKey = None

    @property
    def services(self) -> Services:
        return self.context.services

    def new_id(self, prefix: str) -> JobId:
        return JobId(self.services.new_id(prefix))

    async def accept(self, job: NewJob, path: str, receipt: BaseModel, by: ActBy | None = None) -> Response:
        """Store the job and respond with 202 and `receipt`, or replay the response to an identical earlier request.
        `path` ends in the job's id. `by` is the actor for the audit log; None records no entry."""
        method = job.request.method if isinstance(job.request, EvaluationRequest) else None
        self.services.options.check_limit(job.request.limits.max_usd, method)
        content = receipt.model_dump_json().encode()
        fingerprint = compute_fingerprint(self.request, await self.request.body())
        record = build_idempotency_record(self.idempotency_key, fingerprint, 202, content, path)
        job_with_trace = job.model_copy(update={"traceparent": read_traceparent(self.request)})
        earlier_response = await self.services.jobs.add(self.context.tenant, [job_with_trace], record=record, by=by)
        return respond_accepted(self.request, content, path, earlier_response)

    async def wait_until_ended(self, response: Response, seconds: float) -> Job | None:
        """Wait until the job named in `response`, which `accept` returned, has ended, and return it. Return None if it
        does not end within `seconds`."""
        with self.streams.hold(self.context.tenant, self.request.scope):
            return await wait_for_verdict(seconds, self.services, self.context.tenant, _get_job_id(response))


@dataclass(frozen=True)
class Submission(JobCreation):
    """A request that submits a job and can wait until it ends."""

    prefer: PreferHeader = None

    async def respond(
        self,
        job: NewJob,
        path: str,
        receipt: BaseModel,
        show: Callable[[Services, Job], Awaitable[BaseModel]],
        by: ActBy | None = None,
    ) -> Response:
        """Accept the job (202). If the caller prefers to wait and the job ends in time, respond with the ended job
        (200) instead."""
        response = await self.accept(job, path, receipt, by)
        seconds = parse_preferred_wait(self.prefer or (), self.services.settings.max_wait_seconds)
        if seconds is None or not self.streams.has_room(self.context.tenant):
            return response
        ended_job = await self.wait_until_ended(response, seconds)
        response.headers["Preference-Applied"] = f"wait={seconds:g}"
        if ended_job is None:
            return response
        headers = {
            name: value for name, value in response.headers.items() if name not in ("content-length", "content-type")
        }
        return Response((await show(self.services, ended_job)).model_dump_json(), 200, headers, _JSON)


def respond_accepted(
    request: Request, content: bytes, path: str, earlier_response: RecordedResponse | None
) -> Response:
    """Respond with 202, or replay the response to an identical earlier request, and note the job in the request log."""
    response = Response(content, 202, {"Location": path}, _JSON)
    if earlier_response is not None:
        response = build_replayed_response(earlier_response)
    get_request_record(request.scope).jobs.append(_get_job_id(response))
    return response


def get_plural(kind: JobKind) -> str:
    """Return the plural under which a kind of job appears in operation ids."""
    return kind if kind.endswith("s") else f"{kind}s"


def get_path_segment(kind: JobKind) -> str:
    """Return the plural under which a kind of job appears in paths."""
    return get_plural(kind).replace("_", "-")


JobCreationDependency = Annotated[JobCreation, Depends()]
SubmissionDependency = Annotated[Submission, Depends()]


def _get_job_id(response: Response) -> JobId:
    return JobId(response.headers["Location"].rpartition("/")[2])


@dataclass(frozen=True)
class JobRoutes(Generic[R]):
    """The routes that every kind of job has."""

    router: APIRouter
    kind: JobKind
    resource: type[R]
    summarise: Callable[[Job], R]
    """Converts a job to the resource shown in lists."""
    show: Callable[[Services, Job], Awaitable[R]]
    """Returns a job's resource with all details."""

    @property
    def plural(self) -> str:
        return get_plural(self.kind)

    def add_list_route(self, description: str) -> None:
        async def list_jobs(query: Annotated[PageQuery, Query()], context: Reader) -> Page[JobResource]:
            after, limit = decode_cursor(query.after), query.limit + 1
            jobs = await context.services.jobs.list(context.tenant, kind=self.kind, after=after, limit=limit)
            return build_page(jobs, query.limit, self.summarise)

        self.router.get(
            "",
            name=f"list_{self.plural}",
            response_model=Page.__class_getitem__(self.resource),
            description=description,
        )(list_jobs)

    def add_get_route(self, description: str) -> None:
        async def get_job(id: PathId, context: Reader) -> JobResource:
            return await self.show(context.services, await context.find_job(id, self.kind))

        self.router.get(
            "/{id}",
            name=f"get_{self.kind}",
            response_model=self.resource,
            description=description,
        )(get_job)

    def add_cancel_route(self) -> None:
        async def cancel_job(
            id: PathId, context: Submitter, query: Annotated[CancelQuery, Query()]
        ) -> Response | JobResource:
            """Cancel a job, so that nothing more is spent on it. A job that has already ended is unchanged."""
            job = await _cancel_job(context, id, self.kind, query)
            return Response(status_code=204) if job is None else await self.show(context.services, job)

        self.router.delete(
            "/{id}",
            name=f"cancel_{self.kind}",
            response_model=self.resource,
            responses={204: {"description": "With `erase=true`: the job is deleted"}},
        )(cancel_job)


async def _cancel_job(context: RouteContext, id: str, kind: JobKind, query: CancelQuery) -> Job | None:
    """Cancel a job and return it; None if it was erased as requested. Raises HttpProblem if the job does not exist."""
    job, services = (await context.find_job(id, kind)).id, context.services
    if query.erase:
        require_scope(context.caller, "manage")
        await services.erasures.erase(context.tenant, [job], context.by, ranking=job if kind == "ranking" else None)
        return None
    return require(await services.jobs.cancel(context.tenant, job, context.by), build_missing_problem(kind, id))


def get_job_fields(job: Job) -> dict[str, Any]:
    """Return the resource fields that all kinds of job share."""
    names = JobResource.model_fields.keys() - {"title"}
    return {"title": job.subject, **{name: getattr(job, name) for name in names}}


def describe_report_response(description: str, media_types: Sequence[str]) -> dict[str, Any]:
    """Return the OpenAPI documentation for a response in any of these media types."""
    schemas = {
        media_type: {"schema": {"type": "object" if media_type == _JSON else "string"}} for media_type in media_types
    }
    return {"description": description, "content": schemas}


def build_report_response(text: str, media_type: str, *stylesheets: str) -> Response:
    """Return a response with a report in the negotiated media type. `stylesheets` are used for HTML."""
    headers = {"Vary": "Accept", "Cache-Control": "private, no-cache"}
    if media_type == "text/html":
        headers |= build_html_report_headers(*stylesheets)
    return Response(text, 200, headers, media_type)


def is_in_future(cutoff: dt.date | None, services: Services) -> bool:
    """Return whether a cutoff is in the future. Publications up to that day are not known yet, so the evaluation would
    fail."""
    return cutoff is not None and cutoff > services.clock.now().date()


def read_traceparent(request: Request) -> str | None:
    """Return the trace that a request belongs to (W3C Trace Context). None if the header is missing or malformed, which
    is no reason to reject the request."""
    header = request.headers.get("traceparent", "")
    return header if _TRACEPARENT_PATTERN.fullmatch(header) else None
