"""Curations, proposals and scores: papers are converted to research questions, questions to candidate ideas, and ideas
to scores."""

from typing import Annotated, Literal

from pydantic import Field

from assayer_client.evaluations import IdeaBody
from assayer_client.item_jobs import MOST_ITEMS, ItemCounts, ItemLinks, ItemOutcome, ItemsPage
from assayer_client.reports import Blinding, TextFlag
from assayer_client.resources import (
    Absent,
    Body,
    Dollars,
    IdeaId,
    JobResource,
    Limits,
    LivePriority,
    PromptVersion,
    Resource,
)

PaperKind = Literal["new_idea", "survey", "evaluation"]


BestBy = Literal["comparisons", "scores"]


class LeakageMeasure(Resource):
    """Measure of how much of the abstract's wording about the method is repeated in a question."""

    leaks: bool
    share: float = Field(ge=0, le=1)
    """Share of the question's content words that occur in the abstract only in the description of the method."""
    longest_run: int = Field(ge=0)
    """Longest run of consecutive words shared by the question and the abstract's method description. Runs that also
    occur elsewhere in the abstract do not count."""
    names: tuple[str, ...]
    """Names that the paper introduces and that the question repeats."""
    repeated: tuple[str, ...]
    """Words counted in `share`, as written in the question."""
    method_found_by: Literal["wording", "place"]
    """Method by which the method sentences were identified. `wording`: a sentence states that something is proposed.
    `place`: there is no such sentence, so all sentences except the first count as the method."""


class CuratedPaper(Resource):
    """Result for one paper."""

    id: str
    title: str
    kind: PaperKind | Absent
    kind_reason: str
    """Evidence in the title or abstract for the kind; if the kind is absent, the same text as the reason for that."""
    question: str | Absent
    """Research question; absent, with the reason, if the paper is of another kind or the question revealed its
    method."""
    leakage: LeakageMeasure | None
    """Leakage of the question, or of the last question that was refused; null if no question was requested or
    returned."""
    attempts: int = Field(default=0, ge=0)
    """Number of questions requested."""
    flags: tuple[TextFlag, ...] = ()
    """Suspicious parts of the paper's text."""


class Candidate(Resource):
    """Candidate idea that a model proposed for a question. A line of JSON with a candidate can be read as an idea."""

    id: str
    """Readable id: the id of the question and the number of the candidate, such as `q7-3`."""
    question: str
    number: int = Field(ge=1)
    """Number of the candidate among those for its question."""
    title: str
    problem: str
    gap: str
    bridge: str
    text: str
    """Text of the idea."""
    flags: tuple[TextFlag, ...] = ()
    place: Annotated[int, Field(ge=1)] | Absent | None = None
    """Rank among the question's candidates, 1 being the best; None if no ranking was requested."""


class MissingCandidate(Resource):
    """Candidate that was requested but is missing."""

    number: int = Field(ge=1)
    reason: str
    same_as: int | None = None
    """Number of the candidate with exactly the same text; None if the reason is that no usable answer was returned."""


class Proposal(Resource):
    """Candidates proposed for one question."""

    question: str
    candidates: tuple[Candidate, ...]
    """Candidates in order of rank if the best was requested, otherwise by number."""
    missing: tuple[MissingCandidate, ...] = ()
    """Missing candidates, in order of number."""
    flags: tuple[TextFlag, ...] = ()
    """Suspicious parts of the question's text."""


class DimensionScore(Resource):
    """Score of an idea in one dimension, from one answer."""

    dimension: str
    score: float | Absent
    speaks_for: str = ""
    speaks_against: str = ""
    reason: str = ""


class IdeaScores(Resource):
    """Scores of one idea, one per dimension."""

    id: IdeaId
    title: str
    source: str
    scores: tuple[DimensionScore, ...]
    """Scores in the order of the dimensions; all absent if the answer was lost."""
    mean: float | Absent
    """Mean of the scores, each rescaled to 0 to 1; absent if any score is absent."""
    blinding: Blinding | None = None
    flags: tuple[TextFlag, ...] = ()


class PaidOutcome(ItemOutcome):
    """Outcome of an item, with the usage and cost of this item alone."""

    calls: int = 0
    """Number of answers received, including cached answers."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: Dollars | Absent = 0.0
    """Cost in US dollars; cached answers are free."""
    models: tuple[str, ...] = ()
    """Models that answered, sorted."""
    prompts: tuple[PromptVersion, ...] = ()


class CurationOutcome(PaidOutcome):
    """Outcome of a paper."""

    result_field = "paper"
    paper: CuratedPaper | None = None
    """Kind and question of the paper; each is absent, with the reason, if the paper has none."""


class ProposalOutcome(PaidOutcome):
    """Outcome of a research question."""

    result_field = "proposal"
    proposal: Proposal | None = None


class ScoreOutcome(PaidOutcome):
    """Outcome of an idea."""

    result_field = "scores"
    scores: IdeaScores | None = None


class ItemsResult(ItemCounts):
    """Counts of the items of a curation, a proposal or scores by outcome."""

    kind: Literal["curation", "proposal", "score"]
    done: int
    """Number of items done: papers whose kind is known, questions with a candidate, or ideas with a score."""


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
    """Abstract of at least 20 words."""
    id: str | None = Field(default=None, max_length=200)
    """Name that the caller uses for the paper, returned with its outcome; null: an id is derived from the paper's text.
    """


class CurationBody(Body):
    items: tuple[CuratedPaperBody, ...] = Field(min_length=1, max_length=MOST_ITEMS)
    limits: Limits = Limits()
    """Limits for all items together."""
    priority: LivePriority = "interactive"


class QuestionBody(Body):
    question: str = Field(max_length=5_000)
    id: str | None = Field(default=None, max_length=200)
    """Name that the caller uses for the question, returned with its outcome and used as a prefix of its candidates'
    ids; null: an id is derived from the question's text."""


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
