"""Outcomes of the items of a job, and their totals.

An item ends in a result, in which unavailable parts are absent with a reason, or in a problem of its own."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import model_validator

from assayer.models import Absent
from assayer_client import curation, item_jobs
from assayer_client.rewards import Reward

__all__ = [
    "FREE",
    "CurationOutcome",
    "ItemOutcome",
    "ItemsResult",
    "PaidOutcome",
    "ProposalOutcome",
    "ScoreOutcome",
    "totals",
]

FREE = {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}
"""Usage of an item whose outcome is that of an earlier item."""


class ItemOutcome(item_jobs.ItemOutcome):
    result_field: ClassVar[str]
    """Name of the field with the result."""

    @model_validator(mode="after")
    def _ends_in_one(self) -> Self:
        if (getattr(self, self.result_field) is None) == (self.problem is None):
            raise ValueError(f"an item ends in a {self.result_field} or in a problem")
        return self

    def repeated(self, item: int, name: str) -> Self:
        """Return the outcome of a later item with the same text."""
        return self.model_copy(update={"item": item, "id": name, "same_as": self.item, "seconds": 0.0})


class PaidOutcome(ItemOutcome, curation.PaidOutcome):
    @property
    def ended_as(self) -> Literal["done", "absent", "problem"]:
        raise NotImplementedError

    def repeated(self, item: int, name: str) -> Self:
        return super().repeated(item, name).model_copy(update=FREE)


class CurationOutcome(PaidOutcome, curation.CurationOutcome):
    result_field = "paper"

    @property
    def ended_as(self) -> Literal["done", "absent", "problem"]:
        if self.paper is None:
            return "problem"
        return "absent" if isinstance(self.paper.kind, Absent) else "done"


class ProposalOutcome(PaidOutcome, curation.ProposalOutcome):
    result_field = "proposal"

    @property
    def ended_as(self) -> Literal["done", "absent", "problem"]:
        if self.proposal is None:
            return "problem"
        return "done" if self.proposal.candidates else "absent"


class ScoreOutcome(PaidOutcome, curation.ScoreOutcome):
    result_field = "scores"

    @property
    def ended_as(self) -> Literal["done", "absent", "problem"]:
        if self.scores is None:
            return "problem"
        return "absent" if all(isinstance(score.score, Absent) for score in self.scores.scores) else "done"


class ItemsResult(curation.ItemsResult):
    @classmethod
    def of(cls, kind: Literal["curation", "proposal", "score"], outcomes: Sequence[PaidOutcome]) -> "ItemsResult":
        ended = [outcome.ended_as for outcome in outcomes]
        return cls(
            kind=kind,
            done=ended.count("done"),
            absent=ended.count("absent"),
            problem=ended.count("problem"),
            **totals(outcomes, outcomes),
        )


def totals(outcomes: Sequence[ItemOutcome], paid: Sequence[PaidOutcome | Reward]) -> dict[str, Any]:
    """Return the number of items, and the usage and cost of what was paid for."""
    unknown = next((item.cost_usd for item in paid if isinstance(item.cost_usd, Absent)), None)
    cost = sum(item.cost_usd for item in paid if not isinstance(item.cost_usd, Absent))
    return {
        "items": len(outcomes),
        "repeated": sum(outcome.same_as is not None for outcome in outcomes),
        "calls": sum(item.calls for item in paid),
        "prompt_tokens": sum(item.prompt_tokens for item in paid),
        "completion_tokens": sum(item.completion_tokens for item in paid),
        "cost_usd": round(cost, 6) if unknown is None else unknown,
    }
