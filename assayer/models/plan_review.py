"""Review of a plan based on its text alone: a careful reader's doubts, and the items that its wording does not
state."""

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
"""Certainty of a flaw. `certain`: the plan's own text shows it. `likely`: it is common in plans of this kind.
`possible`: it depends on facts that the plan does not state."""


class ChecklistRow(Frozen):
    """Result of checking whether a plan states an item that plans of its kind should state. What the plan states about
    it is not judged."""

    item: ChecklistItem
    outcome: Literal["stated", "not_stated", "not_applicable"]
    """Outcome of the check. `not_stated`: no wording for the item was recognised, although the plan may still state it
    in other words."""
    quote: str = ""
    """Words in the plan that were recognised as stating the item; empty unless stated."""
    reason: str = ""
    """Reason why the item does not apply; empty if it applies."""


class PlanQuote(Frozen):
    """Quote from the plan that a point is about."""

    quote: str
    state: Literal["verified", "not_found"]
    """Whether the quote was verified. `verified`: copied from the plan. `not_found`: not in the plan, or rejected for
    the reason in `objection`."""
    objection: str | None = None
    """Reason why a quote was rejected although its words appear in the plan: it leaves out a negation, joins words from
    separate places, or is too short."""


class PlanFlaw(Frozen):
    """Flaw that a language model found in the plan without using literature."""

    aspect: FlawAspect
    text: str
    """Description of the flaw, and of the conclusions that it makes impossible."""
    change: str
    """Smallest change to the plan that would fix the flaw; empty if none was named."""
    certainty: Certainty
    quote: PlanQuote
    numbers_not_found: tuple[str, ...] = ()
    """Numbers in the text, as written there, that do not appear in the plan."""


class NearPaper(Frozen):
    """Paper that may contain a comparison missing from the plan: it is similar to the comparator's description, but its
    text was not checked for such a comparison."""

    label: Label
    similarity: float
    """Cosine similarity between the paper and the comparator's description."""


class MissingComparator(Frozen):
    """Comparator that the plan lacks, according to a language model."""

    text: str
    """General description of the comparator."""
    purpose: str
    """Question that the comparison would settle."""
    quote: PlanQuote
    papers: tuple[NearPaper, ...] | Absent
    """Papers near the comparator's description, nearest first."""


class PlanReview(Frozen):
    """Review of a plan without literature; it affects no score and does not count as evidence."""

    flaws: tuple[PlanFlaw, ...] | Absent
    """Flaws, most harmful first."""
    comparators: tuple[MissingComparator, ...] = ()
