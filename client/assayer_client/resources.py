"""What all resources of the service have in common.

A body refuses fields that it does not know, so that a typing error is found before it is sent; a resource ignores
them, so that the service can grow. Times are in UTC, money is in US dollars, and null is never zero. Ranges are checked
by the service.
"""

import datetime as dt
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

T = TypeVar("T")

JobState = Literal["queued", "running", "done", "failed", "dead", "cancelled"]
LivePriority = Literal["interactive", "batch"]
Priority = Literal[LivePriority, "overnight"]
TERMINAL: frozenset[JobState] = frozenset({"done", "failed", "dead", "cancelled"})
"""States that last."""


class Resource(BaseModel):
    """What the service answers."""

    model_config = ConfigDict(frozen=True)


class Body(BaseModel):
    """What the service is asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Absent(Resource):
    """A result that does not exist, and why. Never a zero."""

    reason: str


class Page(Resource, Generic[T]):
    items: tuple[T, ...]
    next: str | None
    """Asks for the page after this one; null on the last."""


class Event(Resource):
    """`data` of one event of a stream; the stream's `id` is its number, the stream's `event` its kind."""

    number: int
    kind: str
    at: dt.datetime
    data: dict[str, Any]


class Problem(Resource):
    """Why there is no result (RFC 9457, the members that outlive a request)."""

    type: str
    """The last part of the problem type's URI: `budget-exhausted`."""
    title: str
    detail: str
    """What was wrong, where, and what to do."""


class Limits(Body):
    """What one job may spend; None: what the service's settings say."""

    max_usd: float | None = None
    max_prompt_tokens: int | None = None


class PromptVersion(Resource):
    task: str
    version: int
    """Of its own file."""
    digest: str = ""
    """Of that file with everything it includes and the system message: 16 hex digits, empty in reports of before."""


class FaultCount(Resource):
    """Faults of one kind in one task, and how many of the calls that met them still gave an answer."""

    task: str
    kind: str
    met: int
    recovered: int


class Dropped(Resource):
    """Something that did not make it into the verdict, and why."""

    what: str
    """A counted noun: `paper`, `method`, `relevance judgement`, `quote`, …"""
    count: int
    reason: str
