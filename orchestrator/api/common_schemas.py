"""What bodies and resources have in common: bases, jobs, pages, events, ideas, problem documents.

A body refuses fields that it does not know; a reader of a resource ignores them, so that the service can grow.
Times are RFC 3339 in UTC, money is in US dollars, and null is never zero.
"""

import datetime as dt
from typing import Annotated, Generic, Self, TypeVar

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from assayer.models import FlagKind, Frozen
from assayer.models.base import Dollars
from orchestrator.jobs.models import JobState, Priority, Problem

__all__ = [
    "Body",
    "CancelQuery",
    "Check",
    "Explained",
    "IdeaBody",
    "JobResource",
    "Page",
    "PageQuery",
    "ProblemDocument",
    "ProblemError",
    "Reference",
    "Resource",
    "RowError",
    "SectionBody",
]

T = TypeVar("T")

_FIRST, _LAST = dt.datetime(2000, 1, 1, tzinfo=dt.UTC), dt.datetime(2200, 1, 1, tzinfo=dt.UTC)


class Resource(BaseModel):
    """What the service answers with."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


class Body(Frozen):
    """What the service is sent."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class ProblemError(Resource):
    """One thing that is wrong with a request."""

    detail: str
    pointer: str | None = None
    """Where in the body (JSON Pointer, RFC 6901); the empty pointer is the whole body."""
    parameter: str | None = None
    """The query, path or header parameter, where the body is not what is wrong."""


class Check(Resource):
    """One thing that the service depends on."""

    name: str
    ok: bool
    detail: str


class RowError(Resource):
    """A row of a batch that holds no usable idea."""

    row: int
    """Its number in the batch's input, from 1; a table's header does not count."""
    source: str
    """What the row is called: `row 7`, `proposals.csv:7`."""
    field: str
    """The field at fault; empty for the whole row."""
    detail: str


class ProblemDocument(Resource):
    """RFC 9457: what was wrong, where, and what to do. A reader ignores members that it does not know."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    """The path that was asked for."""
    request_id: str | None = None
    """The `X-Request-Id`; quote it when you ask for help."""
    errors: tuple[ProblemError, ...] | None = None
    retry_after: int | None = None
    """Seconds."""
    scope: str | None = None
    """The scope that the API key lacks."""
    reason: str | None = None
    """Of a 401: missing, malformed, unknown, expired or revoked. Of a 410: erased, or retention."""
    deleted_at: dt.datetime | None = None
    proof: int | None = None
    """Of what was erased, for those who may read it: `GET /v1/erasures/{number}`."""
    state: JobState | None = None
    """Of a job that has no result."""
    missing: tuple[int, ...] | None = None
    """Of a group that is not whole: the numbers of the members that have not come."""
    checks: tuple[Check, ...] | None = None
    rows: tuple[RowError, ...] | None = None
    """Of a batch in which no row holds a usable idea."""


class JobResource(Resource):
    """What jobs of every kind have in common."""

    id: str
    state: JobState
    title: str
    flags: tuple[FlagKind, ...] = ()
    """What is suspicious in the texts, for people to look at: hidden words, orders to a reviewer, look-alikes."""
    priority: Priority
    attempt: int
    """How often it was started."""
    problem: Problem | None
    """Why there is no result; null unless the state is failed or dead."""
    cost_usd: Dollars | None
    """Null while it is not known."""
    created_at: dt.datetime
    started_at: dt.datetime | None
    finished_at: dt.datetime | None


class PageQuery(Body):
    limit: int = Field(default=50, ge=1, le=500)
    after: str | None = Field(default=None, max_length=200)
    """`next` of the page before."""


Reference = Annotated[str, Field(min_length=1, max_length=300)]
"""The sender's own name for an idea, whole and to the letter, as resources give it as `reference`."""


class CancelQuery(Body):
    erase: bool = False
    """Also delete it, with its report and its events. Needs the scope `manage`."""


class Page(Resource, Generic[T]):
    items: tuple[T, ...]
    next: str | None
    """The cursor of the page after this one; null on the last."""


Explained = StringConstraints(strip_whitespace=True, min_length=3, pattern=r"\S[\s\S]+\S")
"""Three letters or more beside the spaces around them. The pattern says so to readers of the API's description."""


def _plausible(moment: dt.datetime) -> dt.datetime:
    if not _FIRST <= moment < _LAST:
        raise ValueError(f"It should lie between {_FIRST:%Y} and {_LAST:%Y}")
    return moment.astimezone(dt.UTC)


Moment = Annotated[AwareDatetime, AfterValidator(_plausible)]
"""RFC 3339 with an offset."""


class SectionBody(Body):
    title: str = Field(max_length=1_000)
    text: str


class IdeaBody(Body):
    """An idea: one text, or a list of sections."""

    title: str | None = Field(default=None, max_length=1_000)
    """Without one it is taken from the text."""
    text: str | None = None
    sections: tuple[SectionBody, ...] | None = Field(default=None, min_length=1, max_length=200)

    @model_validator(mode="after")
    def _has_words_once(self) -> Self:
        if (self.text is None) == (self.sections is None):
            raise ValueError("Give either `text` or `sections`")
        return self
