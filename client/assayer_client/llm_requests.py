"""The language model requests made by an evaluation, with their messages."""

import datetime as dt
from typing import Literal

from assayer_client.resources import Absent, Resource

FaultKind = Literal[
    "invalid_json",
    "schema_violation",
    "wrapped",
    "coerced",
    "failed_check",
    "truncated",
    "empty",
    "refusal",
    "refused_request",
    "rate_limited",
    "server_error",
    "timeout",
    "connection",
]


class Fault(Resource):
    """Fault in one model call."""

    kind: FaultKind
    detail: str
    """One-line description, without prompt text or API keys."""


class FaultCount(Resource):
    """Number of faults of one kind in one task, and how many of the affected calls still returned an answer."""

    task: str
    kind: FaultKind
    occurrences: int
    recovered: int
    example: str = ""
    """Detail of the first such fault. If the endpoint rejected the request, its words are quoted."""


class Message(Resource):
    role: Literal["system", "user", "assistant"]
    content: str


class LlmRequest(Resource):
    number: int
    """Number of the model call, from 1, in the order in which calls ended."""
    task: str
    version: int
    """Version of the task's prompt."""
    model: str
    outcome: Literal["answered", "failed", "cancelled"]
    error: str
    """Why there is no answer; empty if there is one."""
    cached: bool
    """True if the answer came from the cache, so that nothing was sent or paid for."""
    ended_at: dt.datetime
    seconds: float
    """Seconds from the first request to the valid answer. For a cached call, those of the original call."""
    attempts: int
    prompt_tokens: int
    cached_prompt_tokens: int = 0
    """Number of prompt tokens that came from the endpoint's prompt cache, if the endpoint reports it."""
    completion_tokens: int
    cost_usd: float | None
    """Cost in US dollars; null if the price is unknown. For a cached call, the cost of the original call."""
    faults: tuple[Fault, ...]


class LlmRequestContents(Resource):
    """Model call with its messages and answer."""

    request: LlmRequest
    messages: tuple[Message, ...] | Absent
    """Messages in the first request. If an answer was unusable, the call's `faults` say what was asked again."""
    answer: str | Absent
    """Answer as JSON."""
