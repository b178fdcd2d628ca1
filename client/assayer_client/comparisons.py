"""Comparisons: which of two ideas is better."""

import datetime as dt
from typing import Literal

from assayer_client.evaluations import IdeaBody
from assayer_client.event_stream import EventStream
from assayer_client.reports import Blinding
from assayer_client.requests import ApiCall, path, reads
from assayer_client.resources import (
    TERMINAL,
    Absent,
    Body,
    Event,
    JobState,
    Limits,
    LivePriority,
    Page,
    Priority,
    Problem,
    PromptVersion,
    Resource,
)


class DimensionVerdict(Resource):
    dimension: str
    winner: Literal["first", "second", "tie"]
    reason: str


class JudgedBy(Resource):
    """What gave an answer. Digests tell whether the same would be asked again; what is None nobody knows."""

    model: str | None = None
    question: str | None = None
    """Of the prompt and of every respect that it asked about."""
    first_text: str | None = None
    """Of all that was shown of the first idea."""
    second_text: str | None = None


class Comparison(Resource):
    """One answer of a judge who was shown two ideas. Kept: a later ranking of more ideas starts from it."""

    first: str
    second: str
    verdicts: tuple[DimensionVerdict, ...]
    blinding_rules: int | None = None
    """Version of the rules that masked both ideas for the judge; None: they were shown as they came in."""
    with_evidence: bool = False
    """Whether the judge also saw what the ideas' reports had found."""
    judged_by: JudgedBy | None = None
    """None in comparisons that do not say."""


class NamedComparison(Comparison):
    """One of a ranking, for people and programs who know ideas by their own names."""

    first_reference: str = ""
    """The sender's own name for the idea, as `reference` of a ranked idea; empty where there is none."""
    second_reference: str = ""


class Outcome(Resource):
    """Which of two ideas is better in one respect."""

    dimension: str
    winner: Literal["first", "second", "tie"]
    """In the order of the request. A judge who changes sides with the order of the ideas has shown a tie."""
    agreed: bool | None
    """Whether both orders were judged alike; None when only one was asked, or answered."""


class ComparisonResult(Resource):
    kind: Literal["comparison"] = "comparison"
    first: str
    second: str
    dimension: str
    """The one that decides: its outcome is the comparison's."""
    outcomes: tuple[Outcome, ...]
    answers: tuple[Comparison, ...]
    """As the judge gave them, with reasons; fit to be handed to a ranking of these ideas. Empty: none was asked."""
    not_asked: Absent | None = None
    """Why no judge was asked: then every outcome is a tie, as the judge would have been shown the same text twice."""
    blind: bool | None = None
    """Whether names, affiliations and the like were masked for the judge; None in results that do not say."""
    blinding: tuple[Blinding, ...] = ()
    """What was masked in the first idea and in the second; empty where they were shown as they came in."""
    failed: int = 0
    """Orders that were asked and got no usable answer."""
    models: tuple[str, ...]
    prompts: tuple[PromptVersion, ...]
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | Absent


class ComparisonBody(Body):
    """Two ideas, each as its words or as a finished evaluation of one's own."""

    first: IdeaBody | None = None
    second: IdeaBody | None = None
    first_evaluation: str | None = None
    """In place of `first`: the idea of this evaluation, as it was judged."""
    second_evaluation: str | None = None
    """In place of `second`."""
    both_orders: bool = True
    """Also asked with the ideas in the other order, which shows a judge that prefers a place."""
    blind: bool | None = None
    """Mask names, affiliations, acknowledgements and the like before the judge sees the ideas; null: yes, unless the
    service is set otherwise."""
    limits: Limits = Limits()
    priority: LivePriority = "interactive"


class AcceptedComparison(Resource):
    """The comparison is stored, and will end in exactly one verdict."""

    id: str
    state: JobState = "queued"
    link: str


class ComparisonResource(Resource):
    id: str
    state: JobState
    title: str
    """Of both ideas."""
    flags: tuple[str, ...] = ()
    """What is suspicious in the texts, for people to look at."""
    priority: Priority
    attempt: int
    """How often it was begun."""
    problem: Problem | None
    """Why there is no result; null unless the state is failed or dead."""
    result: ComparisonResult | None
    """`outcomes` says which idea is better in each respect, `answers` why; null until the state is done."""
    cost_usd: float | None
    """Null while it is not known."""
    created_at: dt.datetime
    started_at: dt.datetime | None
    finished_at: dt.datetime | None
    link: str


def compare(body: ComparisonBody, *, key: str | None = None) -> ApiCall[AcceptedComparison]:
    """Asks which of two ideas is better."""
    return ApiCall("POST", path("comparisons"), reads(AcceptedComparison), body=body, key=key)


def comparison(job: str) -> ApiCall[ComparisonResource]:
    """Where it stands, with its result once it is done."""
    return ApiCall("GET", path("comparisons", job), reads(ComparisonResource))


def comparisons(*, after: str | None = None, limit: int = 50) -> ApiCall[Page[ComparisonResource]]:
    """One's own, the newest first."""
    return ApiCall("GET", path("comparisons"), reads(Page[ComparisonResource]), query={"after": after, "limit": limit})


def cancel_comparison(job: str) -> ApiCall[ComparisonResource]:
    return ApiCall("DELETE", path("comparisons", job), reads(ComparisonResource))


def comparison_events(job: str) -> EventStream[Event]:
    return EventStream(path("comparisons", job, "events"), Event, lambda event: event.kind in TERMINAL)


def has_ended(found: ComparisonResource) -> bool:
    return found.state in TERMINAL
