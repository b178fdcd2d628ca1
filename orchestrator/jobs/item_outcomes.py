"""Outcomes of the items of a job, and their totals.

An item ends in a result, in which unavailable parts are absent with a reason, or in a problem of its own."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from assayer.models import Absent, Frozen, PromptVersion
from assayer.models.base import Dollars
from assayer.models.curation import CuratedPaper, IdeaScores, Proposal
from assayer.models.reward import Reward
from orchestrator.jobs.models import Problem

FREE: Mapping[str, float] = {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}
"""Usage and cost of an item whose outcome is that of an earlier item."""


class ItemOutcome(Frozen):
    result_field: ClassVar[str]
    """Name of the field with the result."""
    item: int = Field(ge=0)
    """Position of the item in the request, from 0."""
    id: str = ""
    """Caller's name for the item."""
    problem: Problem | None = None
    """Why there is no result."""
    same_as: int | None = None
    """Index of an earlier item with the same text, whose outcome is reused at no further cost."""
    seconds: float = Field(default=0.0, ge=0)
    """Seconds from the start to the end of the item's work."""

    @model_validator(mode="after")
    def _ends_in_one(self) -> Self:
        if (getattr(self, self.result_field) is None) == (self.problem is None):
            raise ValueError(f"an item ends in a {self.result_field} or in a problem")
        return self

    def repeated(self, item: int, name: str) -> Self:
        """Return the outcome of a later item with the same text."""
        return self.model_copy(update={"item": item, "id": name, "same_as": self.item, "seconds": 0.0})


class PaidOutcome(ItemOutcome):
    """Outcome with the usage and cost of this item alone."""

    calls: int = 0
    """Number of answers received, including cached answers."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: Dollars | Absent = 0.0
    """Cost in US dollars; cached answers are free."""
    models: tuple[str, ...] = ()
    """Models that answered, sorted."""
    prompts: tuple[PromptVersion, ...] = ()

    @property
    def ended_as(self) -> Literal["done", "absent", "problem"]:
        raise NotImplementedError

    def repeated(self, item: int, name: str) -> Self:
        return super().repeated(item, name).model_copy(update=FREE)


class CurationOutcome(PaidOutcome):
    """Outcome of a paper."""

    result_field = "paper"

    paper: CuratedPaper | None = None
    """Kind and question of the paper; each is absent, with its reason, if it has none."""

    @property
    def ended_as(self) -> Literal["done", "absent", "problem"]:
        if self.paper is None:
            return "problem"
        return "absent" if isinstance(self.paper.kind, Absent) else "done"


class ProposalOutcome(PaidOutcome):
    """Outcome of a research question."""

    result_field = "proposal"

    proposal: Proposal | None = None

    @property
    def ended_as(self) -> Literal["done", "absent", "problem"]:
        if self.proposal is None:
            return "problem"
        return "done" if self.proposal.candidates else "absent"


class ScoreOutcome(PaidOutcome):
    """Outcome of an idea."""

    result_field = "scores"

    scores: IdeaScores | None = None

    @property
    def ended_as(self) -> Literal["done", "absent", "problem"]:
        if self.scores is None:
            return "problem"
        return "absent" if all(isinstance(score.score, Absent) for score in self.scores.scores) else "done"


def total_usage(paid: Sequence[PaidOutcome | Reward]) -> dict[str, Any]:
    """Return the total calls, tokens and cost; the cost is absent if that of any item is."""
    unknown = next((item.cost_usd for item in paid if isinstance(item.cost_usd, Absent)), None)
    known = sum(item.cost_usd for item in paid if not isinstance(item.cost_usd, Absent))
    return {
        "calls": sum(item.calls for item in paid),
        "prompt_tokens": sum(item.prompt_tokens for item in paid),
        "completion_tokens": sum(item.completion_tokens for item in paid),
        "cost_usd": round(known, 6) if unknown is None else unknown,
    }


class ItemsResult(Frozen):
    """Counts of the items of a curation, a proposal or scores by outcome; the outcome of each item is stored
    separately."""

    kind: Literal["curation", "proposal", "score"]
    items: int
    done: int
    """Number of papers whose kind is known, of questions with a candidate, or of ideas with a score."""
    absent: int
    """Number of items for which the model gave no usable answer; the outcome states the reason."""
    problem: int
    repeated: int
    """Number of items with the text of an earlier item; each also counts by the outcome of that item."""
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Dollars | Absent

    @classmethod
    def of(cls, kind: Literal["curation", "proposal", "score"], outcomes: Sequence[PaidOutcome]) -> "ItemsResult":
        ended = [outcome.ended_as for outcome in outcomes]
        return cls(
            kind=kind,
            items=len(outcomes),
            done=ended.count("done"),
            absent=ended.count("absent"),
            problem=ended.count("problem"),
            repeated=sum(outcome.same_as is not None for outcome in outcomes),
            **total_usage(outcomes),
        )
