"""What can be said of a plan from its own text alone: what it does not state, and what a careful reader doubts."""

from collections import Counter
from typing import Literal, NamedTuple

from assayer.models.assessment import Label
from assayer.models.base import Absent, Frozen

__all__ = [
    "Certainty",
    "ChecklistItem",
    "ChecklistRow",
    "FlawAspect",
    "MissingComparator",
    "NearPaper",
    "PlanFlaw",
    "PlanQuote",
    "PlanReview",
    "RowCounts",
]

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
"""`certain`: the plan's own text shows it. `likely`: what plans of this kind usually meet. `possible`: it hangs on what
the plan does not say."""


class ChecklistRow(Frozen):
    """Whether a plan states one thing that plans of its kind should. No judgement of what it states."""

    item: ChecklistItem
    outcome: Literal["stated", "not_stated", "not_applicable"]
    """`not_stated`: no wording for it was recognised. The plan may mean it all the same."""
    quote: str = ""
    """The plan's words that were taken for it; empty unless stated."""
    reason: str = ""
    """Why it does not apply; empty where it does."""


class RowCounts(NamedTuple):
    stated: int
    not_stated: int
    not_applicable: int


class PlanQuote(Frozen):
    """Words of the plan that a point is about."""

    quote: str
    state: Literal["verified", "not_found"]
    """`verified`: cut from the plan. `not_found`: they are not in it, or `objection` says why they are no quote."""
    objection: str | None = None
    """Why words that do stand in the plan are not verified: cut from under a negation, glued, too short."""


class PlanFlaw(Frozen):
    """A language model's own judgement, made without literature."""

    aspect: FlawAspect
    text: str
    """What is wrong, and what cannot be concluded for it."""
    change: str
    """The least change to the plan that would mend it; empty where none was named."""
    certainty: Certainty
    quote: PlanQuote
    numbers_not_found: tuple[str, ...] = ()
    """Numbers of the text, as written there, that are not in the plan."""


class NearPaper(Frozen):
    """A paper that may hold what a plan does not compare with. Nobody has read it for this."""

    label: Label
    similarity: float
    """Cosine of the paper with the description of the comparator."""


class MissingComparator(Frozen):
    """Something that the plan should be compared with and is not, as a language model judged it."""

    text: str
    """What it is, in general words."""
    purpose: str
    """What the comparison would settle."""
    quote: PlanQuote
    papers: tuple[NearPaper, ...] | Absent
    """The nearest first."""


class PlanReview(Frozen):
    """Adds to no score and counts as no evidence."""

    checklist: tuple[ChecklistRow, ...] | Absent
    flaws: tuple[PlanFlaw, ...] | Absent
    """The most harmful first."""
    comparators: tuple[MissingComparator, ...] = ()

    @property
    def counts(self) -> RowCounts:
        outcomes: Counter[str] = Counter(
            () if isinstance(self.checklist, Absent) else (row.outcome for row in self.checklist)
        )
        return RowCounts(*(outcomes[one] for one in RowCounts._fields))
