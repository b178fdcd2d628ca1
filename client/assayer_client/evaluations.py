"""Evaluations: one idea in, one report out."""

import datetime as dt
from typing import Literal, Self

from pydantic import model_validator

from assayer_client.event_stream import EventStream
from assayer_client.reports import Report, Timeline
from assayer_client.requests import ApiCall, path, reads, reads_nothing, reads_text, reads_text_of
from assayer_client.resources import TERMINAL, Body, Event, JobState, Limits, Page, Priority, Problem, Resource


class SectionBody(Body):
    title: str
    text: str


class IdeaBody(Body):
    """An idea in words: one text, or sections that are already apart."""

    title: str | None = None
    """Without one it is found in the text."""
    text: str | None = None
    sections: tuple[SectionBody, ...] | None = None

    @model_validator(mode="after")
    def _has_words_once(self) -> Self:
        if (self.text is None) == (self.sections is None):
            raise ValueError("Give either `text` or `sections`")
        return self


class EvaluationBody(Body):
    idea: IdeaBody
    source: str = ""
    """What the caller calls the idea: a file name, an id of their own."""
    method: str = "scholareval"
    cutoff: dt.date | None = None
    """Literature published after this day is not used."""
    blind: bool | None = None
    """Judge without names, affiliations and the like; null: what the service's settings say."""
    board: int | None = None
    """Of InnoEval: how many reviewers sit on the board; 0 is the control without personas, null what the service's
    settings say."""
    board_models: tuple[str, ...] = ()
    """Of InnoEval: models among which the reviewers are dealt, of those that the service permits (`methods`)."""
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


class ScoredPart(Resource):
    """One part of a report: soundness, contribution, …"""

    name: str
    title: str
    score: float | None
    """Null where there is none, which is not a low score."""
    scale_max: float | None
    certainty: Literal["low", "moderate", "high"] | None
    reason: str | None
    """Why there is no score."""


class EvaluationScores(Resource):
    """The figures of a report, as the table of a call shows them."""

    score: float | None
    """All parts together, 0 to 100. Null where there is none, which is not a low score."""
    reason: str | None
    """Why there is no score: that the corpus does not cover the field, for instance."""
    certainty: Literal["low", "moderate", "high"] | None
    """The least of the parts'."""
    corpus_fit: Literal["good", "partial", "poor"] | None
    """Whether the corpus covers the proposal's field."""
    complete: bool
    """Every part has a score, and nothing cut it short."""
    parts: tuple[ScoredPart, ...]
    notices: tuple[str, ...]
    """Kinds of the report's notices: `budget`, `corpus_fit`, …"""


class Evaluation(Resource):
    id: str
    state: JobState
    title: str
    source: str
    """The sender's name for the idea, with the id that its row holds: `proposals.csv:7 (A-2026-0007)`; or empty."""
    reference: str = ""
    """The sender's own name alone, to join results by: the id of a row, a file's name; empty where there is none."""
    flags: tuple[str, ...] = ()
    """What is suspicious in the texts, for people to look at."""
    priority: Priority
    batch: str | None
    row: int | None
    """Of the batch's input, from 1."""
    attempt: int
    """How often it was begun."""
    scores: EvaluationScores | None = None
    """What its report says in figures; null until there is one."""
    waiting: str | None = None
    """Why it does not run yet; null in lists, and once it has begun."""
    problem: Problem | None
    """Why there is no report; null unless the state is failed or dead."""
    cost_usd: float | None
    """Null while it is not known."""
    created_at: dt.datetime
    started_at: dt.datetime | None
    finished_at: dt.datetime | None
    links: Links


class Method(Resource):
    name: str
    summary: str
    board_models: tuple[str, ...] = ()
    """Of InnoEval: models that a request may name for its boards."""


def submit(body: EvaluationBody, *, key: str | None = None) -> ApiCall[Accepted]:
    """Asks for an evaluation; it is stored when this returns. The same `key` asks for the same again."""
    return ApiCall("POST", path("evaluations"), reads(Accepted), body=body, key=key)


def evaluation(job: str) -> ApiCall[Evaluation]:
    """Where it stands."""
    return ApiCall("GET", path("evaluations", job), reads(Evaluation))


def evaluations(
    *,
    state: JobState | None = None,
    batch: str | None = None,
    source: str | None = None,
    reference: str | None = None,
    after: str | None = None,
    limit: int = 50,
) -> ApiCall[Page[Evaluation]]:
    """One's own, the newest first; `after` is `next` of the page before, `source` the sender's name: all of it, the id
    of a row, or a file's name; `reference` that name alone, to the letter."""
    query = {"state": state, "batch": batch, "source": source, "reference": reference, "after": after, "limit": limit}
    return ApiCall("GET", path("evaluations"), reads(Page[Evaluation]), query=query)


def report(job: str) -> ApiCall[Report]:
    """Raises ApiProblem (409) saying why when there is none."""
    return ApiCall("GET", path("evaluations", job, "report"), reads(Report))


def report_text(job: str, media_type: str = "text/markdown") -> ApiCall[str]:
    """As `text/markdown`, `text/html` or `application/json`, to the letter."""
    return ApiCall("GET", path("evaluations", job, "report"), reads_text_of(media_type), headers={"Accept": media_type})


def graph_text(job: str, format: Literal["json", "graphml"] = "graphml") -> ApiCall[str]:
    """The graph of a report of SciCompanion, with the references that its labels stand for."""
    return ApiCall("GET", path("evaluations", job, "graph"), reads_text, query={"format": format})


def timeline(job: str) -> ApiCall[Timeline]:
    """What ran when."""
    return ApiCall("GET", path("evaluations", job, "timeline"), reads(Timeline))


def cancel(job: str) -> ApiCall[Evaluation]:
    """Nothing more is spent on it. What has ended stays as it is."""
    return ApiCall("DELETE", path("evaluations", job), reads(Evaluation))


def retry(job: str) -> ApiCall[Evaluation]:
    """What failed, was given up or was cancelled is evaluated again under the same id."""
    return ApiCall("POST", path("evaluations", job, "retry"), reads(Evaluation))


def erase(job: str) -> ApiCall[None]:
    """Cancels it and deletes it with its report and its events. Takes the scope `manage`."""
    return ApiCall("DELETE", path("evaluations", job), reads_nothing, query={"erase": "true"})


def methods() -> ApiCall[Page[Method]]:
    return ApiCall("GET", path("methods"), reads(Page[Method]))


def events(job: str) -> EventStream[Event]:
    return EventStream(path("evaluations", job, "events"), Event, lambda event: event.kind in TERMINAL)


def has_ended(found: Evaluation) -> bool:
    return found.state in TERMINAL
