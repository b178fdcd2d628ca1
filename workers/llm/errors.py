"""An endpoint's transient and permanent failures, and messages that explain them to the user."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

from assayer.errors import LlmError, LlmRejected, RequestRefused
from assayer.models import Fault, FaultKind

_MAX_SEARCHED_CHARS = 2_000
"""Maximum number of characters of an endpoint's message that are searched for words and numbers."""
_MAX_QUOTED_CHARS = 300
"""Maximum number of characters of an endpoint's message that an error quotes."""


def clip_line(text: str, limit: int = 200) -> str:
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
"""Reason for a permanent refusal. `bad_question` is an unexplained refusal by a model that has answered other
requests."""

_TOO_LONG = (
    "context_length",
    "context length",
    "context limit",
    "context window",
    "context size",
    "maximum context",
    "maximum prompt length",
    "exceed_context",
    "too many tokens",
    "too many input tokens",
    "input token count",
    "input length",
    "max_new_tokens` must be",
    "must have less than",
    "input is too long",
    "prompt is too long",
    "prompt too long",
    "request too large",
    "reduce the length",
    "tokens in the prompt cannot exceed",
)
_FILTERED = (
    "content_filter",
    "content_policy",
    "content management policy",
    "invalid_prompt",
    "usage policy",
    "usage policies",
    "your input was flagged",
)
_NO_QUOTA = ("insufficient_quota", "credit balance", "insufficient balance", "insufficient credits")
_WRONG_KEY = ("api key not valid", "api_key_invalid", "invalid api key", "incorrect api key")
FORM_WORDS = (
    "response_format",
    "response format",
    "responseformat",
    "response_schema",
    "response schema",
    "responseschema",
    "response_mime_type",
    "json_schema",
    "json schema",
    "json_object",
    "json mode",
    "structured output",
    "structured_output",
    "structured generation",
    "guided",
    "grammar",
    "invalid schema",
    "schema is too complex",
    "output_config.format",
    "output_format",
    "chatrequest.format",
    "specified schema",
    "constrained decoding",
    "too many states",
)
"""Words in refusals of the requested form of structured output."""
_BUSY = ("temporarily out of capacity", "temporarily unavailable", "overloaded_error", "model is overloaded")
"""Words with which some endpoints report an overload, whatever the status."""
_OVERLOADED = frozenset({408, 429, 503, 504, 529})
"""Statuses that mean the endpoint is overloaded. Some gateways use 529 for this."""

_MESSAGE_FIELDS = ("message", "detail", "error_message", "error_msg", "msg", "Message", "error_description", "title")
_TAG = re.compile(r"<(?:style|script)\b.*?</|<[^>]{0,1000}>", re.DOTALL)

_FAULTS: dict[int, FaultKind] = {408: "timeout", 429: "rate_limited"}
_BY_STATUS: dict[int, RejectionReason] = {401: "wrong_key", 403: "forbidden", 413: "too_long"}


class ErrorBody(NamedTuple):
    """Contents of an error body. Any field may be empty."""

    message: str
    code: str
    param: str
    context_tokens: int | None = None
    """Context window, if the body states it in a separate field."""

    @property
    def text(self) -> str:
        """Return the entire text in lower case, starting with the named parameter."""
        return f"{self.param} {self.message} {self.code}".lower()

    def mentions(self, *words: str) -> bool:
        text = self.text
        return any(word in text for word in words)

    @property
    def quoted(self) -> str:
        return clip_line(self.message, _MAX_QUOTED_CHARS) or "no reason given"


class ReadTokens(NamedTuple):
    """Tokens that an endpoint may bill for a request without a usable answer, as counted by the endpoint; None if it
    does not report them."""

    prompt: int | None = None
    completion: int | None = None
    cached: int = 0
    """Number of prompt tokens that came from the endpoint's prompt cache; 0 if it reports none."""


class TransientLlmFailure(Exception):
    """Failure that may go away if the same request is retried. `retry_after` is in seconds, None if the endpoint did
    not say; `read` is None if the endpoint cannot have read the prompt."""

    def __init__(self, fault: Fault, overloaded: bool = False, retry_after: float | None = None) -> None:
        super().__init__(fault, overloaded, retry_after)
        self.fault = fault
        self.overloaded = overloaded
        self.retry_after = retry_after
        self.read: ReadTokens | None = None

    def __str__(self) -> str:
        return self.fault.detail


class PermanentLlmFailure(Exception):
    """Failure that does not go away if the same request is retried."""

    def __init__(self, reason: RejectionReason, status: int, body: ErrorBody) -> None:
        super().__init__(reason, status, body)
        self.reason = reason
        self.status = status
        self.body = body

    def __str__(self) -> str:
        return f"{self.status} {self.body.quoted}"

    def of_question(self) -> "PermanentLlmFailure":
        """Return this failure as seen by a model that has answered other requests: a refusal without a recognised
        reason then concerns only this request."""
        if self.reason == "bad_request" and self.status in {400, 422}:
            return PermanentLlmFailure("bad_question", self.status, self.body)
        return self


def parse_error_body(body: object) -> ErrorBody:
    """Parse an error body in any format in use: OpenAI's `error` object, the same object in a list, a bare string or
    page, FastAPI's `detail`, other names for the message, or a provider's message forwarded by a proxy."""
    while True:
        if isinstance(body, list) and body and isinstance(body[0], dict):
            body = body[0]
        elif isinstance(body, dict) and isinstance(body.get("error"), dict | str):
            body = body["error"]
        elif isinstance(body, dict) and isinstance(body.get("errors"), list) and body["errors"]:
            body = body["errors"][0]
        else:
            break
    if not isinstance(body, dict):
        return ErrorBody(clip_line(_TAG.sub(" ", body), _MAX_SEARCHED_CHARS) if isinstance(body, str) else "", "", "")
    message = next((body[name] for name in _MESSAGE_FIELDS if body.get(name)), "")
    codes = [str(body[name]) for name in ("code", "type", "status") if body.get(name)]
    size = body.get("n_ctx")
    with suppress(RecursionError):  # a message that is a deeply nested list
        text = " ".join(filter(None, (str(message), _provider_message(body))))
        return ErrorBody(
            clip_line(text, _MAX_SEARCHED_CHARS),
            " ".join(codes),
            str(body.get("param") or ""),
            size if isinstance(size, int) and size > 0 else None,
        )
    return ErrorBody("", " ".join(codes), "")


def _provider_message(body: dict[str, object]) -> str:
    """Return the message from the provider behind a proxy, such as OpenRouter's `metadata.raw`."""
    metadata = body.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    if not isinstance(raw, str):
        return ""
    try:
        return parse_error_body(json.loads(raw)).message or raw
    except (ValueError, RecursionError):
        return raw


_TOKENS = r"(\d[\d,_]{2,})"
_WINDOWS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"> {_TOKENS}",
        rf"{_TOKENS} (?:tokens? )?(?:maximum|max\b|limit)",
        rf"context (?:length|window|size|limit)s?[^0-9.;]{{0,40}}{_TOKENS}",
        rf"(?:<=|less than|cannot exceed|allowed \(?|at most|up to|limit:?) {{0,2}}\(?{_TOKENS}",
        rf"\[\d+, ?{_TOKENS}\]",
        rf"(?:limit|maximum)(?! exceeded by)[^0-9.;]{{0,40}}{_TOKENS}",
    )
)
"""Patterns for how endpoints state their context window, most reliable first."""
_MIN_WINDOW = 512


def find_context_tokens(body: ErrorBody) -> int | None:
    """Return the context window stated in a refusal, in tokens, or None if it states none."""
    if body.context_tokens is not None:
        return body.context_tokens
    text = body.message.lower()
    for pattern in _WINDOWS:
        for match in pattern.finditer(text):
            tokens = int(re.sub(r"\D", "", match[1]))
            if tokens >= _MIN_WINDOW:
                return tokens
    return None


def extract_rejected_generation(body: object) -> str | None:
    """Return the model's output if the endpoint itself checked it against the schema and rejected it, otherwise
    None."""
    error = body.get("error", body) if isinstance(body, dict) else None
    if not isinstance(error, dict) or error.get("code") != "json_validate_failed":
        return None
    return str(error.get("failed_generation") or "")


def failure_from_status(
    status: int, body: ErrorBody, retry_after: float | None
) -> TransientLlmFailure | PermanentLlmFailure:
    """Return the failure that a refusal with this status indicates. `retry_after` is in seconds, None if the endpoint
    did not say."""
    reason = _find_permanent_reason(status, body)
    if reason is not None:
        return PermanentLlmFailure(reason, status, body)
    detail = clip_line(f"HTTP {status} {body.message}".strip(), _MAX_QUOTED_CHARS)
    return TransientLlmFailure(
        Fault(kind=_FAULTS.get(status, "server_error"), detail=detail), status in _OVERLOADED, retry_after
    )


def status_in(error: Mapping[str, object]) -> int:
    """Return the status of an error in a response body: the status that it states; otherwise 400 if its words are those
    of a refusal; otherwise 502."""
    body = parse_error_body(error)
    stated_status = next((int(code) for code in body.code.split() if code.isdecimal()), 0)
    if 400 <= stated_status < 600:
        return stated_status
    return 400 if body.mentions(*FORM_WORDS, *_TOO_LONG, *_FILTERED) else 502


def _find_permanent_reason(status: int, body: ErrorBody) -> RejectionReason | None:
    if status == 402 or body.mentions(*_NO_QUOTA):
        return "quota"
    if status in {500, 501}:  # some servers respond with 500 to requests that they should refuse with 400
        if body.mentions(*_TOO_LONG):
            return "too_long"
        return "bad_request" if body.mentions(*FORM_WORDS) else None
    if status in {408, 409, 429} or status >= 500 or body.mentions(*_BUSY):
        return None
    if body.mentions(*_FILTERED):
        return "filtered"
    return _BY_STATUS.get(status) or _reason_by_text(status, body)


def _reason_by_text(status: int, body: ErrorBody) -> RejectionReason:
    if body.mentions(*_WRONG_KEY):
        return "wrong_key"
    if body.mentions("model_not_found", "deploymentnotfound"):
        return "unknown_model"
    if body.mentions(*FORM_WORDS, "parameter"):
        return "bad_request"
    if status == 404 and body.mentions("model"):
        return "unknown_model"
    if status == 404:
        return "unknown_path"
    return "too_long" if body.mentions(*_TOO_LONG) else "bad_request"


class RejectionText(NamedTuple):
    message: str
    hint: str


def explain_rejection(failure: PermanentLlmFailure, address: str, model: str) -> RejectionText:
    """Explain a rejection to the user. Endpoint messages about keys are never quoted, because some contain parts of the
    key."""
    quoted_message, status = failure.body.quoted, failure.status
    explanations = {
        "wrong_key": (
            f"The LLM endpoint {address} rejected the API key ({status}).",
            "Set ASSAYER_LLM__API_KEY to a valid key for this endpoint, or check ASSAYER_LLM__BASE_URL.",
        ),
        "forbidden": (
            f"The API key does not have permission to use model {model!r} at {address} ({status}).",
            "Check the permissions of the key in ASSAYER_LLM__API_KEY, or choose another ASSAYER_LLM__MODEL.",
        ),
        "unknown_model": (
            f"The LLM endpoint {address} does not know the model {model!r} ({status}: {quoted_message}).",
            "Check ASSAYER_LLM__MODEL and ASSAYER_LLM__FAST_MODEL.",
        ),
        "unknown_path": (
            f"There is no chat completions API at {address} ({status}: {quoted_message}).",
            "Check ASSAYER_LLM__BASE_URL: it usually ends in /v1.",
        ),
        "quota": (
            f"The account behind the API key has no quota left at {address} ({status}: {quoted_message}).",
            "Add credit to the account, or set another ASSAYER_LLM__API_KEY.",
        ),
        "too_long": (
            f"The request is longer than model {model!r} accepts ({status}: {quoted_message}).",
            "Choose an ASSAYER_LLM__MODEL with a longer context window, or set ASSAYER_LLM__CONTEXT_TOKENS.",
        ),
        "filtered": (f"The endpoint's content filter refused the request ({status}: {quoted_message}).", ""),
        "bad_question": (
            f"The LLM endpoint refused this request, but model {model!r} has answered other requests "
            f"({status}: {quoted_message}).",
            "",
        ),
        "bad_request": (
            f"The LLM endpoint {address} refused the request for model {model!r} ({status}: {quoted_message}).",
            "Check ASSAYER_LLM__MODEL, and ASSAYER_LLM__STRUCTURED if the message concerns response_format.",
        ),
    }
    return RejectionText(*explanations[failure.reason])


def rejection_error(failure: PermanentLlmFailure, address: str, model: str, faults: Sequence[Fault]) -> LlmError:
    """Return the error for a rejection: RequestRefused if it concerns only this request (too long, filtered, or bad);
    LlmRejected if it would affect every request."""
    message, hint = explain_rejection(failure, address, model)
    if failure.reason in {"too_long", "filtered", "bad_question"}:
        fault = Fault(kind="refused_request", detail=message)
        named_tokens = find_context_tokens(failure.body) if failure.reason == "too_long" else None
        return RequestRefused(message, hint, (*faults, fault), failure.body.quoted, named_tokens)
    return LlmRejected(message, hint, tuple(faults))
