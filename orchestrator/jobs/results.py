"""Results of jobs: the `result` of all kinds except evaluations, whose report is stored with their run. The outcome of
each item of a job with many items is stored in its own row.

The code that performs a job dumps one of these (`model_dump(mode="json")`); the code that reads it validates it as
`JobResult`."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from assayer.models import Absent, Frozen, IdeaId
from assayer_client import comparisons, rewards
from assayer_client.comparisons import Comparison, Outcome, Winner
from assayer_client.rankings import Ranking
from orchestrator.jobs.item_outcomes import FREE, ItemOutcome, ItemsResult, totals

__all__ = [
    "ComparisonResult",
    "JobResult",
    "RankingResult",
    "RewardOutcome",
    "RewardsResult",
    "outcomes_of",
]

_OTHER: dict[Winner, Winner] = {"first": "second", "second": "first", "tie": "tie"}


class ComparisonResult(comparisons.ComparisonResult):
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


class RewardOutcome(ItemOutcome, rewards.RewardOutcome):
    result_field = "reward"

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


class RewardsResult(rewards.RewardsResult):
    @classmethod
    def of(cls, judge: str, outcomes: Sequence[RewardOutcome]) -> "RewardsResult":
        ended = Counter(outcome.ended_as for outcome in outcomes)
        return cls(
            judge=judge,
            match=ended["match"],
            no_match=ended["no_match"],
            guard=ended["guard"],
            absent=ended["absent"],
            problem=ended["problem"],
            **totals(outcomes, [outcome.reward for outcome in outcomes if outcome.reward is not None]),
        )


JobResult: TypeAlias = Annotated[
    ComparisonResult | RankingResult | RewardsResult | ItemsResult, Field(discriminator="kind")
]


def outcomes_of(first: IdeaId, answers: Sequence[Comparison]) -> tuple[Outcome, ...]:
    """Return an outcome for each dimension, from one answer or from one answer in each order, relative to the idea
    `first`."""
    seen: dict[str, list[Winner]] = {}
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
