"""RFC 9457: every refusal and failure is a document that says what was wrong, where, and what to do."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.responses import Response

from orchestrator.api.common_schemas import ProblemDocument, ProblemError
from orchestrator.jobs.models import JobState, Problem, ThingKind

__all__ = [
    "MEDIA_TYPE",
    "PROBLEM_KINDS",
    "HttpProblem",
    "NoSuchThing",
    "ProblemKind",
    "not_found",
    "not_there",
    "problem_kind",
    "type_uri",
]

MEDIA_TYPE = "application/problem+json"
_BASE = "https://assayer.dev/problems/"


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
    """For a status that a library raised; `title` is for one that is not in the list."""
    return _BY_STATUS.get(status) or ProblemKind("http-error", status, title)


class HttpProblem(HTTPException):
    """Ends a request with a problem document. `members` are its further members."""

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
        waiting = {} if retry_after is None else {"Retry-After": str(retry_after)}
        super().__init__(self.kind.status, detail, {**(headers or {}), **waiting})
        self.members = members | {"errors": tuple(errors) or None, "retry_after": retry_after}

    @classmethod
    def of(cls, problem: Problem, state: JobState) -> "HttpProblem":
        """For whoever asks for the result of a job that ended without one."""
        return cls("", problem.detail, kind=ProblemKind(problem.type, 409, problem.title), state=state)

    @classmethod
    def invalid(cls, detail: str, pointer: str) -> "HttpProblem":
        """One thing is wrong with the body."""
        return cls("invalid-request", detail, errors=[ProblemError(detail=detail, pointer=pointer)])

    @classmethod
    def parameter(cls, name: str, detail: str) -> "HttpProblem":
        """A query, path or header parameter is wrong."""
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
    """The caller has no job or batch with this id: 404, which the application answers with 410 in its place where
    they have deleted it."""

    def __init__(self, thing: ThingKind, id: str, detail: str) -> None:
        super().__init__("not-found", detail)
        self.thing, self.id = thing, id


def not_there(thing: ThingKind, id: str, what: str = "") -> NoSuchThing:
    """`what`: how the caller knows it, where that is not its kind."""
    return NoSuchThing(thing, id, _unknown(what or thing, id))


def not_found(what: str, name: str) -> HttpProblem:
    """Of what nobody remembers once it is deleted."""
    return HttpProblem("not-found", _unknown(what, name))


def _unknown(what: str, name: str) -> str:
    return f"You have no {what} {name[:80]!r}. Was it deleted?"
