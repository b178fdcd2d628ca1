"""The order of many ideas, with how sure it is."""

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
"""Of a cut: certainly among the best, certainly not, or for people to decide."""


class Dimension(Frozen):
    """One respect in which two ideas are compared."""

    name: str = Field(pattern=r"^[a-z][a-z_]*$")
    question: str
    """What better means here, in a sentence or two."""


class DimensionVerdict(Frozen):
    dimension: str
    winner: Literal["first", "second", "tie"]
    reason: str


class JudgedBy(Frozen):
    """What gave an answer. Digests tell whether the same would be asked again; what is None nobody knows."""

    model: str | None = Field(default=None, max_length=200)
    question: str | None = Field(default=None, max_length=64)
    """Of the prompt and of every respect that it asked about."""
    first_text: str | None = Field(default=None, max_length=64)
    """Of all that was shown of the first idea."""
    second_text: str | None = Field(default=None, max_length=64)


class Comparison(Frozen):
    """One answer of a judge who was shown two ideas. Kept: a later ranking of more ideas starts from it."""

    first: IdeaId
    second: IdeaId
    verdicts: tuple[DimensionVerdict, ...]
    blinding_rules: int | None = None
    """Version of the rules that masked both ideas for the judge; None: they were shown as they came in."""
    with_evidence: bool = False
    """Whether the judge also saw what the ideas' reports had found."""
    judged_by: JudgedBy | None = None
    """None in comparisons that do not say."""


class NamedComparison(Comparison):
    """For people and programs who know ideas by their own names: written, and not kept. A later ranking that is handed
    it takes the comparison alone."""

    first_reference: str = Field(default="", max_length=1_000)
    """The sender's own name for the idea, as `reference` of a ranked idea; empty where there is none."""
    second_reference: str = Field(default="", max_length=1_000)

    @classmethod
    def of(cls, one: Comparison, references: Mapping[IdeaId, str]) -> "NamedComparison":
        first, second = references.get(one.first, ""), references.get(one.second, "")
        return cls(**dict(one), first_reference=first, second_reference=second)

    def without_names(self) -> Comparison:
        return Comparison(**{name: getattr(self, name) for name in Comparison.model_fields})


class Interval(Frozen):
    """Holds the true value with the ranking's stated confidence, if the model of the judge holds."""

    low: float
    high: float


def _reference(said: dict[str, Any]) -> str:
    return reference_in(said.get("source", ""))


class RankedIdea(Frozen):
    id: IdeaId
    title: str
    source: str
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
    band: Band | None
    by_baseline: dict[str, float]
    """What each baseline says of it: mean place of its outcome, 0 the worst, 1 the best."""
    same_text_as: tuple[IdeaId, ...] = ()
    """Ideas of which the judge is shown the same text: not compared with it, and of one standing with it."""
    flags: tuple[TextFlag, ...] = ()
    """What is suspicious in its text."""
    blinding: Blinding | None = None
    """What the judge did not see of it; None where it was shown as it came in."""
    reference: str = Field(default_factory=_reference)
    """The sender's own name alone, to join results by: the id that a row holds, a file's name. Empty where there is
    none."""
    unjudged: Absent | None = None
    """Why no comparison of it was answered, though some were asked: its place is then no more than where it began."""


class Baseline(Frozen):
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


class Judge(Frozen):
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


class Unread(Frozen):
    """Of ideas longer than what the judge is shown of each."""

    ideas: int
    characters: int
    """At their ends, together."""
    limit: int
    """Characters of each idea that the judge is shown."""


class DimensionAnalysis(Frozen):
    dimension: str
    text: str
    """Ideas are named by their ranks: `#3`."""


class IdeaAnalysis(Frozen):
    id: IdeaId
    standing: str
    """Why it stands where it does."""
    to_rise: str
    """What in its plan would have to change."""


class CloseCall(Frozen):
    """Two neighbours of which the comparisons do not tell which is better."""

    higher: IdeaId
    lower: IdeaId
    decides: str
    """What a person would have to find out."""


class GroupAnalysis(Frozen):
    """A small group seen together, written after the order was settled, from the judge's reasons alone."""

    overview: str
    by_dimension: tuple[DimensionAnalysis, ...]
    ideas: tuple[IdeaAnalysis, ...]
    """Best first."""
    close_calls: tuple[CloseCall, ...]


class ErasedRank(Frozen):
    """A place where an idea stood that was erased after the ranking was made. Nothing else of it is kept."""

    rank: int
    on: dt.date


class Ranking(Frozen):
    schema_version: Literal[1] = 1
    id: RankingId
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
    cost_usd: Dollars | Absent
    """What the answers used cost when they were paid for."""
    baselines: tuple[Baseline, ...] | Absent
    assayer_version: str
    usage: RunUsage = Field(description="Of this execution only; excluded when two rankings are compared.")

    @property
    def size(self) -> int:
        """How many were ranked, those included that were erased since: the last rank."""
        return len(self.ideas) + len(self.erased)
