"""Curations, candidate ideas and scores. A curation turns papers into research questions, candidate ideas are
generated for questions, and scores rate ideas."""

from typing import Annotated, Literal

from pydantic import Field

from assayer_client.evaluations import IdeaBody
from assayer_client.item_jobs import MAX_ITEMS, ItemCounts, ItemLinks, ItemOutcome, ItemsPage
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
    """Longest run of consecutive words shared by the question and the abstract's method description, not counting runs
    that also occur elsewhere in the abstract."""
    names: tuple[str, ...]
    """Names introduced by the paper that the question repeats."""
    repeated: tuple[str, ...]
    """Words counted in `share`, as written in the question."""
    method_identified_by: Literal["wording", "place"]
    """Way in which the method sentences were identified. `wording`: from sentences that say something is proposed.
    `place`: there is no such sentence, so all sentences except the first count as the method."""


class CuratedPaper(Resource):
    """Result for one paper."""

    id: str
    title: str
    kind: PaperKind | Absent
    kind_reason: str
    """Evidence for the kind in the title or abstract. If the kind is absent, the reason, as in the kind itself."""
    question: str | Absent
    """Research question. Absent, with the reason, if the paper is of another kind or the question revealed its
    method."""
    leakage: LeakageMeasure | None
    """Leakage in the question, or in the last question that was rejected; null if no question was requested or
    returned."""
    attempts: int = Field(default=0, ge=0)
    """Number of questions requested from the model."""
    flags: tuple[TextFlag, ...] = ()
    """Suspicious passages in the paper's text."""


class Candidate(Resource):
    """Candidate idea that a model proposed for a question. A candidate in JSON can be read as an idea, one per line."""

    id: str
    """Readable id, made from the question's id and the candidate's number, such as `q7-3`."""
    question: str
    number: int = Field(ge=1)
    """The candidate's number among those for its question."""
    title: str
    problem: str
    gap: str
    bridge: str
    text: str
    """Text of the idea."""
    flags: tuple[TextFlag, ...] = ()
    rank: Annotated[int, Field(ge=1)] | Absent | None = None
    """Rank among the question's candidates, 1 being best; None if no ranking was requested."""


class MissingCandidate(Resource):
    """Candidate that was requested but is missing."""

    number: int = Field(ge=1)
    reason: str
    duplicate_of: int | None = None
    """Number of the candidate with exactly the same text; None if no usable answer was returned."""


class CandidateIdeas(Resource):
    """Candidates proposed for one question."""

    question: str
    candidates: tuple[Candidate, ...]
    """Candidates by rank if a ranking was requested, otherwise by number."""
    missing: tuple[MissingCandidate, ...] = ()
    """Missing candidates, by number."""
    flags: tuple[TextFlag, ...] = ()
    """Suspicious passages in the question's text."""


class DimensionScore(Resource):
    """An idea's score in one dimension, from one answer."""

    dimension: str
    score: float | Absent
    argument_for: str = ""
    argument_against: str = ""
    reason: str = ""


class IdeaScores(Resource):
    """Scores of one idea, one per dimension."""

    id: IdeaId
    title: str
    source: str
    scores: tuple[DimensionScore, ...]
    """Scores in the order of the dimensions; all absent if there was no usable answer."""
    mean: float | Absent
    """Mean of the scores, each rescaled to 0 to 1; absent if any score is absent."""
    blinding: Blinding | None = None
    flags: tuple[TextFlag, ...] = ()


class PaidOutcome(ItemOutcome):
    """An item's outcome, with that item's usage and cost."""

    llm_requests: int = 0
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
    """The paper's kind and question; each is absent, with the reason, if the paper has none."""


class CandidateIdeasOutcome(PaidOutcome):
    """Outcome of a research question."""

    result_field = "candidate_ideas"
    candidate_ideas: CandidateIdeas | None = None


class ScoreOutcome(PaidOutcome):
    """Outcome of an idea."""

    result_field = "scores"
    scores: IdeaScores | None = None


class ItemsResult(ItemCounts):
    """Number of items in a job of curation, candidate ideas or scoring, by outcome."""

    kind: Literal["curation", "candidate_ideas", "score"]
    succeeded: int
    """Number of items done: papers whose kind is known, questions with a candidate, or ideas with a score."""


class ItemJobResource(JobResource):
    """Job with many items. Each kind of job adds its outcomes as `items`."""

    item_count: int | None
    """Number of submitted items; null in lists."""
    result: ItemsResult | None
    """Number of items by outcome; null until the state is succeeded, and in lists."""
    links: ItemLinks


class CurationResource(ItemJobResource):
    items: tuple[CurationOutcome, ...] | None
    """Outcomes available so far, in item order; null in lists."""


class CandidateIdeasResource(ItemJobResource):
    items: tuple[CandidateIdeasOutcome, ...] | None
    """Outcomes available so far, in item order; null in lists."""


class ScoreResource(ItemJobResource):
    items: tuple[ScoreOutcome, ...] | None
    """Outcomes available so far, in item order; null in lists."""


class CurationItems(ItemsPage[CurationOutcome]):
    """Curation outcomes in order of arrival."""


class CandidateIdeasPage(ItemsPage[CandidateIdeasOutcome]):
    """Outcomes of research questions in order of arrival."""


class ScoreItems(ItemsPage[ScoreOutcome]):
    """Score outcomes in order of arrival."""


class CuratedPaperBody(Body):
    title: str = Field(max_length=1_000)
    abstract: str = Field(max_length=100_000)
    """Abstract of at least 20 words."""
    id: str | None = Field(default=None, max_length=200)
    """The caller's name for the paper, returned with its outcome; null: an id is derived from the paper's text."""


class CurationBody(Body):
    items: tuple[CuratedPaperBody, ...] = Field(min_length=1, max_length=MAX_ITEMS)
    limits: Limits = Limits()
    """Limits for all items together."""
    priority: LivePriority = "interactive"


class QuestionBody(Body):
    question: str = Field(max_length=5_000)
    id: str | None = Field(default=None, max_length=200)
    """The caller's name for the question, returned with its outcome and used as a prefix in its candidates' ids; null:
    an id is derived from the question's text."""


class CandidateIdeasBody(Body):
    items: tuple[QuestionBody, ...] = Field(min_length=1, max_length=MAX_ITEMS)
    candidates: int | None = Field(default=None, ge=1, le=100)
    """Number of candidates for each question; null: the service's setting, usually 10."""
    ranking_method: BestBy | None = None
    """Ranking method for each question's candidates: by pairwise comparisons or by individual scores; null: no
    ranking."""
    limits: Limits = Limits()
    """Limits for all items together."""
    priority: LivePriority = "interactive"


class ScoredIdeaBody(Body):
    idea: IdeaBody
    question: str | None = Field(default=None, max_length=5_000)
    """Research question that the idea answers; null: the idea is scored without one."""
    id: str = Field(default="", max_length=200)
    """The caller's name for the idea, returned with its outcome."""


class ScoreBody(Body):
    items: tuple[ScoredIdeaBody, ...] = Field(min_length=1, max_length=MAX_ITEMS)
    blind: bool | None = None
    """Mask names, affiliations, acknowledgements and similar details before the judge sees the ideas. Null: the
    service's setting, which by default is yes if there are several ideas."""
    limits: Limits = Limits()
    """Limits for all items together."""
    priority: LivePriority = "interactive"
