"""An endpoint's transient and permanent failures, and messages that explain them to the user."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from assayer.errors import LlmError, LlmRejected, RequestRefused
from assayer.models import Fault, FaultKind
from workers.llm.error_body import ErrorBody, clip_line
from workers.llm.refusal_reasons import RejectionReason, find_meant_status, find_permanent_reason, is_rate_limit
from workers.llm.settings import KEY_VARIABLE

_MAX_QUOTED_CHARS = 300
"""Maximum number of characters of an endpoint's message in a fault."""
_TIMEOUT_STATUSES = frozenset({408, 504, 522, 524, 598, 599})
_OVERLOAD_STATUSES = frozenset({408, 429, 503, 504, 524, 529})
"""Statuses that mean the endpoint is overloaded. Some gateways use 529 for this, Cloudflare 524."""
_CHECK_ADDRESS = "Check that it is running and that ASSAYER_LLM__BASE_URL is correct."
_CHECK_PROXY = (
    "A proxy, a firewall or a sign-in page may have sent it: check HTTPS_PROXY and NO_PROXY, and ASSAYER_LLM__BASE_URL."
)


class ReadTokens(NamedTuple):
    """Tokens that an endpoint may bill for a request without a usable answer, as counted by the endpoint; None if it
    does not report them."""

    prompt: int | None = None
    completion: int | None = None
    cached: int = 0
    """Number of prompt tokens that came from the endpoint's prompt cache; 0 if it reports none."""


class TransientLlmFailure(Exception):
    """Failure that may go away if the same request is retried. `retry_after` is in seconds, None if the endpoint did
    not say; `is_page` tells whether a web page responded; `read_tokens` is None if the endpoint cannot have read the
    prompt."""

    def __init__(
        self, fault: Fault, is_overload: bool = False, retry_after: float | None = None, is_page: bool = False
    ) -> None:
        super().__init__(fault, is_overload, retry_after, is_page)
        self.fault = fault
        self.is_overload = is_overload
        self.retry_after = retry_after
        self.is_page = is_page
        self.read_tokens: ReadTokens | None = None

    def __str__(self) -> str:
        return self.fault.detail

    @property
    def hint(self) -> str:
        """Return what to do if the failure lasts."""
        if self.is_page:
            return _CHECK_PROXY
        if self.fault.kind == "rate_limited":
            return "Try again later, or with a lower ASSAYER_LLM__CONCURRENCY__MAX."
        return _CHECK_ADDRESS


class PermanentLlmFailure(Exception):
    """Failure that does not go away if the same request is retried."""

    def __init__(self, reason: RejectionReason, status: int, body: ErrorBody) -> None:
        super().__init__(reason, status, body)
        self.reason = reason
        self.status = status
        self.body = body

    def __str__(self) -> str:
        return f"{self.status} {self.body.quoted_message}"

    def convert_to_question_failure(self) -> "PermanentLlmFailure":
        """Return this failure as seen by a model that has answered other requests: a refusal without a recognised
        reason then concerns only this request."""
        if self.reason == "bad_request" and self.status in {400, 422}:
            return PermanentLlmFailure("bad_question", self.status, self.body)
        return self


def extract_rejected_generation(body: object) -> str | None:
    """Return the model's output if the endpoint itself checked it against the schema and rejected it, otherwise
    None."""
    error = body.get("error", body) if isinstance(body, dict) else None
    if not isinstance(error, dict) or error.get("code") != "json_validate_failed":
        return None
    return str(error.get("failed_generation") or "")


def build_failure(status: int, body: ErrorBody, retry_after: float | None) -> TransientLlmFailure | PermanentLlmFailure:
    """Return the failure that a response indicates: a refusal, or an error or web page with status 200. `retry_after`
    is the wait in its headers, in seconds, None if they state none."""
    if status == 200 and body.page_title is not None:
        fault = Fault(kind="server_error", detail=f"the response is {body.description} instead of JSON")
        return TransientLlmFailure(fault, is_page=True)
    status = find_meant_status(status, body)
    wait = body.retry_after if retry_after is None else retry_after
    reason = find_permanent_reason(status, body, wait)
    if reason is not None:
        return PermanentLlmFailure(reason, status, body)
    is_limit, is_page = is_rate_limit(status, body), body.page_title is not None
    kind: FaultKind = "rate_limited" if is_limit else "timeout" if status in _TIMEOUT_STATUSES else "server_error"
    separator = ", " if is_page else " "
    detail = clip_line(f"HTTP {status}{separator if body.description else ''}{body.description}", _MAX_QUOTED_CHARS)
    return TransientLlmFailure(Fault(kind=kind, detail=detail), is_limit or status in _OVERLOAD_STATUSES, wait, is_page)


class RejectionText(NamedTuple):
    message: str
    hint: str


_POSSIBLE_KEY = re.compile(r"\S*\*{2,}\S*|\b(?:sk|pk|rk|gsk|xai|hf|nvapi|AIza|key)[-_]?[\w*.-]{8,}")
"""Matches what may be a key, whole or in part."""


def explain_rejection(
    failure: PermanentLlmFailure, address: str, model: str, key_variable: str = KEY_VARIABLE
) -> RejectionText:
    """Explain a rejection to the user. `key_variable` is the variable that holds the API key, empty if no key is set.
    Endpoint messages about wrong keys are never quoted, because some contain parts of the key."""
    quoted_message, status = failure.body.description or failure.body.quoted_message, failure.status
    variable = key_variable or KEY_VARIABLE
    explanations = {
        "wrong_key": (
            f"The LLM endpoint {address} rejected the API key ({status})."
            if key_variable
            else f"The LLM endpoint {address} needs an API key, but no API key is set ({status}).",
            f"Set {variable} to a valid key for this endpoint, or check ASSAYER_LLM__BASE_URL.",
        ),
        "forbidden": (
            f"The API key does not have permission to use model {model!r} at {address} "
            f"({status}: {_POSSIBLE_KEY.sub('…', quoted_message)}).",
            f"Check the permissions of the key in {variable}, or choose another ASSAYER_LLM__MODEL.",
        ),
        "unknown_model": (
            f"The LLM endpoint {address} does not know the model {model!r} ({status}: {quoted_message}).",
            "Check ASSAYER_LLM__MODEL and ASSAYER_LLM__FAST_MODEL.",
        ),
        "unknown_path": (
            f"There is no chat completions API at {address} ({status}: {quoted_message}).",
            "Check ASSAYER_LLM__BASE_URL: it usually ends in /v1.",
        ),
        "web_page": (
            f"{failure.body.description[:1].upper()}{failure.body.description[1:]} responded instead of the LLM "
            f"endpoint {address} ({status}).",
            f"If the endpoint sent it, check the key in {variable}." if status == 401 else "",
        ),
        "quota": (
            f"The account behind the API key has no quota left at {address} ({status}: {quoted_message}).",
            f"Add credit to the account or wait until the quota is renewed, or set another {variable}.",
        ),
        "too_long": (
            f"The request is longer than model {model!r} accepts ({status}: {failure.body.quoted_message}).",
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
    message, hint = explanations[failure.reason]
    page_hint = _CHECK_PROXY if failure.body.page_title is not None else ""
    return RejectionText(message, " ".join(filter(None, (hint, page_hint))))


def build_rejection_error(
    failure: PermanentLlmFailure, address: str, model: str, key_variable: str, faults: Sequence[Fault]
) -> LlmError:
    """Return the error for a rejection: RequestRefused if it concerns only this request (too long, filtered, or bad);
    LlmRejected if it would affect every request."""
    message, hint = explain_rejection(failure, address, model, key_variable)
    if failure.reason in {"too_long", "filtered", "bad_question"}:
        fault = Fault(kind="refused_request", detail=message)
        named_tokens = failure.body.window if failure.reason == "too_long" else None
        return RequestRefused(message, hint, (*faults, fault), failure.body.quoted_message, named_tokens)
    return LlmRejected(message, hint, tuple(faults))
