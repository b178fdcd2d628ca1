"""Language model calls of an evaluation, with their messages."""

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
    """Fault in one call."""

    kind: FaultKind
    detail: str
    """Description in one line, without prompt text or API keys."""


class FaultCount(Resource):
    """Number of faults of one kind in one task, and the number of affected calls that still returned an answer."""

    task: str
    kind: FaultKind
    met: int
    recovered: int
    example: str = ""
    """Detail of the first of these faults; if the endpoint refused, it quotes the endpoint."""


class Message(Resource):
    role: Literal["system", "user", "assistant"]
    content: str


class ModelCall(Resource):
    number: int
    """Number of the call, from 1, in the order in which calls ended."""
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
    """Seconds from the first send to the valid answer; for a cached call, the seconds of the original call."""
    attempts: int
    prompt_tokens: int
    cached_prompt_tokens: int = 0
    """Part of the prompt tokens that came from the endpoint's prompt cache, as far as the endpoint reports it."""
    completion_tokens: int
    cost_usd: float | None
    """Cost in US dollars; null if the price is unknown. For a cached call, the cost of the original call."""
    faults: tuple[Fault, ...]


class ModelCallContents(Resource):
    """Language model call with its messages and answer."""

    call: ModelCall
    messages: tuple[Message, ...] | Absent
    """Messages of the first request. If an answer was unusable, the call's `faults` state what was asked again."""
    answer: str | Absent
    """Answer as JSON."""
