"""What can be asked of the service. Stored with the job; the API's bodies are made of the same parts."""

import datetime as dt
from typing import Literal

from pydantic import Field

from assayer.curation.options import BestBy
from assayer.methods.debate.composition import Composition
from assayer.methods.innoeval.options import BoardModel, BoardSize
from assayer.models import FlagKind, Frozen, Idea, suspicious_kinds
from assayer.models.curation import ResearchQuestion, SourcePaper
from assayer.models.ranking import Comparison
from assayer.models.reward import RewardItem

__all__ = [
    "ComparisonRequest",
    "CurationRequest",
    "EvaluationRequest",
    "IdeaToScore",
    "Limits",
    "NamedRewardItem",
    "ProposalRequest",
    "RankingRequest",
    "RewardsRequest",
    "ScoreRequest",
]


class Limits(Frozen):
    """What one job may spend; None: what the service's settings say."""

    max_usd: float | None = Field(default=None, gt=0, le=1_000_000, allow_inf_nan=False)
    max_prompt_tokens: int | None = Field(default=None, gt=0, le=10**12)


class EvaluationRequest(Frozen):
    kind: Literal["evaluation"] = "evaluation"
    idea: Idea | None
    """None: it is in the job's document, and read when the job begins."""
    source: str = ""
    """What the caller calls it: a file name, the id in their row."""
    method: str = "scholareval"
    cutoff: dt.date | None = None
    blind: bool = False
    """Names, affiliations and the like are masked before anything judges the idea."""
    board: BoardSize | None = None
    """Reviewers on InnoEval's board; None: as many as the service's settings say. Other methods have no board."""
    board_models: tuple[BoardModel, ...] = ()
    """Among which its reviewers are dealt; without any, those of the service's settings."""
    limits: Limits = Limits()

    @property
    def flags(self) -> tuple[FlagKind, ...]:
        """What is suspicious in its text, as far as that has been read."""
        return suspicious_kinds(self.idea.flags if self.idea else ())


class ComparisonRequest(Frozen):
    kind: Literal["comparison"] = "comparison"
    first: Idea
    second: Idea
    both_orders: bool = True
    """Also asked with the ideas in the other order, which shows a judge that prefers a place."""
    blind: bool = False
    """Names, affiliations and the like are masked before the judge sees the ideas."""
    limits: Limits = Limits()

    @property
    def flags(self) -> tuple[FlagKind, ...]:
        """What is suspicious in either text."""
        return suspicious_kinds((*self.first.flags, *self.second.flags))


class RankingRequest(Frozen):
    kind: Literal["ranking"] = "ranking"
    ideas: tuple[Idea, ...] = Field(min_length=2)
    cut: int | None = Field(default=None, ge=1)
    """How many are to be chosen."""
    scores: dict[str, float] = Field(default_factory=dict)
    """Point scores to start from, by idea id."""
    calls_per_idea: float | None = Field(default=None, gt=0)
    """Comparisons asked over ideas ranked; None: what the service's settings say."""
    known: tuple[Comparison, ...] = ()
    """Of an earlier ranking; those between two of these ideas are not asked again."""
    blind: bool = False
    """Names, affiliations and the like are masked before the judge sees the ideas."""
    limits: Limits = Limits()

    @property
    def flags(self) -> tuple[FlagKind, ...]:
        """What is suspicious in any of the texts."""
        return suspicious_kinds(flag for idea in self.ideas for flag in idea.flags)


class NamedRewardItem(RewardItem):
    """With what the caller calls it."""

    id: str = ""
    reference: str = ""
    """Where the abstract is from: a title, a DOI. Nothing is judged by it."""

    @property
    def item(self) -> RewardItem:
        """What is judged, without its names: two with the same are judged once."""
        return RewardItem(question=self.question, idea=self.idea, abstract=self.abstract)


class RewardsRequest(Frozen):
    kind: Literal["rewards"] = "rewards"
    items: tuple[NamedRewardItem, ...] = Field(min_length=1)
    judge: str | None = None
    """By name; None: what the service's settings say."""
    composition: Composition | None = None
    """One of the caller's own, in place of a judge by name."""
    limits: Limits = Limits()

    @property
    def flags(self) -> tuple[FlagKind, ...]:
        """None for the whole: the guard before the judge tells of every item."""
        return ()


class CurationRequest(Frozen):
    """A kind and a research question for each paper."""

    kind: Literal["curation"] = "curation"
    items: tuple[SourcePaper, ...] = Field(min_length=1)
    limits: Limits = Limits()

    @property
    def flags(self) -> tuple[FlagKind, ...]:
        """What is suspicious in any of the texts."""
        return suspicious_kinds(flag for item in self.items for flag in item.flags)


class ProposalRequest(Frozen):
    """Candidate ideas for each question."""

    kind: Literal["proposal"] = "proposal"
    items: tuple[ResearchQuestion, ...] = Field(min_length=1)
    candidates: int | None = Field(default=None, ge=1, le=100)
    """For each question; None: as many as the service's settings say."""
    best_by: BestBy | None = None
    """How candidates of a question are put in order; None: not at all."""
    limits: Limits = Limits()

    @property
    def flags(self) -> tuple[FlagKind, ...]:
        """What is suspicious in any of the texts."""
        return suspicious_kinds(flag for item in self.items for flag in item.flags)


class IdeaToScore(Frozen):
    id: str = ""
    """What the caller calls it."""
    idea: Idea
    question: str | None = None
    """The research question that it answers."""


class ScoreRequest(Frozen):
    """Scores of each idea in single respects."""

    kind: Literal["score"] = "score"
    items: tuple[IdeaToScore, ...] = Field(min_length=1)
    blind: bool = False
    """Names, affiliations and the like are masked before the judge sees the ideas."""
    limits: Limits = Limits()

    @property
    def flags(self) -> tuple[FlagKind, ...]:
        """What is suspicious in any of the texts."""
        return suspicious_kinds(flag for item in self.items for flag in item.idea.flags)
