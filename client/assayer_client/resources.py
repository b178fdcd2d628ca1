"""Base classes and common fields of all the service's resources.

A request body rejects unknown fields, so that a typo is found before the request is sent. A resource ignores them, so
that the service can add fields. Times are in UTC, money is in US dollars, and null is never zero. The service checks
ranges."""

import datetime as dt
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, NewType, Self, TypeVar

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

T = TypeVar("T")

TenantId = NewType("TenantId", str)
MemberId = NewType("MemberId", str)
JobId = NewType("JobId", str)
BatchId = NewType("BatchId", str)
IdeaId = NewType("IdeaId", str)
PaperId = NewType("PaperId", str)

DEFAULT_METHOD = "review"
"""Evaluation method that the service, this client and the commands use by default."""

JobState = Literal["queued", "running", "succeeded", "failed", "cancelled"]
"""State of a job. failed: for a reason that a retry would not change, or after too many attempts; `problem` says
which."""
LivePriority = Literal["interactive", "batch"]
Priority = Literal[LivePriority, "overnight"]
"""Priority of a job. Overnight jobs have their own slots, and their LLM requests wait for batches, which cost less."""
TERMINAL: frozenset[JobState] = frozenset({"succeeded", "failed", "cancelled"})
"""Final states of a job."""


JobKind = Literal["evaluation", "comparison", "ranking", "rewards", "curation", "candidate_ideas", "score"]
Dollars = Annotated[float, AfterValidator(lambda dollars: round(dollars, 9))]
"""Amount in US dollars, rounded to 9 decimals. A token costs at least some billionths of a dollar, so further decimals
are binary rounding errors."""
TenantName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
ResourceName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
"""Id of a job or a batch."""
Explained = StringConstraints(strip_whitespace=True, min_length=3, pattern=r"\S[\s\S]+\S")
"""Constraint: at least 3 characters, not counting surrounding whitespace. The pattern shows this in the OpenAPI
document."""

_FIRST, _LAST = dt.datetime(2000, 1, 1, tzinfo=dt.UTC), dt.datetime(2200, 1, 1, tzinfo=dt.UTC)


def _require_plausible(moment: dt.datetime) -> dt.datetime:
    if not _FIRST <= moment < _LAST:
        raise ValueError(f"The timestamp {moment.isoformat()} must be between the years {_FIRST:%Y} and {_LAST:%Y}")
    return moment.astimezone(dt.UTC)


Moment = Annotated[AwareDatetime, AfterValidator(_require_plausible)]
"""RFC 3339 timestamp with a UTC offset."""


def _require_printable(text: str) -> str:
    if not text.isprintable() or not text.strip():
        raise ValueError("The name must be one line of printable text")
    return text


Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_require_printable)]
"""Display name of a tenant, a key or a member."""


class CheckedCopy(BaseModel):
    """Base model whose copies have no unknown fields."""

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with the changed fields. Raises ValueError for an unknown field, which pydantic ignores."""
        if unknown := set(update or ()) - type(self).model_fields.keys():
            raise ValueError(f"{type(self).__name__} has no field {', '.join(sorted(unknown))}")
        return super().model_copy(update=update, deep=deep)


class Resource(CheckedCopy):
    """Response from the service. The model is built at first use, because most of the many responses are never used."""

    model_config = ConfigDict(frozen=True, from_attributes=True, defer_build=True)


class Body(CheckedCopy):
    """Request body sent to the service."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Absent(Resource):
    """A result that does not exist, with the reason. It never stands for zero."""

    reason: str


def convert_to_record(value: Any) -> Any:
    """Convert JSON objects to `Record`s, or to `Absent` if their only key is `reason`, and arrays to tuples."""
    if isinstance(value, list | tuple):
        return tuple(convert_to_record(member) for member in value)
    if not isinstance(value, dict):
        return value
    return Absent(**value) if value.keys() == {"reason"} else Record(**value)


class Record(Resource):
    """Object in a report that is described only by the JSON schema. Its fields are attributes."""

    model_config = ConfigDict(extra="allow")

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    @model_validator(mode="before")
    @classmethod
    def _nested(cls, fields: Any) -> Any:
        return (
            {name: convert_to_record(value) for name, value in fields.items()} if isinstance(fields, dict) else fields
        )


RecordOrAbsent = Annotated[Record | Absent, BeforeValidator(convert_to_record)]


class Page(Resource, Generic[T]):
    items: tuple[T, ...]
    next: str | None
    """Cursor for the next page; null on the last page."""


class Event(Resource):
    """Data in a stream event (`data`). The event's number is in the stream's `id`, and its kind in the stream's
    `event`."""

    number: int
    kind: str
    at: dt.datetime
    data: dict[str, Any]


class Problem(Resource):
    """Why there is no result (RFC 9457, with only the fields that remain valid after the request)."""

    type: str
    """Last part of the problem type's URI, such as `budget-exhausted`."""
    title: str
    detail: str
    """Description of the error, where it occurred, and how to fix it."""


class Limits(Body):
    """One job's spending limits; None uses the service's settings."""

    max_usd: float | None = Field(default=None, gt=0, le=1_000_000, allow_inf_nan=False)
    max_prompt_tokens: int | None = Field(default=None, gt=0, le=10**12)


class JobResource(Resource):
    """Fields common to all kinds of jobs."""

    id: str
    state: JobState
    title: str
    flags: tuple[str, ...] = ()
    """Suspicious features of the texts that a person should check, such as hidden words, instructions to a reviewer, or
    look-alike characters."""
    priority: Priority
    attempt: int
    """Number of times the job was started."""
    problem: Problem | None
    """Why there is no result; null unless the state is failed."""
    cost_usd: Dollars | None
    """Cost in US dollars; null while it is unknown."""
    created_at: dt.datetime
    started_at: dt.datetime | None
    finished_at: dt.datetime | None


class PromptVersion(Resource):
    task: str
    version: int
    """Version of the prompt file itself."""
    digest: str
    """Digest of the prompt file, including all files that it includes and the system message, as 16 hex digits."""


class Dropped(Resource):
    """Data that was excluded from the verdict, and why."""

    item_kind: str
    """Countable noun for what was excluded, such as `paper`, `method`, `relevance judgement` or `quote`."""
    count: int
    reason: str
