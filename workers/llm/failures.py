"""What an endpoint's refusals mean: try again, or never again and why."""

import datetime as dt
import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Literal, NamedTuple

from assayer.models import Fault, FaultKind
from workers.llm.reading import one_line

__all__ = [
    "PermanentFailure",
    "Refusal",
    "Took",
    "TransientFailure",
    "refusal_of",
    "retry_after",
    "status_failure",
    "unfinished_answer",
]

Reason = Literal[
    "wrong_key",
    "forbidden",
    "unknown_model",
    "unknown_path",
    "quota",
    "too_long",
    "filtered",
    "bad_question",
    "bad_request",
]
"""`bad_question` is a bad request from a model that has answered others."""

_TOO_LONG = (
    "context_length",
    "context length",
    "context window",
    "context size",
    "maximum context",
    "too many tokens",
    "input token count",
    "input is too long",
    "prompt is too long",
)
_FILTERED = (
    "content_filter",
    "content_policy",
    "content management policy",
    "invalid_prompt",
    "usage policy",
    "usage policies",
)
_OVERLOADED = frozenset({408, 429, 503, 504, 529})
"""Statuses that say the endpoint has too much to do; 529 is what some gateways use for it."""

_FAULTS: dict[int, FaultKind] = {408: "timeout", 429: "rate_limited"}
_BY_STATUS: dict[int, Reason] = {401: "wrong_key", 403: "forbidden", 413: "too_long"}


class Refusal(NamedTuple):
    """What an error body says. All fields may be empty."""

    message: str
    code: str
    param: str

    def mentions(self, *words: str) -> bool:
        text = f"{self.message} {self.code} {self.param}".lower()
        return any(word in text for word in words)


class Took(NamedTuple):
    """What one question took so far."""

    sends: int = 0
    seconds: float = 0.0
    """From the first send to the end of the last."""


class TransientFailure(Exception):
    """The same request may succeed later. `retry_after` is in seconds, None when the endpoint did not say."""

    def __init__(self, fault: Fault, overloaded: bool = False, retry_after: float | None = None) -> None:
        super().__init__(fault, overloaded, retry_after)
        self.fault = fault
        self.overloaded = overloaded
        self.retry_after = retry_after
        self.took = Took()

    def __str__(self) -> str:
        return self.fault.detail


class PermanentFailure(Exception):
    """The same request will never succeed."""

    def __init__(self, reason: Reason, status: int, refusal: Refusal) -> None:
        super().__init__(reason, status, refusal)
        self.reason = reason
        self.status = status
        self.refusal = refusal
        self.took = Took()

    def __str__(self) -> str:
        return f"{self.status} {self.refusal.message}".strip()

    def of_question(self) -> "PermanentFailure":
        """The same, from a model that is known to answer: what nobody recognises is the question's own trouble."""
        if self.reason == "bad_request" and self.status in {400, 422}:
            return PermanentFailure("bad_question", self.status, self.refusal)
        return self


def refusal_of(body: object) -> Refusal:
    """Reads the shapes in use: OpenAI's `error` object, a bare string, FastAPI's `detail`."""
    if isinstance(body, dict):
        inner = body.get("error")
        if isinstance(inner, dict | str):
            return refusal_of(inner)
        said = body.get("message") or body.get("detail") or ""
        return Refusal(one_line(str(said)), str(body.get("code") or ""), str(body.get("param") or ""))
    return Refusal(one_line(body) if isinstance(body, str) else "", "", "")


def unfinished_answer(body: object) -> str | None:
    """What a model wrote where the endpoint itself held it against the schema, and refused it for that."""
    error = body.get("error", body) if isinstance(body, dict) else None
    if not isinstance(error, dict) or error.get("code") != "json_validate_failed":
        return None
    return str(error.get("failed_generation") or "")


def retry_after(headers: Mapping[str, str], now: dt.datetime) -> float | None:
    """Seconds to wait by `retry-after-ms`, or `retry-after` as a number or an HTTP date. Never negative."""
    for name, per_second in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / per_second
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    try:
        at = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=dt.UTC)
    return max(0.0, (at - now).total_seconds())


def status_failure(
    status: int, headers: Mapping[str, str], refusal: Refusal, now: dt.datetime
) -> TransientFailure | PermanentFailure:
    """`headers` is looked up by lower-case names."""
    reason = _permanent(status, refusal)
    if reason is not None:
        return PermanentFailure(reason, status, refusal)
    fault = Fault(kind=_FAULTS.get(status, "server_error"), detail=one_line(f"HTTP {status} {refusal.message}".strip()))
    return TransientFailure(fault, status in _OVERLOADED, retry_after(headers, now))


def _permanent(status: int, refusal: Refusal) -> Reason | None:
    if refusal.mentions("insufficient_quota"):
        return "quota"
    if status in {408, 409, 429} or status >= 500:
        return None
    return _BY_STATUS.get(status) or _by_words(status, refusal)


def _by_words(status: int, refusal: Refusal) -> Reason:
    if refusal.mentions("model_not_found") or (status == 404 and refusal.mentions("model")):
        return "unknown_model"
    if status == 404:
        return "unknown_path"
    if refusal.mentions(*_FILTERED):
        return "filtered"
    return "too_long" if refusal.mentions(*_TOO_LONG) else "bad_request"
