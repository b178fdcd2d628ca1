"""Problem documents (RFC 9457) for every refusal and failure: what was wrong, where, and what to do."""

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeVar

from starlette.exceptions import HTTPException
from starlette.responses import Response

from assayer_client.batches import RowError
from assayer_client.resources import Resource
from orchestrator.jobs.models import JobState, Problem, ThingKind

T = TypeVar("T")

MEDIA_TYPE = "application/problem+json"
_BASE = "https://assayer.dev/problems/"
_RETRY_SECONDS = {429: 5, 503: 5}
"""Values of `Retry-After` by status, if a problem states no other."""
_LONGEST_NAME = 60
"""Maximum number of characters of an unknown name that are compared with known names."""


class ProblemError(Resource):
    """A single error in a request."""

    detail: str
    pointer: str | None = None
    """Location in the body (JSON Pointer, RFC 6901); the empty pointer is the whole body."""
    parameter: str | None = None
    """Name of the invalid query, path or header parameter, if the error is not in the body."""


class Check(Resource):
    """State of a dependency of the service."""

    name: str
    ok: bool
    detail: str


class ProblemDocument(Resource):
    """Problem document (RFC 9457): what was wrong, where, and what to do. Readers ignore unknown members."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    """Requested path."""
    request_id: str | None = None
    """Value of `X-Request-Id`, to quote in support requests."""
    errors: tuple[ProblemError, ...] | None = None
    retry_after: int | None = None
    """Seconds to wait before a retry."""
    scope: str | None = None
    """Scope that the API key lacks."""
    reason: str | None = None
    """Reason for a 401: missing, malformed, unknown, expired or revoked. Reason for a 410: erased, or retention."""
    deleted_at: dt.datetime | None = None
    proof: int | None = None
    """Number of the erasure proof, for callers who are allowed to read it: `GET /v1/erasures/{number}`."""
    state: JobState | None = None
    """State of a job that has no result."""
    missing: tuple[int, ...] | None = None
    """Numbers of the members that have not arrived, for an incomplete group."""
    checks: tuple[Check, ...] | None = None
    rows: tuple[RowError, ...] | None = None
    """Errors by row, for a batch in which no row holds a usable idea."""


class ProblemKind(NamedTuple):
    """A type of problem: the last part of its URI, its status and its title."""

    slug: str
    status: int
    title: str


PROBLEM_KINDS: Mapping[str, ProblemKind] = {
    kind.slug: kind
    for kind in (
        ProblemKind("malformed-body", 400, "The body cannot be read"),
        ProblemKind("unauthenticated", 401, "A valid API key is needed"),
        ProblemKind("forbidden", 403, "The API key does not allow this"),
        ProblemKind("not-found", 404, "Not found"),
        ProblemKind("method-not-allowed", 405, "The resource does not support this method"),
        ProblemKind("not-acceptable", 406, "No acceptable representation"),
        ProblemKind("body-too-slow", 408, "The body came too slowly"),
        ProblemKind("conflict", 409, "The resource's state does not allow this"),
        ProblemKind("not-finished", 409, "There is no result yet"),
        ProblemKind("cancelled", 409, "There is no result: it was cancelled"),
        ProblemKind("group-incomplete", 409, "Members of the group are missing"),
        ProblemKind("gone", 410, "It has been deleted"),
        ProblemKind("content-too-large", 413, "The body is too large"),
        ProblemKind("unsupported-media-type", 415, "The body's media type is not supported"),
        ProblemKind("invalid-request", 422, "The request cannot be used"),
        ProblemKind("idempotency-key-reused", 422, "The idempotency key belongs to another request"),
        ProblemKind("rate-limited", 429, "Too many requests"),
        ProblemKind("too-many-streams", 429, "Too many streams are open"),
        ProblemKind("queue-full", 429, "The queue is full"),
        ProblemKind("internal-error", 500, "The service failed"),
        ProblemKind("not-configured", 501, "The service is not set up for this"),
        ProblemKind("unavailable", 503, "The service is out of reach"),
        ProblemKind("busy", 503, "The service is busy"),
        ProblemKind("not-ready", 503, "The service is not ready"),
    )
}

_BY_STATUS = {kind.status: kind for kind in reversed(list(PROBLEM_KINDS.values()))}


def type_uri(slug: str) -> str:
    return _BASE + slug


def problem_kind(status: int, title: str) -> ProblemKind:
    """Return the problem kind for a status that a library raised; `title` is used for a status that is not in the
    list."""
    return _BY_STATUS.get(status) or ProblemKind("http-error", status, title)


class HttpProblem(HTTPException):
    """Exception that ends a request with a problem document; `members` are additional members of the document."""

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
        waiting = {} if retry_after is None else {"Retry-After": str(retry_after)}
        super().__init__(self.kind.status, detail, {**(headers or {}), **waiting})
        self.members = members | {"errors": tuple(errors) or None, "retry_after": retry_after}

    @classmethod
    def of(cls, problem: Problem, state: JobState) -> "HttpProblem":
        """Return the problem for a request for the result of a job that ended without one."""
        return cls("", problem.detail, kind=ProblemKind(problem.type, 409, problem.title), state=state)

    @classmethod
    def invalid(cls, detail: str, pointer: str) -> "HttpProblem":
        """Return the problem for a single error in the body."""
        return cls("invalid-request", detail, errors=[ProblemError(detail=detail, pointer=pointer)])

    @classmethod
    def parameter(cls, name: str, detail: str) -> "HttpProblem":
        """Return the problem for an invalid query, path or header parameter."""
        return cls("invalid-request", detail, errors=[ProblemError(detail=detail, parameter=name)])

    def response(self, instance: str, request_id: str | None) -> Response:
        document = ProblemDocument(
            type=type_uri(self.kind.slug),
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


class NoSuchThing(HttpProblem):
    """Raised when the caller has no job or batch with this id: 404, replaced by 410 if the caller deleted it."""

    def __init__(self, thing: ThingKind, id: str, detail: str) -> None:
        super().__init__("not-found", detail)
        self.thing, self.id = thing, id


def not_there(thing: ThingKind, id: str, what: str = "") -> NoSuchThing:
    """Return the 404 for a missing job or batch; `what` is the caller's word for it, if different from its kind."""
    return NoSuchThing(thing, id, _unknown(what or thing, id))


def not_found(what: str, name: str) -> HttpProblem:
    """Return a 404 for a resource that leaves no tombstone."""
    return HttpProblem("not-found", _unknown(what, name))


def _unknown(what: str, name: str) -> str:
    return f"You have no {what} {name[:80]!r}. Was it deleted?"


def required(value: T | None, missing: HttpProblem) -> T:
    """Return the value. Raises the problem if there is none."""
    if value is None:
        raise missing
    return value


def suggestion(name: str, known: Sequence[str]) -> str:
    """Return a sentence with the closest known name, else all known names; it starts with a space."""
    close = get_close_matches(name[:_LONGEST_NAME], known, n=1)
    if close:
        return f" Did you mean {json.dumps(close[0])}?"
    return f" Known: {', '.join(sorted(known))}." if known else ""
