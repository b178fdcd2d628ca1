"""Rankings: many ideas in order, with intervals."""

import datetime as dt
from typing import Self

from pydantic import model_validator

from assayer_client.comparisons import Comparison, NamedComparison
from assayer_client.evaluations import IdeaBody
from assayer_client.event_stream import EventStream
from assayer_client.reports import Blinding, RunUsage, TextFlag
from assayer_client.requests import ApiCall, path, reads, reads_lines, reads_text_of
from assayer_client.resources import (
    TERMINAL,
    Absent,
    Body,
    Dropped,
    Event,
    FaultCount,
    JobState,
    Limits,
    LivePriority,
    Page,
    Priority,
    Problem,
    PromptVersion,
    Resource,
)


class Dimension(Resource):
    """One respect in which two ideas are compared."""

    name: str
    question: str
    """What better means here, in a sentence or two."""


class Interval(Resource):
    """Holds the true value with the ranking's stated confidence, if the model of the judge holds."""

    low: float
    high: float


class RankedIdea(Resource):
    id: str
    title: str
    source: str
    reference: str = ""
    """The sender's own name alone, to join results by: the id that a row holds, a file's name. Empty where there is
    none."""
    rank: int
    """From 1, by strength; ideas that compare alike still get different ranks, and overlapping intervals."""
    ranks: Interval
    strength: float
    """Logits against the average idea: +1 beats it in 73 of 100 comparisons."""
    strengths: Interval
    by_dimension: dict[str, float]
    """Strength in each dimension that was judged."""
    comparisons: int
    chance_in: float | None
    """Of being among the best `cut`; None without a cut."""
    band: str | None
    by_baseline: dict[str, float]
    """What each baseline says of it: mean place of its outcome, 0 the worst, 1 the best."""
    same_text_as: tuple[str, ...] = ()
    """Ideas of which the judge is shown the same text: not compared with it, and of one standing with it."""
    flags: tuple[TextFlag, ...] = ()
    """What is suspicious in its text."""
    blinding: Blinding | None = None
    """What the judge did not see of it; None where it was shown as it came in."""
    unjudged: Absent | None = None
    """Why no comparison of it was answered, though some were asked: its place is then no more than where it began."""


class Judge(Resource):
    """How consistent the judge was: a ranking is no better than this."""

    comparisons: int
    """Answers used, those handed in included."""
    handed_in: int
    of_unknown_judge: int = 0
    """Of those handed in, how many do not say which model judged them, and by which question."""
    failed: int
    """Pairs that were asked and got no usable answer; they are not counted for either idea."""
    ties: int
    bias: float
    """Logits that being shown first was worth; 0 is fair."""
    bias_interval: Interval
    asked_both_ways: int
    """Pairs judged in both orders."""
    contradictions: int
    """Of those, how often the winner changed with the order."""
    triangles: int
    """Triples of ideas that were all compared with each other without a tie."""
    cycles: int
    """Of those, how many go round: A beats B, B beats C, C beats A. A quarter of them would if the judge threw dice."""


class Unread(Resource):
    """Of ideas longer than what the judge is shown of each."""

    ideas: int
    characters: int
    """At their ends, together."""
    limit: int
    """Characters of each idea that the judge is shown."""


class Baseline(Resource):
    """A classifier of words or of embeddings, learned from labelled ideas. On real proposals such have found more of
    the good ones than language models did."""

    name: str
    auroc: Interval
    """On labelled ideas held out in five folds: chance to put one of a better outcome above one of a worse. 95 %."""
    auroc_value: float
    labelled: int
    """Ideas it learned from."""
    outcomes: tuple[str, ...]
    """From worst to best."""
    set_aside: int
    """Labelled ideas that are among the ranked ones and taught nothing."""


class DimensionAnalysis(Resource):
    dimension: str
    text: str
    """Ideas are named by their ranks: `#3`."""


class IdeaAnalysis(Resource):
    id: str
    standing: str
    """Why it stands where it does."""
    to_rise: str
    """What in its plan would have to change."""


class CloseCall(Resource):
    """Two neighbours of which the comparisons do not tell which is better."""

    higher: str
    lower: str
    decides: str
    """What a person would have to find out."""


class GroupAnalysis(Resource):
    """A small group seen together, written after the order was settled, from the judge's reasons alone."""

    overview: str
    by_dimension: tuple[DimensionAnalysis, ...]
    ideas: tuple[IdeaAnalysis, ...]
    """Best first."""
    close_calls: tuple[CloseCall, ...]


class ErasedRank(Resource):
    """A place where an idea stood that was erased after the ranking was made. Nothing else of it is kept."""

    rank: int
    on: dt.date


class Ranking(Resource):
    schema_version: int = 1
    id: str
    dimension: str
    """By which the ideas are ordered."""
    dimensions: tuple[Dimension, ...]
    """All that were judged."""
    cut: int | None
    confidence: float
    ideas: tuple[RankedIdea, ...]
    """Best first."""
    erased: tuple[ErasedRank, ...] = ()
    """Ranks that nobody holds any more. All else is as it was when these ideas were ranked too, apart from the
    comparisons with them, which are gone."""
    judge: Judge
    seeded: bool
    """Whether point scores gave the ranking its start."""
    blind: bool | None = None
    """Whether names, affiliations and the like were masked for the judge; None in rankings that do not say."""
    evidence: int | None = None
    """Of how many of the ideas the judge also saw what a report had found; None where ideas were compared by their own
    texts alone."""
    unread: Unread | None = None
    """None when the judge was shown every idea to its end."""
    analysis: GroupAnalysis | Absent | None = None
    """Of a small group; None where none was asked for."""
    stopped: Absent | None
    """Why fewer pairs were asked than the budget of calls allowed; None when they all were."""
    models: tuple[str, ...]
    prompts: tuple[PromptVersion, ...]
    faults: tuple[FaultCount, ...]
    dropped: tuple[Dropped, ...]
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | Absent
    """What the answers used cost when they were paid for."""
    baselines: tuple[Baseline, ...] | Absent
    assayer_version: str
    usage: RunUsage
    """Of this execution only."""


class RankedIdeaBody(IdeaBody):
    id: str = ""
    """What the caller calls it; shown in the report as its source."""
    score: float | None = None
    """From which it starts; whatever the scale, if it is one for all."""


class RankingBody(Body):
    """Ideas, or a batch that has finished: then its reports' scores are where the ranking starts."""

    ideas: tuple[RankedIdeaBody, ...] | None = None
    batch: str | None = None
    cut: int | None = None
    """How many are to be chosen: says which are clearly in, clearly out, or need a human decision."""
    calls_per_idea: float | None = None
    """Comparisons asked over ideas ranked; null: what the service's settings say."""
    comparisons: tuple[Comparison, ...] = ()
    """Of an earlier ranking or of comparisons; those between two of these ideas are not asked again."""
    earlier: str | None = None
    """A ranking of one's own whose comparisons are used in the same way."""
    blind: bool | None = None
    """Mask names, affiliations, acknowledgements and the like before the judge sees the ideas; null: yes, unless the
    service is set otherwise. Ideas of a batch that was judged blind are masked whatever the service is set to."""
    limits: Limits = Limits()
    priority: LivePriority = "batch"

    @model_validator(mode="after")
    def _has_ideas_once(self) -> Self:
        if (self.ideas is None) == (self.batch is None):
            raise ValueError("Give either `ideas` or `batch`")
        return self


class LeftOut(Resource):
    """An evaluation of the batch that is not ranked."""

    evaluation: str
    row: int | None
    source: str = ""
    """What its sender calls it: a file's name, `call.csv:7 (A-2026-0007)`."""
    reference: str = ""
    """That name alone: the id that its row holds, a file's name. Empty where there is none."""
    reason: str


class UnscoredIdea(Resource):
    """A report of the batch without a score: its idea is ranked, and starts in the middle."""

    evaluation: str
    row: int | None
    source: str = ""
    """What its sender calls it: a file's name, `call.csv:7 (A-2026-0007)`."""
    reference: str = ""
    """That name alone: the id that its row holds, a file's name. Empty where there is none."""
    reason: str


class RankingLinks(Resource):
    ranking: str
    report: str
    comparisons: str
    events: str


class AcceptedRanking(Resource):
    """The ranking is stored, and will end in exactly one verdict."""

    id: str
    state: JobState = "queued"
    ideas: int
    seeded: int
    """Ideas that start from a score; the others start in the middle."""
    known: int
    """Comparisons that are not asked again."""
    blind: bool = False
    """Whether names, affiliations and the like are masked for the judge."""
    left_out: tuple[LeftOut, ...]
    unscored: tuple[UnscoredIdea, ...] = ()
    links: RankingLinks


class RankingResource(Resource):
    id: str
    state: JobState
    title: str
    flags: tuple[str, ...] = ()
    """What is suspicious in the texts, for people to look at."""
    priority: Priority
    attempt: int
    """How often it was begun."""
    problem: Problem | None
    """Why there is no ranking; null unless the state is failed or dead."""
    cost_usd: float | None
    """Null while it is not known."""
    created_at: dt.datetime
    started_at: dt.datetime | None
    finished_at: dt.datetime | None
    links: RankingLinks


def rank(body: RankingBody, *, key: str | None = None) -> ApiCall[AcceptedRanking]:
    """Asks for an order of ideas, or of the reports of a batch."""
    return ApiCall("POST", path("rankings"), reads(AcceptedRanking), body=body, key=key)


def ranking(job: str) -> ApiCall[RankingResource]:
    """Where it stands."""
    return ApiCall("GET", path("rankings", job), reads(RankingResource))


def rankings(
    *, batch: str | None = None, reference: str | None = None, after: str | None = None, limit: int = 50
) -> ApiCall[Page[RankingResource]]:
    """One's own, the newest first; of one `batch` those that hold two of its ideas or more, whoever started them; of
    one `reference` those with an idea that its sender calls so."""
    query = {"batch": batch, "reference": reference, "after": after, "limit": limit}
    return ApiCall("GET", path("rankings"), reads(Page[RankingResource]), query=query)


def ranking_report(job: str) -> ApiCall[Ranking]:
    """Raises ApiProblem (409) saying why when there is none."""
    return ApiCall("GET", path("rankings", job, "report"), reads(Ranking))


def ranking_comparisons(job: str) -> ApiCall[tuple[NamedComparison, ...]]:
    """All that it rests on, with the senders' names for their ideas; to be handed to a later ranking."""
    return ApiCall("GET", path("rankings", job, "comparisons"), reads_lines(NamedComparison))


def ranking_text(job: str, media_type: str = "text/markdown") -> ApiCall[str]:
    """As `text/markdown`, `text/html`, `text/csv` or `application/json`, to the letter."""
    return ApiCall("GET", path("rankings", job, "report"), reads_text_of(media_type), headers={"Accept": media_type})


def cancel_ranking(job: str) -> ApiCall[RankingResource]:
    return ApiCall("DELETE", path("rankings", job), reads(RankingResource))


def ranking_events(job: str) -> EventStream[Event]:
    return EventStream(path("rankings", job, "events"), Event, lambda event: event.kind in TERMINAL)


def has_ended(found: RankingResource) -> bool:
    return found.state in TERMINAL
