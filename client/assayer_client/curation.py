"""Curations, proposals and scores: papers to research questions, questions to candidate ideas, ideas to scores."""

import datetime as dt
from typing import Literal

from assayer_client.evaluations import IdeaBody
from assayer_client.item_jobs import ItemCalls, ItemsPage
from assayer_client.reports import Blinding, TextFlag
from assayer_client.resources import (
    Absent,
    Body,
    JobState,
    Limits,
    LivePriority,
    Priority,
    Problem,
    PromptVersion,
    Resource,
)

PaperKind = Literal["new_idea", "survey", "evaluation"]


class LeakageMeasure(Resource):
    """How much of an abstract's wording of its method a question repeats."""

    leaks: bool
    share: float
    longest_run: int
    names: tuple[str, ...]
    repeated: tuple[str, ...]
    method_found_by: Literal["wording", "place"]


class CuratedPaper(Resource):
    """What became of one paper."""

    id: str
    title: str
    kind: PaperKind | Absent
    kind_reason: str
    question: str | Absent
    """Absent, with the reason, where the paper is of another kind or the question gave its method away."""
    leakage: LeakageMeasure | None
    """Of the question, or of the last one that was refused."""
    attempts: int = 0
    flags: tuple[TextFlag, ...] = ()


class Candidate(Resource):
    """One of several ideas that a model proposed for a question."""

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
    """1 is the best of its question's candidates; None where nobody asked for the best."""


class MissingCandidate(Resource):
    """One that was asked for and is not there."""

    number: int
    reason: str
    same_as: int | None = None
    """The candidate that says the same, word for word; None where no usable answer came."""


class Proposal(Resource):
    """The candidates for one question."""

    question: str
    candidates: tuple[Candidate, ...]
    """By their places where the best was asked for, by their numbers otherwise."""
    missing: tuple[MissingCandidate, ...] = ()
    flags: tuple[TextFlag, ...] = ()


class DimensionScore(Resource):
    """What one answer gave an idea in one respect."""

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
    """All absent where the answer was lost."""
    mean: float | Absent
    """Of the scores, each brought to 0 to 1 on its scale; absent where one is."""
    blinding: Blinding | None = None
    flags: tuple[TextFlag, ...] = ()


class PaidOutcome(Resource):
    """What became of one item, and what it took: a result, or a problem that says why there is none."""

    item: int
    """Its place in the request, from 0."""
    id: str = ""
    """The caller's name for it."""
    problem: Problem | None = None
    same_as: int | None = None
    """An earlier item with the same words, with which it was done: it cost nothing more."""
    seconds: float = 0.0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | Absent = 0.0
    models: tuple[str, ...] = ()
    prompts: tuple[PromptVersion, ...] = ()


class CurationOutcome(PaidOutcome):
    paper: CuratedPaper | None = None


class ProposalOutcome(PaidOutcome):
    proposal: Proposal | None = None


class ScoreOutcome(PaidOutcome):
    scores: IdeaScores | None = None


class ItemsResult(Resource):
    """How many of the items ended how; each has its own outcome beside it."""

    kind: Literal["curation", "proposal", "score"]
    items: int
    done: int
    absent: int
    """The model gave no usable answer; the outcome says why."""
    problem: int
    repeated: int
    """Had the words of an earlier item; counted as that one ended."""
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | Absent


class ItemLinks(Resource):
    job: str
    items: str
    events: str


class AcceptedItems(Resource):
    """The items are stored, and each will end in a result or a problem."""

    id: str
    state: JobState = "queued"
    asked: int
    """How many items were sent in."""
    links: ItemLinks


class ItemJobResource(Resource):
    id: str
    state: JobState
    title: str
    priority: Priority
    attempt: int
    """How often it was begun."""
    problem: Problem | None
    """Why it ended before all items had: null unless the state is failed or dead."""
    cost_usd: float | None
    """Null while it is not known."""
    created_at: dt.datetime
    started_at: dt.datetime | None
    finished_at: dt.datetime | None
    flags: tuple[str, ...] = ()
    """What is suspicious in the texts that were sent in: people should look."""
    asked: int | None
    """How many items were sent in; null in lists."""
    result: ItemsResult | None
    """How many ended how; null until the state is done, and in lists."""
    links: ItemLinks


class CurationResource(ItemJobResource):
    items: tuple[CurationOutcome, ...] | None
    """The outcomes that are there so far, in the order of the papers; null in lists."""


class ProposalResource(ItemJobResource):
    items: tuple[ProposalOutcome, ...] | None
    """The outcomes that are there so far, in the order of the questions; null in lists."""


class ScoreResource(ItemJobResource):
    items: tuple[ScoreOutcome, ...] | None
    """The outcomes that are there so far, in the order of the ideas; null in lists."""


class CurationItems(ItemsPage[CurationOutcome]):
    pass


class ProposalItems(ItemsPage[ProposalOutcome]):
    pass


class ScoreItems(ItemsPage[ScoreOutcome]):
    pass


class CuratedPaperBody(Body):
    title: str
    abstract: str
    """20 words or more."""
    id: str | None = None
    """The caller's name for it; None: one is made of its words."""


class CurationBody(Body):
    items: tuple[CuratedPaperBody, ...]
    """1 to 1,000; those with the same words are done once."""
    limits: Limits = Limits()
    """Of all items together."""
    priority: LivePriority = "interactive"


class QuestionBody(Body):
    question: str
    id: str | None = None
    """The caller's name for it, with which the ids of its candidates begin; None: one is made of its words."""


class ProposalBody(Body):
    items: tuple[QuestionBody, ...]
    """1 to 1,000; those with the same words are done once."""
    candidates: int | None = None
    """For each question; None: as many as the service is set to."""
    best_by: Literal["comparisons", "scores"] | None = None
    """How the candidates of each question are put in order; None: not at all."""
    limits: Limits = Limits()
    """Of all items together."""
    priority: LivePriority = "interactive"


class ScoredIdeaBody(Body):
    idea: IdeaBody
    question: str | None = None
    """The research question that it answers."""
    id: str = ""
    """The caller's name for it."""


class ScoreBody(Body):
    items: tuple[ScoredIdeaBody, ...]
    """1 to 1,000; those with the same words are done once."""
    blind: bool | None = None
    """Mask names, affiliations and the like before the judge sees the ideas; None: as the service is set."""
    limits: Limits = Limits()
    """Of all items together."""
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
