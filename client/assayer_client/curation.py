"""Curations, proposals and scores: papers are turned into research questions, questions into candidate ideas, and ideas
into scores."""

from typing import Literal

from pydantic import Field

from assayer_client.evaluations import IdeaBody
from assayer_client.item_jobs import MOST_ITEMS, AcceptedItems, ItemCalls, ItemLinks, ItemsPage
from assayer_client.reports import Blinding, TextFlag
from assayer_client.resources import (
    Absent,
    Body,
    JobResource,
    Limits,
    LivePriority,
    Problem,
    PromptVersion,
    Resource,
)

PaperKind = Literal["new_idea", "survey", "evaluation"]


BestBy = Literal["comparisons", "scores"]


class LeakageMeasure(Resource):
    """Share of the wording of an abstract's method that a question repeats."""

    leaks: bool
    share: float
    longest_run: int
    names: tuple[str, ...]
    repeated: tuple[str, ...]
    method_found_by: Literal["wording", "place"]


class CuratedPaper(Resource):
    """Result for one paper."""

    id: str
    title: str
    kind: PaperKind | Absent
    kind_reason: str
    question: str | Absent
    """Research question; absent, with the reason, if the paper is of another kind or the question revealed its
    method."""
    leakage: LeakageMeasure | None
    """Leakage of the question, or of the last question that was refused."""
    attempts: int = 0
    flags: tuple[TextFlag, ...] = ()


class Candidate(Resource):
    """Candidate idea, one of several that a model proposed for a question."""

    id: str
    question: str
    number: int
    title: str
    problem: str
    gap: str
    bridge: str
    text: str
    """The idea itself."""
    flags: tuple[TextFlag, ...] = ()
    place: int | Absent | None = None
    """Rank among the question's candidates, 1 being the best; None if no ranking was requested."""


class MissingCandidate(Resource):
    """Candidate that was requested but is missing."""

    number: int
    reason: str
    same_as: int | None = None
    """Number of the candidate with exactly the same words; None if no usable answer was returned."""


class Proposal(Resource):
    """Candidates proposed for one question."""

    question: str
    candidates: tuple[Candidate, ...]
    """Candidates in order of rank if the best was requested, otherwise by number."""
    missing: tuple[MissingCandidate, ...] = ()
    flags: tuple[TextFlag, ...] = ()


class DimensionScore(Resource):
    """Score of an idea in one dimension, from one answer."""

    dimension: str
    score: float | Absent
    speaks_for: str = ""
    speaks_against: str = ""
    reason: str = ""


class IdeaScores(Resource):
    """Single scores of one idea."""

    id: str
    title: str
    source: str
    scores: tuple[DimensionScore, ...]
    """Scores by dimension; all absent if the answer was lost."""
    mean: float | Absent
    """Mean of the scores, each rescaled to 0 to 1; absent if any score is absent."""
    blinding: Blinding | None = None
    flags: tuple[TextFlag, ...] = ()


class PaidOutcome(Resource):
    """Outcome of an item and its usage: a result, or a problem that states why there is none."""

    item: int
    """Position of the item in the request, from 0."""
    id: str = ""
    """Name that the caller uses for the item."""
    problem: Problem | None = None
    same_as: int | None = None
    """Earlier item with the same words, with which this item was processed at no further cost."""
    seconds: float = 0.0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | Absent = 0.0
    models: tuple[str, ...] = ()
    prompts: tuple[PromptVersion, ...] = ()


class CurationOutcome(PaidOutcome):
    """Outcome of a paper."""

    paper: CuratedPaper | None = None


class ProposalOutcome(PaidOutcome):
    """Outcome of a research question."""

    proposal: Proposal | None = None


class ScoreOutcome(PaidOutcome):
    """Outcome of an idea."""

    scores: IdeaScores | None = None


class ItemsResult(Resource):
    """Counts of the items by outcome; the outcome of each item is stored separately."""

    kind: Literal["curation", "proposal", "score"]
    items: int
    done: int
    absent: int
    """Number of items for which the model gave no usable answer; the outcome states why."""
    problem: int
    repeated: int
    """Number of items with the same words as an earlier item; each is also counted by that item's outcome."""
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | Absent


class ItemJobResource(JobResource):
    """Job with many items; each kind adds its outcomes as `items`."""

    asked: int | None
    """Number of submitted items; null in lists."""
    result: ItemsResult | None
    """Counts of the items by outcome; null until the state is succeeded, and in lists."""
    links: ItemLinks


class CurationResource(ItemJobResource):
    items: tuple[CurationOutcome, ...] | None
    """Outcomes available so far, in the order of the items; null in lists."""


class ProposalResource(ItemJobResource):
    items: tuple[ProposalOutcome, ...] | None
    """Outcomes available so far, in the order of the items; null in lists."""


class ScoreResource(ItemJobResource):
    items: tuple[ScoreOutcome, ...] | None
    """Outcomes available so far, in the order of the items; null in lists."""


class CurationItems(ItemsPage[CurationOutcome]):
    """Curation outcomes in order of arrival."""


class ProposalItems(ItemsPage[ProposalOutcome]):
    """Proposal outcomes in order of arrival."""


class ScoreItems(ItemsPage[ScoreOutcome]):
    """Score outcomes in order of arrival."""


class CuratedPaperBody(Body):
    title: str = Field(max_length=1_000)
    abstract: str = Field(max_length=100_000)
    """20 words or more."""
    id: str | None = Field(default=None, max_length=200)
    """Name that the caller uses for the paper, returned with its outcome; null: an id is derived from its words."""


class CurationBody(Body):
    items: tuple[CuratedPaperBody, ...] = Field(min_length=1, max_length=MOST_ITEMS)
    limits: Limits = Limits()
    """Limits for all items together."""
    priority: LivePriority = "interactive"


class QuestionBody(Body):
    question: str = Field(max_length=5_000)
    id: str | None = Field(default=None, max_length=200)
    """Name that the caller uses for the question, returned with its outcome and used as prefix of its candidates'
    ids; null: an id is derived from its words."""


class ProposalBody(Body):
    items: tuple[QuestionBody, ...] = Field(min_length=1, max_length=MOST_ITEMS)
    candidates: int | None = Field(default=None, ge=1, le=100)
    """Number of candidates for each question; null: the service's setting, usually 10."""
    best_by: BestBy | None = None
    """Ranking method for the candidates of each question: pairwise comparisons or single scores; null: no ranking."""
    limits: Limits = Limits()
    """Limits for all items together."""
    priority: LivePriority = "interactive"


class ScoredIdeaBody(Body):
    idea: IdeaBody
    question: str | None = Field(default=None, max_length=5_000)
    """Research question that the idea answers; null: it is scored without one."""
    id: str = Field(default="", max_length=200)
    """Name that the caller uses for the idea, returned with its outcome."""


class ScoreBody(Body):
    items: tuple[ScoredIdeaBody, ...] = Field(min_length=1, max_length=MOST_ITEMS)
    blind: bool | None = None
    """Mask names, affiliations, acknowledgements and similar details before the judge sees the ideas; null: yes for
    several ideas, unless the service is configured otherwise."""
    limits: Limits = Limits()
    """Limits for all items together."""
    priority: LivePriority = "interactive"


CURATIONS = ItemCalls[CurationBody, AcceptedItems, CurationResource, CurationOutcome](
    "curations", AcceptedItems, CurationResource, CurationItems
)
PROPOSALS = ItemCalls[ProposalBody, AcceptedItems, ProposalResource, ProposalOutcome](
    "proposals", AcceptedItems, ProposalResource, ProposalItems
)
SCORES = ItemCalls[ScoreBody, AcceptedItems, ScoreResource, ScoreOutcome](
    "scores", AcceptedItems, ScoreResource, ScoreItems
)
