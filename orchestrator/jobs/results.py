"""What jobs come to: the `result` of all kinds but evaluations, whose report lies with their run. What became of each
item of a job that has many lies in a row of its own.

Whoever performs a job dumps one of these (`model_dump(mode="json")`); whoever reads it validates it as `JobResult`.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from assayer.models import Absent, Blinding, Frozen, IdeaId, PromptVersion
from assayer.models.base import Dollars
from assayer.models.ranking import Comparison, Ranking
from assayer.models.reward import Reward
from orchestrator.jobs.item_outcomes import ItemOutcome, ItemsResult

__all__ = [
    "ComparisonResult",
    "JobResult",
    "Outcome",
    "RankingResult",
    "RewardOutcome",
    "RewardsResult",
    "outcomes_of",
]

_OTHER: dict[str, Literal["first", "second", "tie"]] = {"first": "second", "second": "first", "tie": "tie"}


class Outcome(Frozen):
    """Which of two ideas is better in one respect."""

    dimension: str
    winner: Literal["first", "second", "tie"]
    """In the order of the request. A judge who changes sides with the order of the ideas has shown a tie."""
    agreed: bool | None
    """Whether both orders were judged alike; None when only one was asked, or answered."""


class ComparisonResult(Frozen):
    kind: Literal["comparison"] = "comparison"
    first: IdeaId
    second: IdeaId
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
    """All that it rests on, those handed in included."""


class RewardOutcome(ItemOutcome):
    """What became of one item: a reward, or a problem that says why there is none."""

    reward: Reward | None = None
    """A judge that failed leaves its value absent, with the reason."""

    @model_validator(mode="after")
    def _ends_in_one(self) -> Self:
        if (self.reward is None) == (self.problem is None):
            raise ValueError("an item ends in a reward or in a problem")
        return self

    def repeated(self, item: int, name: str) -> Self:
        free = {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}
        reward = None if self.reward is None else self.reward.model_copy(update=free)
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
    """How many of the items ended how; each has its own outcome beside it."""

    kind: Literal["rewards"] = "rewards"
    judge: str
    items: int
    match: int
    no_match: int
    guard: int
    """Stopped before any call to a model."""
    absent: int
    """The judge failed: no reward."""
    problem: int
    repeated: int
    """Had the words of an earlier item."""
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Dollars | Absent

    @classmethod
    def of(cls, judge: str, outcomes: Sequence[RewardOutcome]) -> "RewardsResult":
        ended = Counter(one.ended_as for one in outcomes)
        rewards = [one.reward for one in outcomes if one.reward is not None]
        unknown = next((one.cost_usd for one in rewards if isinstance(one.cost_usd, Absent)), None)
        paid = sum(one.cost_usd for one in rewards if not isinstance(one.cost_usd, Absent))
        return cls(
            judge=judge,
            items=len(outcomes),
            match=ended["match"],
            no_match=ended["no_match"],
            guard=ended["guard"],
            absent=ended["absent"],
            problem=ended["problem"],
            repeated=sum(one.same_as is not None for one in outcomes),
            calls=sum(one.calls for one in rewards),
            prompt_tokens=sum(one.prompt_tokens for one in rewards),
            completion_tokens=sum(one.completion_tokens for one in rewards),
            cost_usd=round(paid, 6) if unknown is None else unknown,
        )


JobResult: TypeAlias = Annotated[
    ComparisonResult | RankingResult | RewardsResult | ItemsResult, Field(discriminator="kind")
]


def outcomes_of(first: IdeaId, answers: Sequence[Comparison]) -> tuple[Outcome, ...]:
    """One a dimension, from one answer or from one in each order, seen from the idea `first`."""
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
