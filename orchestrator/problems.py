"""Problem documents (RFC 9457), with which the service responds to every refusal and failure. They state what was
wrong, where, and what to do."""

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeVar

from starlette.exceptions import HTTPException
from starlette.responses import Response

from assayer_client.batches import RowError
from assayer_client.resources import Resource
from orchestrator.jobs.models import JobState, Problem, ResourceKind

T = TypeVar("T")

MEDIA_TYPE = "application/problem+json"
_TYPE_URI_PREFIX = "https://assayer.dev/problems/"
_RETRY_SECONDS = {429: 5, 503: 5}
"""Default `Retry-After` in seconds, by status."""
_MAX_NAME_CHARS = 60
"""Maximum number of characters in an unknown name that are compared with known names."""


class ProblemError(Resource):
    """An error in one part of a request."""

    detail: str
    pointer: str | None = None
    """Location of the error in the body as a JSON Pointer (RFC 6901); empty for the body as a whole."""
    parameter: str | None = None
    """Name of the invalid query, path or header parameter."""


class Check(Resource):
    """The state of one of the service's dependencies."""

    name: str
    ok: bool
    detail: str


class ProblemDocument(Resource):
    """A problem document (RFC 9457), which states what was wrong, where, and what to do. Clients should ignore unknown
    members."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    """Path of the request."""
    request_id: str | None = None
    """The request's `X-Request-Id`, to be quoted when asking for support."""
    errors: tuple[ProblemError, ...] | None = None
    retry_after: int | None = None
    """Seconds to wait before retrying the request."""
    scope: str | None = None
    """The scope that the API key lacks."""
    reason: str | None = None
    """Reason for a 401 (one of missing, malformed, unknown, expired, revoked) or a 410 (erased or retention)."""
    deleted_at: dt.datetime | None = None
    proof: int | None = None
    """Number of the erasure's proof, for callers who may read it: `GET /v1/erasures/{number}`."""
    state: JobState | None = None
    """State of the job, if it has no result."""
    missing: tuple[int, ...] | None = None
    """Numbers of the members that have not been received, for an incomplete group."""
    checks: tuple[Check, ...] | None = None
    rows: tuple[RowError, ...] | None = None
    """Error in each row, for a batch without any usable idea."""


class ProblemKind(NamedTuple):
    """A type of problem: the last segment of its URI, its HTTP status and its title."""

    slug: str
    status: int
    title: str


PROBLEM_KINDS: Mapping[str, ProblemKind] = {
    kind.slug: kind
    for kind in (
        ProblemKind("malformed-body", 400, "The body cannot be read"),
        ProblemKind("unauthenticated", 401, "A valid API key is required"),
        ProblemKind("forbidden", 403, "The API key does not allow this"),
        ProblemKind("not-found", 404, "Not found"),
        ProblemKind("method-not-allowed", 405, "The resource does not support this method"),
        ProblemKind("not-acceptable", 406, "No acceptable representation"),
        ProblemKind("body-too-slow", 408, "The body arrived too slowly"),
        ProblemKind("conflict", 409, "The resource's state does not allow this"),
        ProblemKind("not-finished", 409, "There is no result yet"),
        ProblemKind("cancelled", 409, "There is no result because it was cancelled"),
        ProblemKind("group-incomplete", 409, "Members of the group are missing"),
        ProblemKind("gone", 410, "The resource was deleted"),
        ProblemKind("content-too-large", 413, "The body is too large"),
        ProblemKind("unsupported-media-type", 415, "The body's media type is not supported"),
        ProblemKind("invalid-request", 422, "The request cannot be used"),
        ProblemKind("idempotency-key-reused", 422, "The idempotency key was used for a different request"),
        ProblemKind("rate-limited", 429, "Too many requests"),
        ProblemKind("too-many-streams", 429, "Too many streams are open"),
        ProblemKind("queue-full", 429, "The queue is full"),
        ProblemKind("internal-error", 500, "The service failed"),
        ProblemKind("not-configured", 501, "The service is not configured for this"),
        ProblemKind("unavailable", 503, "The service is unavailable"),
        ProblemKind("busy", 503, "The service is busy"),
        ProblemKind("not-ready", 503, "The service is not ready"),
    )
}

_KIND_BY_STATUS = {kind.status: kind for kind in reversed(list(PROBLEM_KINDS.values()))}


def find_problem_kind(status: int, title: str) -> ProblemKind:
    """Return the kind of problem for a status raised by a library. `title` is used if no kind has this status."""
    return _KIND_BY_STATUS.get(status) or ProblemKind("http-error", status, title)


class HttpProblem(HTTPException):
    """An exception that ends a request with a problem document. `members` are further members of the document."""

    def __init__(
        self,
        slug: str,
        detail: str,
        *,
        errors: Sequence[ProblemError] = (),
        retry_after: int | None = None,
        headers: Mapping[str, str] | None = None,
        kind: ProblemKind | None = None,
        **members: Any,
    ) -> None:
        self.kind = kind or PROBLEM_KINDS[slug]
        retry_after = retry_after or _RETRY_SECONDS.get(self.kind.status)
        retry_headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        super().__init__(self.kind.status, detail, {**(headers or {}), **retry_headers})
        self.members = members | {"errors": tuple(errors) or None, "retry_after": retry_after}

    def __str__(self) -> str:
        return self.detail

    @classmethod
    def from_job_problem(cls, problem: Problem, state: JobState) -> "HttpProblem":
        """Return the 409 for a request for the result of a job that has none."""
        return cls("", problem.detail, kind=ProblemKind(problem.type, 409, problem.title), state=state)

    @classmethod
    def invalid(cls, detail: str, pointer: str) -> "HttpProblem":
        """Return the problem for a request body with one error, located at `pointer`."""
        return cls("invalid-request", detail, errors=[ProblemError(detail=detail, pointer=pointer)])

    @classmethod
    def invalid_parameter(cls, name: str, detail: str) -> "HttpProblem":
        """Return the problem for an invalid query, path or header parameter."""
        return cls("invalid-request", detail, errors=[ProblemError(detail=detail, parameter=name)])

    def to_response(self, instance: str, request_id: str | None) -> Response:
        document = ProblemDocument(
            type=_TYPE_URI_PREFIX + self.kind.slug,
            title=self.kind.title,
            status=self.kind.status,
            detail=self.detail,
            instance=instance,
            request_id=request_id,
            **self.members,
        )
        body = document.model_dump_json(exclude_none=True)
        headers = {"Cache-Control": "no-store", **(self.headers or {})}
        return Response(body, self.kind.status, headers, MEDIA_TYPE)


class NotFoundProblem(HttpProblem):
    """Raised if the caller's tenant has no job or batch with this id. The response is a 404, or a 410 if it was
    deleted."""

    def __init__(self, resource_kind: ResourceKind, id: str, detail: str) -> None:
        super().__init__("not-found", detail)
        self.resource_kind, self.id = resource_kind, id


def build_missing_problem(kind: ResourceKind, id: str, detail: str = "") -> NotFoundProblem:
    """Return the problem for a missing job or batch, or for something missing that belongs to it: 410 if the job or
    batch was deleted, otherwise 404. `detail` is a sentence; by default it says that the job or batch is missing."""
    return NotFoundProblem(kind, id, detail or _describe_missing(kind, id))


def build_not_found_problem(kind: str, name: str) -> HttpProblem:
    """Return the 404 for a missing resource of a kind that has no tombstones."""
    return HttpProblem("not-found", _describe_missing(kind, name))


def _describe_missing(kind: str, name: str) -> str:
    return f"There is no {kind.replace('_', ' ')} {name[:80]!r}. It may have been deleted."


def require(value: T | None, problem: HttpProblem) -> T:
    """Return the value. Raises `problem` if it is None."""
    if value is None:
        raise problem
    return value


def suggest_known_name(name: str, known_names: Sequence[str]) -> str:
    """Return a sentence, with a leading space, that suggests the closest known name or else lists all known names.
    Empty if there are none."""
    close_matches = get_close_matches(name[:_MAX_NAME_CHARS], known_names, n=1)
    if close_matches:
        return f" Did you mean {json.dumps(close_matches[0])}?"
    return f" Known: {', '.join(sorted(known_names))}." if known_names else ""
