"""Review of a plan based on its text alone: what a careful reader doubts, and what its wording does not state."""

from typing import Literal

from assayer.models.base import Frozen
from assayer_client.points import Label
from assayer_client.resources import Absent

ChecklistItem = Literal[
    "sample_size",
    "comparator",
    "measure",
    "uncertainty",
    "sharing",
    "ethics",
    "resources",
    "timeline",
    "risks",
]
FlawAspect = Literal["scope", "controls", "baselines", "statistics", "measurement", "feasibility", "claim"]
Certainty = Literal["certain", "likely", "possible"]
"""Certainty of a flaw. `certain`: the plan's own text shows it. `likely`: common in plans of this kind. `possible`:
depends on facts that the plan does not state."""


class ChecklistRow(Frozen):
    """Whether a plan states an item that plans of its kind should state. The content of the statement is not judged."""

    item: ChecklistItem
    outcome: Literal["stated", "not_stated", "not_applicable"]
    """Outcome of the check. `not_stated`: no wording for the item was recognised, although the plan may still mean
    it."""
    quote: str = ""
    """Words of the plan that were taken as the statement; empty unless stated."""
    reason: str = ""
    """Why the item does not apply; empty if it does."""


class PlanQuote(Frozen):
    """Quote of the plan that a point is about."""

    quote: str
    state: Literal["verified", "not_found"]
    """State of the quote. `verified`: cut from the plan. `not_found`: not in the plan, or `objection` says why the
    words do not count as a quote."""
    objection: str | None = None
    """Why words that appear in the plan are not verified: cut out of a negation, joined from separate places, or
    too short."""


class PlanFlaw(Frozen):
    """Flaw that a language model found without using literature."""

    aspect: FlawAspect
    text: str
    """Description of the flaw, and of what cannot be concluded because of it."""
    change: str
    """Smallest change to the plan that would fix the flaw; empty if none was named."""
    certainty: Certainty
    quote: PlanQuote
    numbers_not_found: tuple[str, ...] = ()
    """Numbers in the text, as written there, that do not appear in the plan."""


class NearPaper(Frozen):
    """Paper that may contain a comparison that the plan lacks. It was not read for this purpose."""

    label: Label
    similarity: float
    """Cosine similarity of the paper to the description of the comparator."""


class MissingComparator(Frozen):
    """Comparator that the plan lacks, according to a language model."""

    text: str
    """General description of the comparator."""
    purpose: str
    """Question that the comparison would settle."""
    quote: PlanQuote
    papers: tuple[NearPaper, ...] | Absent
    """The nearest first."""


class PlanReview(Frozen):
    """Review of a plan without literature; it affects no score and does not count as evidence."""

    flaws: tuple[PlanFlaw, ...] | Absent
    """The most harmful first."""
    comparators: tuple[MissingComparator, ...] = ()
