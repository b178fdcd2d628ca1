"""Ranking of many ideas, with its uncertainty."""

import datetime as dt
from collections.abc import Mapping
from typing import Any, Literal, NewType

from pydantic import Field

from assayer.models.base import Absent, Dollars, Frozen
from assayer.models.blinding import Blinding
from assayer.models.coverage import Dropped, FaultCount
from assayer.models.idea import IdeaId, TextFlag
from assayer.models.report import PromptVersion, RunUsage
from assayer.models.sender_references import reference_in

RankingId = NewType("RankingId", str)

Band = Literal["in", "out", "human"]
"""Band of an idea at the cut: certainly among the best, certainly not, or left to people to decide."""


class Dimension(Frozen):
    """Dimension in which two ideas are compared."""

    name: str = Field(pattern=r"^[a-z][a-z_]*$")
    question: str
    """Definition of better in this dimension, in one or two sentences."""


class DimensionVerdict(Frozen):
    dimension: str
    winner: Literal["first", "second", "tie"]
    reason: str


class JudgedBy(Frozen):
    """Judge of an answer. Digests show whether the same question would be asked again; None means unknown."""

    model: str | None = Field(default=None, max_length=200)
    question: str | None = Field(default=None, max_length=64)
    """Digest of the prompt and of every dimension in it."""
    first_text: str | None = Field(default=None, max_length=64)
    """Digest of everything shown about the first idea."""
    second_text: str | None = Field(default=None, max_length=64)


class Comparison(Frozen):
    """Answer of a judge who was shown two ideas. It is kept, so that a later ranking of more ideas can start from
    it."""

    first: IdeaId
    second: IdeaId
    verdicts: tuple[DimensionVerdict, ...]
    blinding_rules: int | None = None
    """Version of the rules that masked both ideas for the judge; None if they were shown as submitted."""
    with_evidence: bool = False
    """Whether the judge also saw the findings of the ideas' reports."""
    judged_by: JudgedBy | None = None
    """Judge of the comparison; None if the comparison does not record it."""


class NamedComparison(Comparison):
    """Comparison with the senders' own names of the ideas, for people and programs. Written to output but not
    stored; a later ranking that receives it uses only the comparison."""

    first_reference: str = Field(default="", max_length=1_000)
    """Sender's own name of the idea, as `reference` of a ranked idea; empty if there is none."""
    second_reference: str = Field(default="", max_length=1_000)

    @classmethod
    def of(cls, comparison: Comparison, references: Mapping[IdeaId, str]) -> "NamedComparison":
        first, second = references.get(comparison.first, ""), references.get(comparison.second, "")
        return cls(**dict(comparison), first_reference=first, second_reference=second)

    def without_names(self) -> Comparison:
        return Comparison(**{name: getattr(self, name) for name in Comparison.model_fields})


class Interval(Frozen):
    """Interval that contains the true value with the ranking's stated confidence, if the judge model holds."""

    low: float
    high: float


def _reference(said: dict[str, Any]) -> str:
    return reference_in(said.get("source", ""))


class RankedIdea(Frozen):
    id: IdeaId
    title: str
    source: str
    rank: int
    """Rank from 1, by strength. Ideas that compare alike still get different ranks, with overlapping intervals."""
    ranks: Interval
    strength: float
    """Strength in logits relative to the average idea: +1 beats the average idea in 73 of 100 comparisons."""
    strengths: Interval
    by_dimension: dict[str, float]
    """Strength in each dimension that was judged."""
    comparisons: int
    chance_in: float | None
    """Probability of being among the best `cut`; None without a cut."""
    band: Band | None
    by_baseline: dict[str, float]
    """Assessment by each baseline: mean rank of the outcome, scaled from 0 for the worst to 1 for the best."""
    same_text_as: tuple[IdeaId, ...] = ()
    """Ideas with the same text as shown to the judge. They are not compared with this idea and share its standing."""
    flags: tuple[TextFlag, ...] = ()
    """Suspicious parts of the idea's text."""
    blinding: Blinding | None = None
    """Record of what was hidden from the judge; None if the idea was shown as submitted."""
    reference: str = Field(default_factory=_reference)
    """Sender's own name of the idea, for joining results: the id in a table row, or a file name. Empty if there is
    none."""
    unjudged: Absent | None = None
    """Why none of the requested comparisons of the idea was answered; its rank is then only its starting position."""


class Baseline(Frozen):
    """Classifier of words or embeddings, trained on labelled ideas. On real proposals, such classifiers found more
    of the good ones than language models did."""

    name: str
    auroc: Interval
    """AUROC on labelled ideas held out in five folds, with a 95 % interval. It is the probability of ranking an
    idea with a better outcome above an idea with a worse outcome."""
    auroc_value: float
    labelled: int
    """Ideas it learned from."""
    outcomes: tuple[str, ...]
    """From worst to best."""
    set_aside: int
    """Number of labelled ideas excluded from training because they are among the ranked ideas."""


class Judge(Frozen):
    """Consistency of the judge, which limits the quality of the ranking."""

    comparisons: int
    """Number of answers used, including submitted comparisons."""
    handed_in: int
    of_unknown_judge: int = 0
    """Number of submitted comparisons that do not state which model and question they were judged with."""
    failed: int
    """Number of requested pairs without a usable answer; they count for neither idea."""
    ties: int
    bias: float
    """Advantage of the idea shown first, in logits; 0 is unbiased."""
    bias_interval: Interval
    asked_both_ways: int
    """Number of pairs judged in both orders."""
    contradictions: int
    """Number of pairs judged in both orders whose winner changed with the order."""
    triangles: int
    """Number of triples of ideas that were all compared with each other without a tie."""
    cycles: int
    """Number of cyclic triangles: A beats B, B beats C, C beats A. A judge that answers at random would have a
    quarter of all triangles."""


class Unread(Frozen):
    """Ideas longer than the text limit of the judge."""

    ideas: int
    characters: int
    """Total characters cut from the ends of the ideas."""
    limit: int
    """Maximum characters of each idea shown to the judge."""


class DimensionAnalysis(Frozen):
    dimension: str
    text: str
    """Text of the analysis, in which ideas are named by rank: `#3`."""


class IdeaAnalysis(Frozen):
    id: IdeaId
    standing: str
    """Why the idea has its rank."""
    to_rise: str
    """Changes to the plan that the idea would need to rank higher."""


class CloseCall(Frozen):
    """Two neighbouring ideas whose order the comparisons do not settle."""

    higher: IdeaId
    lower: IdeaId
    decides: str
    """Fact that a person would have to establish in order to decide."""


class GroupAnalysis(Frozen):
    """Joint analysis of a small group of ideas, written after the order was settled and based only on the judge's
    reasons."""

    overview: str
    by_dimension: tuple[DimensionAnalysis, ...]
    ideas: tuple[IdeaAnalysis, ...]
    """Best first."""
    close_calls: tuple[CloseCall, ...]


class ErasedRank(Frozen):
    """Rank of an idea that was erased after the ranking was made. Nothing else about the idea is kept."""

    rank: int
    on: dt.date


class Ranking(Frozen):
    schema_version: Literal[1] = 1
    id: RankingId
    dimension: str
    """Dimension by which the ideas are ordered."""
    dimensions: tuple[Dimension, ...]
    """All that were judged."""
    cut: int | None
    confidence: float
    ideas: tuple[RankedIdea, ...]
    """Best first."""
    erased: tuple[ErasedRank, ...] = ()
    """Ranks left empty by erased ideas. Everything else is as computed with those ideas included, except that their
    comparisons were deleted."""
    judge: Judge
    seeded: bool
    """Whether the ranking started from point scores."""
    blind: bool | None = None
    """Whether names, affiliations and similar details were masked for the judge; None in rankings that do not
    record it."""
    evidence: int | None = None
    """Number of ideas for which the judge also saw the findings of a report; None if only the ideas' own texts were
    compared."""
    unread: Unread | None = None
    """Ideas that were cut for the judge; None if the judge saw every idea in full."""
    analysis: GroupAnalysis | Absent | None = None
    """Analysis of a small group; None if none was requested."""
    stopped: Absent | None
    """Why fewer pairs were compared than the call budget allowed; None if the budget was used in full."""
    models: tuple[str, ...]
    prompts: tuple[PromptVersion, ...]
    faults: tuple[FaultCount, ...]
    dropped: tuple[Dropped, ...]
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Dollars | Absent
    """Cost of the answers used, at the prices when they were paid."""
    baselines: tuple[Baseline, ...] | Absent
    assayer_version: str
    usage: RunUsage = Field(description="Of this execution only; excluded when two rankings are compared.")

    @property
    def size(self) -> int:
        """Number of ideas ranked, including those erased later; equal to the last rank."""
        return len(self.ideas) + len(self.erased)
