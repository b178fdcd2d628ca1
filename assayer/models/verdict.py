"""Verdict on an idea from labelled past ideas: probabilities of outcomes, and the evidence for them."""

import datetime as dt
from typing import Literal

from assayer.models.base import Frozen
from assayer_client.resources import Absent, IdeaId


class ClassProbability(Frozen):
    """Calibrated probability of one outcome."""

    name: str
    probability: float
    low: float
    high: float
    """Upper end of the 90 % interval of the calibration, not of the outcome."""
    rate: float
    """Share of this outcome in the calibration data: the probability to state if nothing else is known."""


class NeighbourViewpoint(Frozen):
    """Viewpoint of another idea, and the outcome of that idea."""

    text: str
    idea: IdeaId
    title: str
    url: str
    """URL from the graph's own record; empty if it has none."""
    date: dt.date | None
    label: str | None
    similarity: float
    """Cosine similarity, greater than 0 and at most 1."""


class ViewpointEvidence(Frozen):
    """Viewpoint of the idea, and its position among viewpoints with known outcomes."""

    text: str
    words: str
    """Words of the idea on which the viewpoint is based."""
    self_contained: bool
    leaning: str | None
    """Outcome whose score this viewpoint increases; None if it makes no difference."""
    influence: float
    """Size of the effect as a share of the score before calibration, 0 to 1."""
    neighbours: tuple[NeighbourViewpoint, ...]
    """Nearest viewpoints of other ideas, most similar first."""


class GraphUsed(Frozen):
    name: str
    version: str
    ideas: int
    labelled: int
    viewpoints: int
    embedding_model: str
    maker: str
    """Name of the extractor of the viewpoints of the graph's ideas."""
    outcomes: tuple[str, ...]
    ordered: bool
    """True if the outcomes are ordered from worst to best."""


class RepeatedViewpoint(Frozen):
    """Viewpoint of the idea next to the viewpoint that it repeats."""

    text: str
    other_text: str
    similarity: float
    """Cosine similarity, greater than 0 and at most 1."""


class RepeatedIdea(Frozen):
    """Idea in the graph that this idea repeats: a reason to look at both, not a proof."""

    kind: Literal["same", "copy", "recombination", "paraphrase"]
    """Kind of repetition. `same`: identical words or title. `copy`: most statements taken from the other idea.
    `recombination`: statements taken from several ideas, most of them from the other idea named here. `paraphrase`: the
    same statements reworded."""
    idea: IdeaId
    title: str
    url: str
    share: float
    """Share of the idea's viewpoints that repeat others, 0 to 1."""
    pairs: tuple[RepeatedViewpoint, ...]
    """Repeated pairs in the order of the idea; empty if the words are identical."""


class MeasuredScorer(Frozen):
    """Accuracy with which a scorer separates outcomes, measured on ideas whose outcomes it had not seen."""

    name: str
    auroc: float
    low: float
    high: float
    """Upper end of the 95 % interval, by bootstrap over ideas."""


class ScorerChoice(Frozen):
    """Scorer chosen from several, and its accuracy on ideas that were not used to choose or train it."""

    chosen: str
    held_out: MeasuredScorer
    """Accuracy of the choice procedure as a whole. The procedure is repeated without each held-out part, and can choose
    a different scorer each time."""
    compared: tuple[MeasuredScorer, ...]
    """Accuracy of each scorer by itself; those too simple to be chosen (class frequencies, text length) come last."""
    unbeaten: tuple[str, ...]
    """Baselines among length and TF-IDF that the chosen scorer does not beat by more than chance."""
    ideas: int
    """Number of held-out ideas."""
    split: str


class Verdict(Frozen):
    """Verdict with its evidence. A class is named only if the calibration says more than the class frequencies."""

    decision: str | Absent
    """Named outcome, or the reason why none is named."""
    probabilities: tuple[ClassProbability, ...]
    """Probabilities in the graph's order; empty if none could be calculated, and in an incomplete report."""
    scorer: str
    calibration: str | Absent
    """Name, data and size of the calibration, or the reason why there is none."""
    choice: ScorerChoice | Absent
    graph: GraphUsed
    maker: str
    """Name of the extractor of this idea's viewpoints."""
    viewpoints: int
    """Number of viewpoints of this idea, all of them used."""
    evidence: tuple[ViewpointEvidence, ...]
    """Viewpoints that changed the score most, strongest first."""
    repeats: RepeatedIdea | Absent | None
    """Idea in the graph that this idea repeats; None if there is none; absent if it was not checked."""
