"""Rankings of many ideas, with uncertainty intervals."""

import datetime as dt
from typing import Literal, Self

from pydantic import Field, model_validator

from assayer_client.comparisons import NamedComparison
from assayer_client.evaluations import IdeaBody
from assayer_client.llm_requests import FaultCount
from assayer_client.reports import Blinding, RunUsage, TextFlag
from assayer_client.requests import ApiCall, build_path, make_json_lines_parser, make_json_parser, make_text_parser
from assayer_client.resources import (
    Absent,
    Body,
    Dollars,
    Dropped,
    IdeaId,
    JobResource,
    JobState,
    Limits,
    LivePriority,
    Page,
    PromptVersion,
    Resource,
    ResourceName,
)

_MAX_IDEAS = 10_000
MAX_COMPARISONS = 200_000


Band = Literal["in", "out", "human"]
"""An idea's band relative to the cut: certainly among the best, certainly not among them, or left for people to
decide."""


class Dimension(Resource):
    """Dimension in which two ideas are compared."""

    name: str = Field(pattern=r"^[a-z][a-z_]*$")
    question: str
    """Meaning of “better” in this dimension, in one or two sentences."""


class Interval(Resource):
    """Interval that contains the true value with the ranking's stated confidence, if the assumptions of the judge model
    hold."""

    low: float
    high: float


class RankedIdea(Resource):
    id: IdeaId
    title: str
    source: str
    reference: str = ""
    """Submitter's own name alone, for joining results: the id in a row, or a file name. Empty if there is none."""
    rank: int
    """Rank from 1, by strength. Ideas of equal strength still get different ranks, with overlapping intervals."""
    ranks: Interval
    strength: float
    """Strength in logits relative to the average idea: an idea at +1 beats it in 73 of 100 comparisons."""
    strengths: Interval
    dimension_strengths: dict[str, float]
    """Strength in each judged dimension, keyed by dimension."""
    comparisons: int
    shortlist_probability: float | None
    """Probability of being among the best `shortlist_size` ideas; None without a shortlist size."""
    band: Band | None
    baseline_predictions: dict[str, float]
    """Each baseline's prediction: mean position of the predicted outcome, from 0 (worst) to 1 (best)."""
    same_text_as: tuple[IdeaId, ...] = ()
    """Ideas for which the judge would be shown the same text. They are not compared with this idea, and share its
    standing."""
    flags: tuple[TextFlag, ...] = ()
    """Suspicious passages in the idea's text."""
    blinding: Blinding | None = None
    """Texts masked for the judge; None if the idea was shown as submitted."""
    unjudged: Absent | None = None
    """Why no comparison of this idea was answered although some were requested. Its rank then reflects only its
    starting position."""


class Baseline(Resource):
    """Classifier on words or embeddings, trained on labelled ideas. On real proposals, such classifiers found more of
    the good proposals than language models did."""

    name: str
    auroc: Interval
    """AUROC on labelled ideas held out in five folds, with a 95 % interval: the probability that an idea with a better
    outcome is ranked above one with a worse outcome."""
    auroc_value: float
    labelled: int
    """Number of labelled ideas used for training."""
    outcomes: tuple[str, ...]
    """Outcomes from worst to best."""
    excluded_ideas: int
    """Number of labelled ideas excluded from training because they are among the ranked ideas."""


class Judge(Resource):
    """Measures of the judge's consistency, which limits how reliable the ranking is."""

    comparisons: int
    """Number of answers used, including submitted comparisons."""
    submitted_comparisons: int
    comparisons_of_unknown_judge: int = 0
    """Number of submitted comparisons that do not record which model judged them, or with which question."""
    failed: int
    """Number of requested pairs without a usable answer, which count for neither idea."""
    ties: int
    bias: float
    """Advantage of the idea shown first, in logits; 0 is unbiased."""
    bias_interval: Interval
    pairs_in_both_orders: int
    """Number of pairs judged in both orders."""
    contradictions: int
    """Number of pairs judged in both orders whose winner changed with the order."""
    triangles: int
    """Number of triples of ideas in which all pairs were compared and none was a tie."""
    cycles: int
    """Number of circular triples: A beats B, B beats C, C beats A. If a judge answers at random, a quarter of all
    triples are circular."""


class TruncatedIdeas(Resource):
    """Summary of ideas that are longer than the judge's text limit."""

    ideas: int
    characters: int
    """Total number of characters cut from the ends of these ideas."""
    limit: int
    """Maximum number of characters of each idea that the judge is shown."""


class DimensionAnalysis(Resource):
    dimension: str
    text: str
    """Text of the analysis, in which ideas are named by rank: `#3`."""


class IdeaAnalysis(Resource):
    id: IdeaId
    rank_explanation: str
    """Why the idea has its rank."""
    changes_needed: str
    """Changes to the plan that would be needed for the idea to rank higher."""


class CloseCall(Resource):
    """Two adjacent ideas whose order the comparisons do not settle."""

    higher: IdeaId
    lower: IdeaId
    deciding_fact: str
    """Fact that a person would have to find out to decide the order."""


class GroupAnalysis(Resource):
    """Joint analysis of a small group of ideas, written after the order was settled and based only on the judge's
    reasons."""

    overview: str
    dimensions: tuple[DimensionAnalysis, ...]
    ideas: tuple[IdeaAnalysis, ...]
    """Analyses of the ideas, best first."""
    close_calls: tuple[CloseCall, ...]


class ErasedRank(Resource):
    """Rank of an idea that was erased after the ranking was made. Nothing else about the idea is kept."""

    rank: int
    erased_on: dt.date


class Ranking(Resource):
    schema_version: Literal[1] = 1
    id: str
    dimension: str
    """Dimension by which the ideas are ordered."""
    dimensions: tuple[Dimension, ...]
    """All judged dimensions."""
    shortlist_size: int | None
    confidence: float
    ideas: tuple[RankedIdea, ...]
    """Ranked ideas, best first."""
    erased: tuple[ErasedRank, ...] = ()
    """Ranks of erased ideas, which stay empty. Everything else is as in the original ranking, except that comparisons
    with the erased ideas are deleted."""
    judge: Judge
    has_starting_scores: bool
    """Whether the ranking started from scores of individual ideas."""
    blind: bool | None = None
    """Whether names, affiliations and similar details were masked for the judge; None in rankings that do not record
    it."""
    ideas_with_evidence: int | None = None
    """Number of ideas for which the judge also saw a report's findings; None if ideas were compared only by their own
    texts."""
    truncated_ideas: TruncatedIdeas | None = None
    """Summary of ideas that the judge did not see in full; None if there are none."""
    analysis: GroupAnalysis | Absent | None = None
    """Analysis of a small group; None if none was requested."""
    stopped_early: Absent | None
    """Why fewer pairs were judged than the budget allowed; None if the whole budget was used."""
    models: tuple[str, ...]
    prompts: tuple[PromptVersion, ...]
    faults: tuple[FaultCount, ...]
    dropped: tuple[Dropped, ...]
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Dollars | Absent
    """Cost of the answers used, at the prices at the time of payment."""
    baselines: tuple[Baseline, ...] | Absent
    assayer_version: str
    usage: RunUsage = Field(description="Of this execution only; excluded when two rankings are compared.")

    @property
    def size(self) -> int:
        """Number of ranked ideas, including those erased later; equal to the last rank."""
        return len(self.ideas) + len(self.erased)


class RankedIdeaBody(IdeaBody):
    id: str = Field(default="", max_length=200)
    """The caller's name for the idea, shown in the report as its source."""
    score: float | None = Field(default=None, allow_inf_nan=False)
    """Starting score, on any scale that is the same for all ideas."""


class RankingBody(Body):
    """Request to rank ideas or a finished batch. A batch's ranking starts from the scores in its reports."""

    ideas: tuple[RankedIdeaBody, ...] | None = Field(default=None, max_length=_MAX_IDEAS)
    batch: ResourceName | None = None
    shortlist_size: int | None = Field(default=None, ge=1, le=_MAX_IDEAS)
    """Number of ideas to select. The ranking says which are clearly in, clearly out, or for people to decide."""
    comparisons_per_idea: float | None = Field(default=None, gt=0, le=1_000, allow_inf_nan=False)
    """Number of comparisons to request per idea; null: the service's setting."""
    comparisons: tuple[NamedComparison, ...] = Field(default=(), max_length=MAX_COMPARISONS)
    """Comparisons from an earlier ranking or comparison job. Pairs that they cover are not judged again. The names of
    their ideas are not stored."""
    previous_ranking: ResourceName | None = None
    """One of the caller's earlier rankings, whose comparisons are used in the same way as `comparisons`."""
    blind: bool | None = None
    """Mask names, affiliations, acknowledgements and similar details before the judge sees the ideas. Null: the
    service's setting, which by default is yes. Ideas in a batch that was judged blind are always masked."""
    limits: Limits = Limits()
    priority: LivePriority = "batch"

    @model_validator(mode="after")
    def _has_ideas_once(self) -> Self:
        if (self.ideas is None) == (self.batch is None):
            raise ValueError("Give either `ideas` or `batch`")
        return self


class NamedEvaluation(Resource):
    """Evaluation in the batch, with the submitter's names for its idea."""

    evaluation: str
    row: int | None
    source: str
    """Submitter's name for the idea: a file name, or `call.csv:7 (A-2026-0007)`."""
    reference: str
    """Submitter's own reference alone: the id in its row, or a file name. Empty if there is none."""
    reason: str


class ExcludedEvaluation(NamedEvaluation):
    """Evaluation in the batch that is not ranked."""


class UnscoredIdea(NamedEvaluation):
    """Report in the batch that has no score. Its idea is ranked, starting from the middle of the scale."""


class RankingLinks(Resource):
    ranking: str
    report: str
    comparisons: str
    events: str


class AcceptedRanking(Resource):
    """Accepted ranking. It is stored, and will end in exactly one outcome."""

    id: str
    state: JobState = "queued"
    ideas: int
    ideas_with_score: int
    """Number of ideas that start from a score. The others start from the middle of the scale."""
    known_comparisons: int
    """Number of comparisons that are already known and are not requested again."""
    blind: bool = False
    """Whether names, affiliations and similar details are masked for the judge."""
    excluded_evaluations: tuple[ExcludedEvaluation, ...]
    unscored_ideas: tuple[UnscoredIdea, ...] = ()
    links: RankingLinks


class RankingResource(JobResource):
    links: RankingLinks


def list_rankings(
    *, batch: str | None = None, reference: str | None = None, after: str | None = None, limit: int = 50
) -> ApiCall[Page[RankingResource]]:
    """List the caller's own rankings, newest first. With `batch`, list all rankings that contain at least two of its
    ideas, regardless of who started them. With `reference`, list only rankings that contain an idea with this
    submitter's name."""
    query = {"batch": batch, "reference": reference, "after": after, "limit": limit}
    return ApiCall("GET", build_path("rankings"), make_json_parser(Page[RankingResource]), query=query)


def get_ranking_text(job: str, media_type: str = "text/markdown") -> ApiCall[str]:
    """Return the ranking verbatim, as `text/markdown`, `text/html`, `text/csv` or `application/json`."""
    return ApiCall(
        "GET", build_path("rankings", job, "report"), make_text_parser(media_type), headers={"Accept": media_type}
    )


def list_ranking_comparisons(job: str) -> ApiCall[tuple[NamedComparison, ...]]:
    """Return all comparisons on which a ranking is based, with the submitters' names for the ideas, for use in a later
    ranking."""
    return ApiCall("GET", build_path("rankings", job, "comparisons"), make_json_lines_parser(NamedComparison))
