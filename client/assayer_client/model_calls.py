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
    """Number of faults of one kind in one task, and how many of the affected calls still returned an answer."""

    task: str
    kind: FaultKind
    met: int
    recovered: int
    example: str = ""
    """Detail of the first of them, which quotes the endpoint where it refused."""


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
    outcome: Literal["answered", "failed"]
    error: str
    cached: bool
    """Whether the answer came from the cache; nothing was sent or paid for."""
    ended_at: dt.datetime
    seconds: float
    """Seconds from the first send to the valid answer; for a cached call, those of the call that was paid for."""
    attempts: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    """Cost in US dollars; null if the price is unknown. For a cached call, the cost when it was paid for."""
    faults: tuple[Fault, ...]


class ModelCallContents(Resource):
    """Language model call with its messages and answer."""

    call: ModelCall
    messages: tuple[Message, ...] | Absent
    """Messages first sent. If an answer was unusable, the call's `faults` state what was asked again."""
    answer: str | Absent
    """JSON."""
