"""What a client of the service meets: a refusal that says why, or nobody who answers.

    ClientError
    ├── ApiProblem           the service answered with a problem document (RFC 9457), or something answered for it
    │   └── Deleted          what was asked for was there, and your tenant has deleted it (410)
    ├── ServiceUnreachable   no answer came, or one that is none of the service's
    ├── InvalidRequest       what was given cannot be sent, or what came cannot be trusted
    └── ConfigurationError   the address or the key is missing, or cannot be used

All pickle. The first two tell whether the same request may be sent again (`retryable`).
"""

import datetime as dt
import json
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Literal, NamedTuple

__all__ = [
    "ApiProblem",
    "ClientError",
    "ConfigurationError",
    "Deleted",
    "InvalidRequest",
    "ProblemAt",
    "ServiceUnreachable",
    "problem_of",
    "seconds_to_wait",
]

_OUT_OF_TURN = frozenset({408, 429, 502, 503, 504})
_GONE = 410
_NO_PATHS = "/-/routes"
_SHOWN = 5
"""Places named in the message; `errors` holds all."""
_LONGEST_TEXT = 300


class ProblemAt(NamedTuple):
    """One thing that is wrong with a request, and where."""

    detail: str
    pointer: str | None = None
    """Into the body (RFC 6901)."""
    parameter: str | None = None
    """Of the query, the path or the headers."""


class ClientError(Exception):
    """Says in one sentence what was wrong and, where that is known, in another what to do."""

    reason = "the client failed"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InvalidRequest(ClientError):
    """What was given cannot be sent, or what came cannot be trusted."""

    reason = "the request cannot be sent"


class ConfigurationError(ClientError):
    """The address or the key is missing, or cannot be used."""

    reason = "the client is not configured"


class ApiProblem(ClientError):
    """The service refused or failed, and says why."""

    reason = "the service refused the request"

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
        super().__init__(_sentence(status, title, detail, errors))
        self.args = (status, title, detail, type, errors, retry_after, request_id)
        self.status = status
        self.title = title
        self.detail = detail
        self.type = type
        """A URI; `about:blank` where somebody else answered for the service, a proxy for one."""
        self.errors = errors
        self.retry_after = retry_after
        """Seconds."""
        self.request_id = request_id

    @property
    def slug(self) -> str:
        """The last part of the type: `queue-full`."""
        return self.type.rstrip("/").rpartition("/")[2]

    @property
    def retryable(self) -> bool:
        """Whether waiting helps. A 500 that is no document of ours comes from a server that died under the request, a
        404 in the words of Ray Serve from a proxy that was started a moment ago and knows no path yet."""
        if self.type != "about:blank":
            return self.status in _OUT_OF_TURN
        return self.status in _OUT_OF_TURN or self.status == 500 or (self.status == 404 and _NO_PATHS in self.detail)


class Deleted(ApiProblem):
    """It was there, and was deleted: erased by somebody of your tenant, or by its time of retention."""

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
        """None where the job is there, and only its result was deleted."""
        self.deleted_at = deleted_at
        self.proof = proof
        """For `erasure_proof`; None where nobody asked for the deletion, and for those who may not read it."""


class ServiceUnreachable(ClientError):
    """No answer came, or one that is none of the service's."""

    reason = "the service was out of reach"
    retry_after: float | None = None

    def __init__(self, message: str, hint: str = "", retryable: bool = True) -> None:
        super().__init__(message, hint)
        self.args = (message, hint, retryable)
        self.retryable = retryable


def problem_of(status: int, headers: Mapping[str, str], content: bytes, now: dt.datetime) -> ApiProblem:
    """Of an answer with a status of 300 or more. `headers` are looked up in lower case."""
    members = _members(content) if "json" in headers.get("content-type", "") else {}
    wait = seconds_to_wait(headers.get("retry-after"), now)
    request_id = _text(members, "request_id") or headers.get("x-request-id")
    if 300 <= status < 400:
        return ApiProblem(status, "The address redirects, and redirects are not followed", headers.get("location", ""))
    if not members.get("type") or not members.get("title"):
        title = f"The server answered {status}"
        return ApiProblem(status, title, _excerpt(content), retry_after=wait, request_id=request_id)
    said = _text(members, "title"), _text(members, "detail"), _text(members, "type")
    if status == _GONE:
        return Deleted(*said, request_id, *_deletion(members))
    errors = members.get("errors")
    return ApiProblem(
        status,
        *said,
        tuple(_error(one) for one in errors if isinstance(one, dict)) if isinstance(errors, list) else (),
        wait,
        request_id,
    )


def seconds_to_wait(header: str | None, now: dt.datetime) -> float | None:
    """`Retry-After` in seconds, of either form (RFC 9110, 10.2.3); None where it says nothing that can be read."""
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=dt.UTC)
    return max(0.0, (at - now).total_seconds())


def _members(content: bytes) -> dict[str, Any]:
    try:
        members = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return members if isinstance(members, dict) else {}


def _text(members: Mapping[str, Any], name: str) -> str:
    value = members.get(name)
    return value if isinstance(value, str) else ""


def _deletion(
    members: Mapping[str, Any],
) -> tuple[Literal["erased", "retention"] | None, dt.datetime | None, int | None]:
    why, at, proof = members.get("reason"), _text(members, "deleted_at"), members.get("proof")
    try:
        deleted_at = dt.datetime.fromisoformat(at) if at else None
    except ValueError:
        deleted_at = None
    return why if why in ("erased", "retention") else None, deleted_at, proof if isinstance(proof, int) else None


def _error(one: Mapping[str, Any]) -> ProblemAt:
    pointer, parameter = one.get("pointer"), one.get("parameter")
    return ProblemAt(
        _text(one, "detail"),
        pointer if isinstance(pointer, str) else None,
        parameter if isinstance(parameter, str) else None,
    )


def _excerpt(content: bytes) -> str:
    text = " ".join(content[: 4 * _LONGEST_TEXT].decode("utf-8", "replace").split())
    text = "".join(character for character in text if character.isprintable())
    return "" if text.startswith("<") else text[:_LONGEST_TEXT]


def _sentence(status: int, title: str, detail: str, errors: tuple[ProblemAt, ...]) -> str:
    """`The request cannot be used (422): … [/idea/text: too long]`."""
    said = f"{title} ({status})" + (f": {detail}" if detail else ".")
    places = [f"{one.pointer or one.parameter}: {one.detail}" for one in errors if one.detail not in detail]
    more = f"; and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return f"{said} [{'; '.join(places[:_SHOWN])}{more}]" if places else said
