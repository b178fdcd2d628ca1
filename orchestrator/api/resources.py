"""Bodies and resources of the API, shared with its client.

A body refuses fields that it does not know; a reader of a resource ignores them, so that the service can grow.
Times are RFC 3339 in UTC, money is in US dollars, and null is never zero.
"""

import datetime as dt
from typing import Any, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from assayer.models import Frozen
from assayer.models.money import Dollars
from orchestrator.jobs.models import JobState, Priority, Problem
from orchestrator.jobs.requests import EvaluationRequest, Limits

__all__ = [
    "Accepted",
    "Body",
    "CancelQuery",
    "Check",
    "Evaluation",
    "EvaluationBody",
    "EvaluationQuery",
    "Event",
    "Health",
    "IdeaBody",
    "Links",
    "Method",
    "Page",
    "PageQuery",
    "ProblemDocument",
    "ProblemError",
    "Resource",
    "RowError",
    "SectionBody",
    "links_of",
]

T = TypeVar("T")


class Resource(BaseModel):
    """What the service tells."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


class Body(Frozen):
    """What the service is told."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class ProblemError(Resource):
    """One thing that is wrong with a request."""

    detail: str
    pointer: str | None = None
    """Where in the body (JSON Pointer, RFC 6901); the empty pointer is the whole body."""
    parameter: str | None = None
    """The query, path or header parameter, when it is not the body that is wrong."""


class Check(Resource):
    """One thing that the service cannot do without."""

    name: str
    ok: bool
    detail: str


class RowError(Resource):
    """A row of a batch that gave no idea."""

    row: int
    """Of the batch's input, from 1; a table's header does not count."""
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
    """Of `X-Request-Id`: what to name when asking for help."""
    errors: tuple[ProblemError, ...] | None = None
    retry_after: int | None = None
    """Seconds."""
    scope: str | None = None
    """What the API key lacks."""
    reason: str | None = None
    """Of a 401: missing, malformed, unknown, expired or revoked."""
    state: JobState | None = None
    """Of a job that has no result."""
    checks: tuple[Check, ...] | None = None
    rows: tuple[RowError, ...] | None = None
    """Of a batch in which no row gave an idea."""


class SectionBody(Body):
    title: str = Field(max_length=1_000)
    text: str


class IdeaBody(Body):
    """An idea in words: one text, or sections that are already apart."""

    title: str | None = Field(default=None, max_length=1_000)
    """Without one it is found in the text."""
    text: str | None = None
    sections: tuple[SectionBody, ...] | None = Field(default=None, min_length=1, max_length=200)

    @model_validator(mode="after")
    def _has_words_once(self) -> Self:
        if (self.text is None) == (self.sections is None):
            raise ValueError("Give either `text` or `sections`")
        return self


class EvaluationBody(Body):
    idea: IdeaBody
    source: str = Field(default="", max_length=200)
    """What the caller calls the idea: a file name, an id of their own."""
    method: str = Field(default=EvaluationRequest.model_fields["method"].default, max_length=100)
    cutoff: dt.date | None = None
    """Literature published after this day is not used."""
    limits: Limits = Limits()
    priority: Priority = "interactive"


class Links(Resource):
    """Paths of what belongs to an evaluation."""

    evaluation: str
    report: str
    events: str
    timeline: str


class Accepted(Resource):
    """The work is stored, and will end in exactly one verdict."""

    id: str
    state: JobState = "queued"
    links: Links


class Evaluation(Resource):
    id: str
    state: JobState
    title: str
    priority: Priority
    batch: str | None
    row: int | None
    """Of the batch's input, from 1."""
    attempt: int
    """How often it was begun."""
    waiting: str | None = None
    """Why it does not run yet; null in lists, and once it has begun."""
    problem: Problem | None
    """Why there is no report; null unless the state is failed or dead."""
    cost_usd: Dollars | None
    """Null while it is not known."""
    created_at: dt.datetime
    started_at: dt.datetime | None
    finished_at: dt.datetime | None
    links: Links


class Event(Resource):
    """`data` of one event of a stream; the stream's `id` is its number, the stream's `event` its kind."""

    number: int
    kind: str
    at: dt.datetime
    data: dict[str, Any]


class PageQuery(Body):
    limit: int = Field(default=50, ge=1, le=500)
    after: str | None = Field(default=None, max_length=200)
    """`next` of the page before."""


class EvaluationQuery(PageQuery):
    state: JobState | None = None
    batch: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_-]{1,64}$")


class CancelQuery(Body):
    erase: bool = False
    """Also delete it, with its report and its events. Takes the scope `manage`."""


class Page(Resource, Generic[T]):
    items: tuple[T, ...]
    next: str | None
    """Asks for the page after this one; null on the last."""


class Method(Resource):
    name: str
    summary: str


class Health(Resource):
    status: str
    checks: tuple[Check, ...] = ()


def links_of(job: str) -> Links:
    own = f"/v1/evaluations/{job}"
    return Links(evaluation=own, report=f"{own}/report", events=f"{own}/events", timeline=f"{own}/timeline")
