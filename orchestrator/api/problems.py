"""RFC 9457: every refusal and failure is a document that says what was wrong, where, and what to do."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.responses import Response

from orchestrator.api.resources import ProblemDocument, ProblemError
from orchestrator.jobs.models import JobState, Problem

__all__ = ["KINDS", "MEDIA_TYPE", "Kind", "Refusal", "kind_of", "type_uri"]

MEDIA_TYPE = "application/problem+json"
_BASE = "https://assayer.dev/problems/"


class Kind(NamedTuple):
    """A type of problem: the last part of its URI, its status and its title."""

    slug: str
    status: int
    title: str


KINDS: Mapping[str, Kind] = {
    kind.slug: kind
    for kind in (
        Kind("malformed-body", 400, "The body cannot be read"),
        Kind("unauthenticated", 401, "A valid API key is needed"),
        Kind("forbidden", 403, "The API key does not allow this"),
        Kind("not-found", 404, "There is no such thing"),
        Kind("method-not-allowed", 405, "The resource does not answer to this method"),
        Kind("not-acceptable", 406, "There is no such representation"),
        Kind("conflict", 409, "The resource is not in a state for this"),
        Kind("not-finished", 409, "There is no result yet"),
        Kind("cancelled", 409, "There is no result: it was cancelled"),
        Kind("gone", 410, "The result has been deleted"),
        Kind("content-too-large", 413, "The body is too large"),
        Kind("unsupported-media-type", 415, "The body is of a kind that cannot be read here"),
        Kind("invalid-request", 422, "The request cannot be used"),
        Kind("idempotency-key-reused", 422, "The idempotency key belongs to another request"),
        Kind("rate-limited", 429, "Too many requests"),
        Kind("too-many-streams", 429, "Too many streams are open"),
        Kind("queue-full", 429, "The queue is full"),
        Kind("internal-error", 500, "The service failed"),
        Kind("not-configured", 501, "The service is not set up for this"),
        Kind("unavailable", 503, "The service is out of reach"),
        Kind("busy", 503, "The service is busy"),
        Kind("not-ready", 503, "The service is not ready"),
    )
}

_BY_STATUS = {kind.status: kind for kind in reversed(list(KINDS.values()))}


def type_uri(slug: str) -> str:
    return _BASE + slug


def kind_of(status: int, title: str) -> Kind:
    """For a status that no part of ours has raised; `title` names one that is in no list."""
    return _BY_STATUS.get(status) or Kind("http-error", status, title)


class Refusal(HTTPException):
    """Ends a request with a problem document. `members` are further members of ProblemDocument."""

    def __init__(
        self,
        slug: str,
        detail: str,
        *,
        errors: Sequence[ProblemError] = (),
        retry_after: int | None = None,
        headers: Mapping[str, str] | None = None,
        kind: Kind | None = None,
        **members: Any,
    ) -> None:
        self.kind = kind or KINDS[slug]
        waiting = {} if retry_after is None else {"Retry-After": str(retry_after)}
        super().__init__(self.kind.status, detail, {**(headers or {}), **waiting})
        self.members = members | {"errors": tuple(errors) or None, "retry_after": retry_after}

    @classmethod
    def of(cls, problem: Problem, state: JobState) -> "Refusal":
        """For whoever asks for the result of a job that ended without one."""
        return cls("", problem.detail, kind=Kind(problem.type, 409, problem.title), state=state)

    @classmethod
    def invalid(cls, detail: str, pointer: str) -> "Refusal":
        """One thing is wrong with the body."""
        return cls("invalid-request", detail, errors=[ProblemError(detail=detail, pointer=pointer)])

    @classmethod
    def parameter(cls, name: str, detail: str) -> "Refusal":
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
