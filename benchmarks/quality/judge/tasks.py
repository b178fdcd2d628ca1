"""Model tasks about plans and reviews: planting a flaw, checking it, comparing reviews."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import Field

from assayer.citing.answer_texts import TextRole
from assayer.citing.labels import check_each_once
from assayer.llm import Task
from assayer.models import Axis, Frozen
from assayer.prompts import Prompts

FlawName = Literal[
    "no_controls",
    "leak",
    "small_sample",
    "no_baseline",
    "known_as_new",
    "wrong_metric",
    "confound",
    "no_statistics",
    "no_approval",
    "infeasible",
    "causal_claim",
    "circular",
]
_MAX_CHANGED_SHARE = 0.35
"""Share of a plan above which edits count as rewriting it instead of planting a flaw."""


class FlawKind(NamedTuple):
    axis: Axis
    """Score that the flaw should lower."""
    description: str


FLAW_KINDS: dict[FlawName, FlawKind] = {
    "no_controls": FlawKind("soundness", "the control or comparison condition is dropped"),
    "leak": FlawKind("soundness", "what is tested on is also trained, tuned or selected on"),
    "small_sample": FlawKind("soundness", "the sample is cut to a size from which nothing could be concluded"),
    "no_baseline": FlawKind("soundness", "the strongest or simplest rival is left out of the comparison"),
    "known_as_new": FlawKind(
        "contribution", "a long established method, finding or resource is claimed as this plan's invention"
    ),
    "wrong_metric": FlawKind("soundness", "the measure is exchanged for one that cannot show what is claimed"),
    "confound": FlawKind("soundness", "the compared groups also differ in something else that could explain it"),
    "no_statistics": FlawKind(
        "soundness", "the test, interval, repetition or correction for many comparisons is removed"
    ),
    "no_approval": FlawKind(
        "soundness", "people, animals or private data are used, and consent, approval or protection is dropped"
    ),
    "infeasible": FlawKind("soundness", "the means stated (time, money, staff, data, machines) cannot carry the work"),
    "causal_claim": FlawKind("soundness", "a cause is claimed from a design that shows an association only"),
    "circular": FlawKind("soundness", "the result is judged by what produced it, or by labels derived from it"),
}
"""Kinds of flaws that can be planted."""


class Edit(Frozen):
    quote: Annotated[str, TextRole.COPIED] = Field(description="Passage of the plan, copied exactly, to be replaced.")
    replacement: Annotated[str, TextRole.COPIED] = Field(description="At most 80 words; empty if it is removed.")


class OfferedKind(Frozen):
    name: FlawName
    description: str


class FlawQuestion(Frozen):
    plan: str
    kinds: tuple[OfferedKind, ...]


class PlantedFlaw(Frozen):
    edits: list[Edit] = Field(min_length=1, max_length=8)
    statement: Annotated[str, TextRole.RESTATES] = Field(description="At most 40 words: the flaw of the copy.")
    kind: FlawName


class FlawCheckQuestion(Frozen):
    plan: str
    edits: tuple[Edit, ...]
    statement: str


class FlawCheckAnswer(Frozen):
    reason: Annotated[str, TextRole.RESTATES] = Field(description="At most 60 words.")
    is_there: bool
    is_new: bool
    nothing_else: bool

    @property
    def passed(self) -> bool:
        return self.is_there and self.is_new and self.nothing_else


class ShownReview(Frozen):
    label: str
    text: str


class ComparisonQuestion(Frozen):
    plan: str
    reviews: tuple[ShownReview, ...]


class WrongStatement(Frozen):
    quote: Annotated[str, TextRole.COPIED] = Field(description="At most 25 words of the review, copied exactly.")
    why: Annotated[str, TextRole.RESTATES] = Field(description="At most 20 words.")


class ReviewVerdict(Frozen):
    label: str = Field(pattern=r"^R[1-9]$", description="Label of the review, as R1.")
    wrong: list[WrongStatement] = Field(max_length=12)
    readability: int = Field(ge=1, le=7, strict=True)
    author_rank: int = Field(ge=1, le=9, strict=True)
    officer_rank: int = Field(ge=1, le=9, strict=True)


class ComparisonAnswer(Frozen):
    reviews: list[ReviewVerdict]


def apply_edits(plan: str, edits: Sequence[Edit]) -> str:
    """Return the plan with the edits applied. Raises ValueError if a passage does not occur in it exactly once."""
    for number, edit in enumerate(edits, start=1):
        if not edit.quote or plan.count(edit.quote) != 1:
            raise ValueError(f"`quote` of edit {number} occurs {plan.count(edit.quote)} times in the plan, not once.")
        plan = plan.replace(edit.quote, edit.replacement)
    return plan


def _check_flaw(question: FlawQuestion, answer: PlantedFlaw) -> list[str]:
    try:
        copy = apply_edits(question.plan, answer.edits)
    except ValueError as error:
        return [f"{error} Copy it exactly, line breaks included."]
    if copy == question.plan:
        return ["The edits change nothing."]
    changed_chars = sum(max(len(edit.quote), len(edit.replacement)) for edit in answer.edits)
    return (
        ["The edits rewrite the plan: change less."] if changed_chars > _MAX_CHANGED_SHARE * len(question.plan) else []
    )


def _check_comparison(question: ComparisonQuestion, answer: ComparisonAnswer) -> list[str]:
    shown_labels = [review.label for review in question.reviews]
    return check_each_once(shown_labels, (review.label for review in answer.reviews), "review")


def _build_task(name: str, prompt: str, output: type[Any], max_tokens: int, check: Any) -> Task[Any, Any]:
    return Task(
        f"quality.{name}", Prompts("benchmarks.quality.judge"), prompt, output, "judge", None, max_tokens, check
    )


FLAW: Task[FlawQuestion, PlantedFlaw] = _build_task("flaw", "flaw.v1.md", PlantedFlaw, 3_000, _check_flaw)
FLAW_CHECK: Task[FlawCheckQuestion, FlawCheckAnswer] = _build_task(
    "flaw_check", "flaw_check.v1.md", FlawCheckAnswer, 800, lambda question, answer: ()
)
COMPARISON: Task[ComparisonQuestion, ComparisonAnswer] = _build_task(
    "comparison", "comparison.v1.md", ComparisonAnswer, 3_000, _check_comparison
)


def list_offered_kinds(first_kind: int) -> tuple[OfferedKind, ...]:
    """Return all kinds of flaws, starting with kind number `first_kind`, so that each comes first equally often."""
    names: tuple[FlawName, ...] = get_args(FlawName)
    start = first_kind % len(names)
    return tuple(
        OfferedKind(name=name, description=FLAW_KINDS[name].description) for name in (*names[start:], *names[:start])
    )
