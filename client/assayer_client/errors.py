"""The client's exceptions: problems reported by the service, and failures to reach it.

    ClientError
    ├── ApiProblem           error response from the service (RFC 9457), or from a proxy in front of it
    │   └── Deleted          the resource has been deleted (410)
    ├── ServiceUnreachable   no response, or a response from another server
    ├── InvalidRequest       the request cannot be sent, or a received message cannot be trusted
    └── ConfigurationError   the address or the API key is missing or invalid

All of them can be pickled. On ApiProblem and ServiceUnreachable, `retryable` says whether a retry may help.
"""

import datetime as dt
import json
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

_RETRYABLE_STATUSES = frozenset({408, 429, 502, 503, 504})
_GONE = 410
_NO_ROUTES_PATH = "/-/routes"
_MAX_SHOWN_ERRORS = 5
"""Maximum number of errors shown in the message; `errors` contains all of them."""
_MAX_EXCERPT_CHARS = 300


class ProblemAt(NamedTuple):
    """One error in a request, with its location."""

    detail: str
    pointer: str | None = None
    """JSON pointer into the body (RFC 6901); None if the error is not in the body."""
    parameter: str | None = None
    """Name of the query, path or header parameter; None if the error is not in a parameter."""


class ClientError(Exception):
    """Base class for the client's errors. `message` says what is wrong, and `hint`, if known, what to do."""

    reason = "the client failed"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InvalidRequest(ClientError):
    """Error for input that cannot be sent, or for a received message that cannot be trusted."""

    reason = "the request cannot be sent"

    @classmethod
    def from_validation_error(cls, error: ValidationError) -> "InvalidRequest":
        """Return the error for a request body that could not be built from the input. It names the first invalid
        field."""
        first_error = error.errors(include_url=False)[0]
        field = ".".join(map(str, first_error["loc"]))
        message = str(first_error["msg"]).removeprefix("Value error, ")
        return cls(f"{field}: {message}." if field else f"{message}.")


class ConfigurationError(ClientError):
    """Error for a missing or invalid address or API key."""

    reason = "the client is not configured"


class ApiProblem(ClientError):
    """Error response to a request, with the reason."""

    reason = "the service rejected the request"

    def __init__(
        self,
        status: int,
        title: str,
        detail: str = "",
        type: str = "about:blank",
        errors: tuple[ProblemAt, ...] = (),
        retry_after: float | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(_format_problem(status, title, detail, errors))
        self.args = (status, title, detail, type, errors, retry_after, request_id)
        self.status = status
        self.title = title
        self.detail = detail
        self.type = type
        """Problem type URI; `about:blank` if the response did not come from the service but, for example, from a
        proxy."""
        self.errors = errors
        self.retry_after = retry_after
        """Seconds to wait before retrying; None if unknown."""
        self.request_id = request_id

    @property
    def slug(self) -> str:
        """Last part of the type, such as `queue-full`."""
        return self.type.rstrip("/").rpartition("/")[2]

    @property
    def retryable(self) -> bool:
        """Whether a retry may help. This includes a 500 without a problem document, from a server that died during the
        request, and a 404 with Ray Serve's wording, from a newly started proxy that has no routes yet."""
        if self.type != "about:blank":
            return self.status in _RETRYABLE_STATUSES
        return (
            self.status in _RETRYABLE_STATUSES
            or self.status == 500
            or (self.status == 404 and _NO_ROUTES_PATH in self.detail)
        )


class Deleted(ApiProblem):
    """Error for a resource that was deleted, by a member of your tenant or at the end of its retention period."""

    reason = "it was deleted"

    def __init__(
        self,
        title: str,
        detail: str = "",
        type: str = "about:blank",
        request_id: str | None = None,
        why: Literal["erased", "retention"] | None = None,
        deleted_at: dt.datetime | None = None,
        proof: int | None = None,
    ) -> None:
        super().__init__(_GONE, title, detail, type, request_id=request_id)
        self.args = (title, detail, type, request_id, why, deleted_at, proof)
        self.why = why
        """Why it was deleted; None if the job still exists and only its result was deleted."""
        self.deleted_at = deleted_at
        self.proof = proof
        """Number to pass to `erasure_proof`. None if no one requested the deletion, or if the caller may not read the
        proof."""


class ServiceUnreachable(ClientError):
    """Error for a missing response, or for a response that did not come from the service."""

    reason = "the service could not be reached"
    retry_after: float | None = None

    def __init__(self, message: str, hint: str = "", retryable: bool = True) -> None:
        super().__init__(message, hint)
        self.args = (message, hint, retryable)
        self.retryable = retryable


def build_problem(status: int, headers: Mapping[str, str], content: bytes, now: dt.datetime) -> ApiProblem:
    """Return the error for a response with a status of 300 or more. Names in `headers` must be in lower case."""
    members = _parse_members(content) if "json" in headers.get("content-type", "") else {}
    wait = parse_retry_after(headers.get("retry-after"), now)
    request_id = _read_text(members, "request_id") or headers.get("x-request-id")
    if 300 <= status < 400:
        return ApiProblem(
            status, "The server redirected the request, but redirects are not followed", headers.get("location", "")
        )
    if not members.get("type") or not members.get("title"):
        title = f"The server returned status {status}"
        return ApiProblem(status, title, _make_excerpt(content), retry_after=wait, request_id=request_id)
    words = _read_text(members, "title"), _read_text(members, "detail"), _read_text(members, "type")
    if status == _GONE:
        return Deleted(*words, request_id, *_build_deletion_error(members))
    errors = members.get("errors")
    return ApiProblem(
        status,
        *words,
        tuple(_parse_error(error) for error in errors if isinstance(error, dict)) if isinstance(errors, list) else (),
        wait,
        request_id,
    )


def parse_retry_after(header: str | None, now: dt.datetime) -> float | None:
    """Parse `Retry-After` in either of its forms (RFC 9110, 10.2.3) into seconds; None if it is malformed."""
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=dt.UTC)
    return max(0.0, (at - now).total_seconds())


def _parse_members(content: bytes) -> dict[str, Any]:
    try:
        members = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return members if isinstance(members, dict) else {}


def _read_text(members: Mapping[str, Any], name: str) -> str:
    value = members.get(name)
    return value if isinstance(value, str) else ""


def _build_deletion_error(
    members: Mapping[str, Any],
) -> tuple[Literal["erased", "retention"] | None, dt.datetime | None, int | None]:
    why, at, proof = members.get("reason"), _read_text(members, "deleted_at"), members.get("proof")
    try:
        deleted_at = dt.datetime.fromisoformat(at) if at else None
    except ValueError:
        deleted_at = None
    return why if why in ("erased", "retention") else None, deleted_at, proof if isinstance(proof, int) else None


def _parse_error(mapping: Mapping[str, Any]) -> ProblemAt:
    pointer, parameter = mapping.get("pointer"), mapping.get("parameter")
    return ProblemAt(
        _read_text(mapping, "detail"),
        pointer if isinstance(pointer, str) else None,
        parameter if isinstance(parameter, str) else None,
    )


def _make_excerpt(content: bytes) -> str:
    text = " ".join(content[: 4 * _MAX_EXCERPT_CHARS].decode("utf-8", "replace").split())
    text = "".join(character for character in text if character.isprintable())
    return "" if text.startswith("<") else text[:_MAX_EXCERPT_CHARS]


def _format_problem(status: int, title: str, detail: str, errors: tuple[ProblemAt, ...]) -> str:
    """Format a problem as a message: `The request cannot be used (422): … [/idea/text: too long]`."""
    sentence = f"{title} ({status})" + (f": {detail}" if detail else ".")
    places = [f"{error.pointer or error.parameter}: {error.detail}" for error in errors if error.detail not in detail]
    more = f"; and {len(places) - _MAX_SHOWN_ERRORS} more" if len(places) > _MAX_SHOWN_ERRORS else ""
    return f"{sentence} [{'; '.join(places[:_MAX_SHOWN_ERRORS])}{more}]" if places else sentence
