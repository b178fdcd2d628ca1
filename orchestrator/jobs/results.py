"""Results of jobs: the `result` of all kinds except evaluations, whose report is stored with their run. The outcome of
each item of a job with many items is stored in its own row.

The code that performs a job dumps one of these (`model_dump(mode="json")`); the code that reads it validates it as
`JobResult`."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from assayer.models import Absent, Blinding, Frozen, IdeaId, PromptVersion
from assayer.models.base import Dollars
from assayer.models.ranking import Comparison, Ranking
from assayer.models.reward import Reward
from orchestrator.jobs.item_outcomes import FREE, ItemOutcome, ItemsResult, total_usage

_OTHER: dict[str, Literal["first", "second", "tie"]] = {"first": "second", "second": "first", "tie": "tie"}


class Outcome(Frozen):
    """Which of two ideas is better on one dimension."""

    dimension: str
    winner: Literal["first", "second", "tie"]
    """Winner, in the order of the request; a tie if the judge's verdict changes with the order of the ideas."""
    agreed: bool | None
    """Whether both orders gave the same verdict; None when only one order was asked or answered."""


class ComparisonResult(Frozen):
    kind: Literal["comparison"] = "comparison"
    first: IdeaId
    second: IdeaId
    dimension: str
    """Dimension that decides the comparison: its outcome is the comparison's outcome."""
    outcomes: tuple[Outcome, ...]
    answers: tuple[Comparison, ...]
    """Judge's answers with reasons, usable as input of a ranking of these ideas; empty if the judge was not asked."""
    not_asked: Absent | None = None
    """Reason why no judge was asked, in which case every outcome is a tie: the judge would have been shown the same
    text twice."""
    blind: bool | None = None
    """Whether names, affiliations and similar details were masked for the judge; None in results that do not record
    it."""
    blinding: tuple[Blinding, ...] = ()
    """Masked content of the first idea and of the second; empty if they were shown as submitted."""
    failed: int = 0
    """Number of orders that were asked but got no usable answer."""
    models: tuple[str, ...]
    prompts: tuple[PromptVersion, ...]
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Dollars | Absent

    @model_validator(mode="after")
    def _rests_on_something(self) -> Self:
        if not self.answers and self.not_asked is None:
            raise ValueError("a comparison without an answer says why none was asked for")
        return self


class RankingResult(Frozen):
    kind: Literal["ranking"] = "ranking"
    ranking: Ranking
    comparisons: tuple[Comparison, ...]
    """All comparisons on which the ranking is based, including those submitted with the request."""


class RewardOutcome(ItemOutcome):
    """Outcome of an item: a reward, or a problem that states why there is none."""

    result_field = "reward"

    reward: Reward | None = None
    """Reward of the item; if the judge failed, its value is absent with the reason."""

    def repeated(self, item: int, name: str) -> Self:
        reward = None if self.reward is None else self.reward.model_copy(update=FREE)
        return super().repeated(item, name).model_copy(update={"reward": reward})

    @property
    def ended_as(self) -> Literal["match", "no_match", "absent", "guard", "problem"]:
        if self.reward is None:
            return "problem"
        if self.reward.guard is not None:
            return "guard"
        if isinstance(self.reward.value, Absent):
            return "absent"
        return "match" if self.reward.value else "no_match"


class RewardsResult(Frozen):
    """Counts of the items by outcome; the outcome of each item is stored separately."""

    kind: Literal["rewards"] = "rewards"
    judge: str
    items: int
    match: int
    no_match: int
    guard: int
    """Number of items stopped by the guard before any model call."""
    absent: int
    """Number of items without a reward because the judge failed."""
    problem: int
    repeated: int
    """Number of items with the text of an earlier item."""
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Dollars | Absent

    @classmethod
    def of(cls, judge: str, outcomes: Sequence[RewardOutcome]) -> "RewardsResult":
        ended = Counter(outcome.ended_as for outcome in outcomes)
        rewards = [outcome.reward for outcome in outcomes if outcome.reward is not None]
        return cls(
            judge=judge,
            items=len(outcomes),
            match=ended["match"],
            no_match=ended["no_match"],
            guard=ended["guard"],
            absent=ended["absent"],
            problem=ended["problem"],
            repeated=sum(outcome.same_as is not None for outcome in outcomes),
            **total_usage(rewards),
        )


JobResult: TypeAlias = Annotated[
    ComparisonResult | RankingResult | RewardsResult | ItemsResult, Field(discriminator="kind")
]


def outcomes_of(first: IdeaId, answers: Sequence[Comparison]) -> tuple[Outcome, ...]:
    """Return an outcome for each dimension, from one answer or from one answer in each order, relative to the idea
    `first`."""
    seen: dict[str, list[Literal["first", "second", "tie"]]] = {}
    for answer in answers:
        for verdict in answer.verdicts:
            winner = verdict.winner if answer.first == first else _OTHER[verdict.winner]
            seen.setdefault(verdict.dimension, []).append(winner)
    return tuple(
        Outcome(
            dimension=dimension,
            winner=winners[0] if len(set(winners)) == 1 else "tie",
            agreed=len(set(winners)) == 1 if len(winners) > 1 else None,
        )
        for dimension, winners in seen.items()
    )
