"""What a comparison and a ranking come to: the `result` of their job. An evaluation's report lies with its run.

Whoever performs a job dumps one of these (`model_dump(mode="json")`); whoever reads it validates it as `JobResult`.
"""

from collections.abc import Sequence
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from assayer.models import Absent, Blinding, Frozen, IdeaId, PromptVersion
from assayer.models.base import Dollars
from assayer.models.ranking import Comparison, Ranking

__all__ = ["ComparisonResult", "JobResult", "Outcome", "RankingResult", "outcomes_of"]

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


JobResult: TypeAlias = Annotated[ComparisonResult | RankingResult, Field(discriminator="kind")]


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
