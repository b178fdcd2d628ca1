"""What becomes of each item of a job that has many, and what all of them come to.

An item ends in a result, in which what could not be had is absent with its reason, or in a problem of its own.
"""

from collections.abc import Sequence
from typing import Literal, Self, TypeVar

from pydantic import Field, model_validator

from assayer.models import Absent, Frozen, PromptVersion
from assayer.models.base import Dollars
from assayer.models.curation import CuratedPaper, IdeaScores, Proposal
from orchestrator.jobs.models import Problem

__all__ = ["CurationOutcome", "ItemOutcome", "ItemsResult", "PaidOutcome", "ProposalOutcome", "ScoreOutcome"]

Ended = TypeVar("Ended", bound="ItemOutcome")


class ItemOutcome(Frozen):
    item: int = Field(ge=0)
    """Its place in the request, from 0."""
    id: str = ""
    """The caller's name for it."""
    problem: Problem | None = None
    """Why there is no result."""
    same_as: int | None = None
    """An earlier item with the same words, with which it was done: it cost nothing more."""
    seconds: float = Field(default=0.0, ge=0)
    """From the beginning of its work to its end."""

    def repeated(self, item: int, name: str) -> Self:
        """Of a later item with the same words."""
        return self.model_copy(update={"item": item, "id": name, "same_as": self.item, "seconds": 0.0})


class PaidOutcome(ItemOutcome):
    """With what this item alone took."""

    calls: int = 0
    """Answers that came, those known from before included."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: Dollars | Absent = 0.0
    """Answers known from before are free."""
    models: tuple[str, ...] = ()
    """That answered, sorted."""
    prompts: tuple[PromptVersion, ...] = ()

    @property
    def ended_as(self) -> Literal["done", "absent", "problem"]:
        raise NotImplementedError

    def repeated(self, item: int, name: str) -> Self:
        free = {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}
        return super().repeated(item, name).model_copy(update=free)


class CurationOutcome(PaidOutcome):
    """Of a paper."""

    paper: CuratedPaper | None = None
    """Kind and question, each absent with its reason where there is none."""

    @model_validator(mode="after")
    def _ends_in_one(self) -> Self:
        return _ending(self, self.paper)

    @property
    def ended_as(self) -> Literal["done", "absent", "problem"]:
        if self.paper is None:
            return "problem"
        return "absent" if isinstance(self.paper.kind, Absent) else "done"


class ProposalOutcome(PaidOutcome):
    """Of a research question."""

    proposal: Proposal | None = None

    @model_validator(mode="after")
    def _ends_in_one(self) -> Self:
        return _ending(self, self.proposal)

    @property
    def ended_as(self) -> Literal["done", "absent", "problem"]:
        if self.proposal is None:
            return "problem"
        return "done" if self.proposal.candidates else "absent"


class ScoreOutcome(PaidOutcome):
    """Of an idea."""

    scores: IdeaScores | None = None

    @model_validator(mode="after")
    def _ends_in_one(self) -> Self:
        return _ending(self, self.scores)

    @property
    def ended_as(self) -> Literal["done", "absent", "problem"]:
        if self.scores is None:
            return "problem"
        return "absent" if all(isinstance(one.score, Absent) for one in self.scores.scores) else "done"


class ItemsResult(Frozen):
    """How many of the items of a curation, a proposal or scores ended how; each has its own outcome beside it."""

    kind: Literal["curation", "proposal", "score"]
    items: int
    done: int
    """Papers whose kind is known, questions with a candidate, ideas with a score."""
    absent: int
    """The model gave no usable answer; the outcome says why."""
    problem: int
    repeated: int
    """Had the words of an earlier item; counted as that one ended."""
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Dollars | Absent

    @classmethod
    def of(cls, kind: Literal["curation", "proposal", "score"], outcomes: Sequence[PaidOutcome]) -> "ItemsResult":
        ended = [one.ended_as for one in outcomes]
        unknown = next((one.cost_usd for one in outcomes if isinstance(one.cost_usd, Absent)), None)
        paid = sum(one.cost_usd for one in outcomes if not isinstance(one.cost_usd, Absent))
        return cls(
            kind=kind,
            items=len(outcomes),
            done=ended.count("done"),
            absent=ended.count("absent"),
            problem=ended.count("problem"),
            repeated=sum(one.same_as is not None for one in outcomes),
            calls=sum(one.calls for one in outcomes),
            prompt_tokens=sum(one.prompt_tokens for one in outcomes),
            completion_tokens=sum(one.completion_tokens for one in outcomes),
            cost_usd=round(paid, 6) if unknown is None else unknown,
        )


def _ending(outcome: Ended, result: object) -> Ended:
    if (result is None) == (outcome.problem is None):
        raise ValueError("an item ends in a result or in a problem")
    return outcome
