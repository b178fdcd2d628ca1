"""Requests for jobs of every kind, as stored with the job."""

import datetime as dt
from collections.abc import Sequence
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from assayer.methods.debate.composition import Composition
from assayer.models import Criterion, FlagKind, Frozen, Idea, suspicious_kinds
from assayer.models.curation import ResearchQuestion, SourcePaper
from assayer.models.reward import RewardItem
from assayer_client.comparisons import Comparison
from assayer_client.curation import BestBy
from assayer_client.evaluations import BoardModel, BoardSize
from assayer_client.resources import DEFAULT_METHOD, Limits


class EvaluationRequest(Frozen):
    kind: Literal["evaluation"] = "evaluation"
    idea: Idea | None
    """Idea to evaluate; None if it is in the job's document, which is parsed when the job starts."""
    source: str = ""
    """Caller's name for the idea: a file name, or the id in the caller's row."""
    method: str = DEFAULT_METHOD
    cutoff: dt.date | None = None
    blind: bool = False
    """True to mask names, affiliations and similar details before the idea is judged."""
    board: BoardSize | None = None
    """Number of reviewers on InnoEval's board; None for the number in the service's settings. Other methods have no
    board."""
    board_models: tuple[BoardModel, ...] = ()
    """Models among which the board's reviewers are distributed; if empty, the models in the service's settings."""
    criteria: tuple[Criterion, ...] = ()
    """Criteria of the call, which the report answers one by one."""
    limits: Limits = Limits()


class ComparisonRequest(Frozen):
    kind: Literal["comparison"] = "comparison"
    first: Idea
    second: Idea
    both_orders: bool = True
    """True to also compare the ideas in reverse order, which reveals position bias of the judge."""
    blind: bool = False
    """True to mask names, affiliations and similar details before the judge sees the ideas."""
    limits: Limits = Limits()


class RankingRequest(Frozen):
    kind: Literal["ranking"] = "ranking"
    ideas: tuple[Idea, ...] = Field(min_length=2)
    shortlist_size: int | None = Field(default=None, ge=1)
    """Number of ideas to choose."""
    scores: dict[str, float] = Field(default_factory=dict)
    """Point scores to start from, by idea id."""
    comparisons_per_idea: float | None = Field(default=None, gt=0)
    """Number of comparisons requested for each ranked idea; None for the value in the service's settings."""
    known: tuple[Comparison, ...] = ()
    """Comparisons of an earlier ranking; comparisons between two of these ideas are not requested again."""
    blind: bool = False
    """True to mask names, affiliations and similar details before the judge sees the ideas."""
    limits: Limits = Limits()


class NamedRewardItem(RewardItem):
    """Reward item with the caller's names for it."""

    id: str = ""
    reference: str = ""
    """Source of the abstract, such as a title or a DOI; not used in judging."""

    @property
    def item(self) -> RewardItem:
        """Item to judge, without the caller's names, so that items with equal content are judged only once."""
        return RewardItem(question=self.question, idea=self.idea, abstract=self.abstract)


class RewardsRequest(Frozen):
    kind: Literal["rewards"] = "rewards"
    items: tuple[NamedRewardItem, ...] = Field(min_length=1)
    judge: str | None = None
    """Name of the judge; None for the judge in the service's settings."""
    composition: Composition | None = None
    """Judge composition defined by the caller, instead of a named judge."""
    limits: Limits = Limits()


class CurationRequest(Frozen):
    """Request for a kind and a research question for each paper."""

    kind: Literal["curation"] = "curation"
    items: tuple[SourcePaper, ...] = Field(min_length=1)
    limits: Limits = Limits()


class CandidateIdeasRequest(Frozen):
    """Request for candidate ideas for each research question."""

    kind: Literal["candidate_ideas"] = "candidate_ideas"
    items: tuple[ResearchQuestion, ...] = Field(min_length=1)
    candidates: int | None = Field(default=None, ge=1, le=100)
    """Number of candidates for each question; None: the number in the service's settings."""
    ranking_method: BestBy | None = None
    """Criterion by which the candidates of a question are ordered; None: not ordered."""
    limits: Limits = Limits()


class IdeaToScore(Frozen):
    id: str = ""
    """Caller's name for the idea."""
    idea: Idea
    question: str | None = None
    """Research question that the idea answers."""


class ScoreRequest(Frozen):
    """Request for scores of each idea on individual dimensions."""

    kind: Literal["score"] = "score"
    items: tuple[IdeaToScore, ...] = Field(min_length=1)
    blind: bool = False
    """True to mask names, affiliations and similar details before the judge sees the ideas."""
    limits: Limits = Limits()


JobRequest: TypeAlias = Annotated[
    EvaluationRequest
    | ComparisonRequest
    | RankingRequest
    | RewardsRequest
    | CurationRequest
    | CandidateIdeasRequest
    | ScoreRequest,
    Field(discriminator="kind"),
]


def find_suspicious_features(request: JobRequest) -> tuple[FlagKind, ...]:
    """Return the kinds of suspicious features in a request's texts. Documents have none, because they have not been
    parsed yet."""
    match request:
        case EvaluationRequest():
            texts: Sequence[Idea | SourcePaper | ResearchQuestion] = (request.idea,) if request.idea else ()
        case ComparisonRequest():
            texts = (request.first, request.second)
        case RankingRequest():
            texts = request.ideas
        case CurationRequest() | CandidateIdeasRequest():
            texts = request.items
        case ScoreRequest():
            texts = [item.idea for item in request.items]
        case RewardsRequest():
            texts = ()  # the guard that precedes the judge reports them for each item
    return suspicious_kinds(flag for text in texts for flag in text.flags)
