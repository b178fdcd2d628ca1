"""Failures of an endpoint: which may pass, which never will and why, and how both are put to the user."""

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Literal, NamedTuple

from assayer.errors import AnswerRefused, LlmError, LlmRejected
from assayer.models import Fault, FaultKind

__all__ = [
    "ErrorBody",
    "PermanentLlmFailure",
    "ReadTokens",
    "RejectionText",
    "SendStats",
    "TransientLlmFailure",
    "explain_rejection",
    "failure_from_status",
    "one_line",
    "parse_error_body",
    "rejected_generation",
    "rejection_error",
    "retry_after",
]


def one_line(text: str, limit: int = 200) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


RejectionReason = Literal[
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
_BY_STATUS: dict[int, RejectionReason] = {401: "wrong_key", 403: "forbidden", 413: "too_long"}


class ErrorBody(NamedTuple):
    """What an error body says. All fields may be empty."""

    message: str
    code: str
    param: str

    def mentions(self, *words: str) -> bool:
        text = f"{self.message} {self.code} {self.param}".lower()
        return any(word in text for word in words)


class SendStats(NamedTuple):
    """How often one request was sent, and how long that took."""

    sends: int = 0
    seconds: float = 0.0
    """From the first send to the end of the last."""


class ReadTokens(NamedTuple):
    """What an endpoint may bill for a request that it gave no usable answer to, as it counted; None where it does not
    tell."""

    prompt: int | None = None
    completion: int | None = None


class TransientLlmFailure(Exception):
    """The same request may succeed later. `retry_after` is in seconds, None when the endpoint did not say; `read` is
    None when the endpoint did not take the request, or refused it."""

    def __init__(self, fault: Fault, overloaded: bool = False, retry_after: float | None = None) -> None:
        super().__init__(fault, overloaded, retry_after)
        self.fault = fault
        self.overloaded = overloaded
        self.retry_after = retry_after
        self.read: ReadTokens | None = None
        self.stats = SendStats()

    def __str__(self) -> str:
        return self.fault.detail


class PermanentLlmFailure(Exception):
    """The same request will never succeed."""

    def __init__(self, reason: RejectionReason, status: int, body: ErrorBody) -> None:
        super().__init__(reason, status, body)
        self.reason = reason
        self.status = status
        self.body = body
        self.stats = SendStats()

    def __str__(self) -> str:
        return f"{self.status} {self.body.message}".strip()

    def of_question(self) -> "PermanentLlmFailure":
        """The same, from a model that is known to answer: what nobody recognises is the question's own trouble."""
        if self.reason == "bad_request" and self.status in {400, 422}:
            return PermanentLlmFailure("bad_question", self.status, self.body)
        return self


def parse_error_body(body: object) -> ErrorBody:
    """Reads the shapes in use: OpenAI's `error` object, a bare string, FastAPI's `detail`."""
    if isinstance(body, dict):
        inner = body.get("error")
        if isinstance(inner, dict | str):
            return parse_error_body(inner)
        message = body.get("message") or body.get("detail") or ""
        return ErrorBody(one_line(str(message)), str(body.get("code") or ""), str(body.get("param") or ""))
    return ErrorBody(one_line(body) if isinstance(body, str) else "", "", "")


def rejected_generation(body: object) -> str | None:
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


def failure_from_status(
    status: int, headers: Mapping[str, str], body: ErrorBody, now: dt.datetime
) -> TransientLlmFailure | PermanentLlmFailure:
    """`headers` is looked up by lower-case names."""
    reason = _permanent_reason(status, body)
    if reason is not None:
        return PermanentLlmFailure(reason, status, body)
    fault = Fault(kind=_FAULTS.get(status, "server_error"), detail=one_line(f"HTTP {status} {body.message}".strip()))
    return TransientLlmFailure(fault, status in _OVERLOADED, retry_after(headers, now))


def _permanent_reason(status: int, body: ErrorBody) -> RejectionReason | None:
    if body.mentions("insufficient_quota"):
        return "quota"
    if status in {408, 409, 429} or status >= 500:
        return None
    return _BY_STATUS.get(status) or _reason_by_text(status, body)


def _reason_by_text(status: int, body: ErrorBody) -> RejectionReason:
    if body.mentions("model_not_found") or (status == 404 and body.mentions("model")):
        return "unknown_model"
    if status == 404:
        return "unknown_path"
    if body.mentions(*_FILTERED):
        return "filtered"
    return "too_long" if body.mentions(*_TOO_LONG) else "bad_request"


class RejectionText(NamedTuple):
    message: str
    hint: str


def explain_rejection(failure: PermanentLlmFailure, address: str, model: str) -> RejectionText:
    """Never quotes the endpoint about keys: some repeat parts of them."""
    quoted = failure.body.message or "no reason given"
    status = failure.status
    explanations = {
        "wrong_key": (
            f"The LLM endpoint {address} refuses the API key ({status}).",
            "Set ASSAYER_LLM__API_KEY to a valid key for it, or check ASSAYER_LLM__BASE_URL.",
        ),
        "forbidden": (
            f"The API key may not use model {model!r} at {address} ({status}).",
            "Check what the key in ASSAYER_LLM__API_KEY is allowed to do, or choose another ASSAYER_LLM__MODEL.",
        ),
        "unknown_model": (
            f"The LLM endpoint {address} does not know the model {model!r} ({status}).",
            "Check ASSAYER_LLM__MODEL and ASSAYER_LLM__FAST_MODEL.",
        ),
        "unknown_path": (
            f"There is no chat completions API under {address} ({status}).",
            "Check ASSAYER_LLM__BASE_URL: it usually ends in /v1.",
        ),
        "quota": (
            f"The account behind the API key has no quota left at {address} ({status}).",
            "Top it up, or set another ASSAYER_LLM__API_KEY.",
        ),
        "too_long": (
            f"The question is longer than model {model!r} takes ({status}: {quoted}).",
            "Choose an ASSAYER_LLM__MODEL with a longer context.",
        ),
        "filtered": (f"The endpoint's content filter refused the question ({status}).", ""),
        "bad_question": (
            f"The LLM endpoint refused this question, though model {model!r} has answered others ({status}: {quoted}).",
            "",
        ),
        "bad_request": (
            f"The LLM endpoint {address} refused the request for model {model!r} ({status}: {quoted}).",
            "Check ASSAYER_LLM__MODEL, and ASSAYER_LLM__STRUCTURED if it concerns response_format.",
        ),
    }
    return RejectionText(*explanations[failure.reason])


def rejection_error(failure: PermanentLlmFailure, address: str, model: str, faults: Sequence[Fault]) -> LlmError:
    """A question that is filtered, overlong or refused among others concerns that question alone; anything else
    would meet every call."""
    message, hint = explain_rejection(failure, address, model)
    if failure.reason in {"too_long", "filtered", "bad_question"}:
        return AnswerRefused(message, hint, (*faults, Fault(kind="refusal", detail=message)))
    return LlmRejected(message, hint, tuple(faults))
