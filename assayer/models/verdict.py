"""Verdict on an idea, based on past ideas with known outcomes: outcome probabilities, and the evidence for them."""

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
    """Upper end of the calibration's 90 % interval, which is not an interval for the outcome."""
    rate: float
    """Share of this outcome in the calibration data: its probability if nothing else is known."""


class NeighbourViewpoint(Frozen):
    """Similar viewpoint in another idea, and that idea's outcome."""

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
    """Viewpoint in the idea, and the viewpoints with known outcomes that are nearest to it."""

    text: str
    words: str
    """Words in the idea that the viewpoint is based on."""
    self_contained: bool
    leaning: str | None
    """Outcome whose score the viewpoint raises; None if it makes no difference."""
    influence: float
    """Size of the viewpoint's effect as a share of the score before calibration, 0 to 1."""
    neighbours: tuple[NeighbourViewpoint, ...]
    """Nearest viewpoints in other ideas, most similar first."""


class GraphUsed(Frozen):
    name: str
    version: str
    ideas: int
    labelled: int
    viewpoints: int
    embedding_model: str
    extractor: str
    """Name of the model or program that extracted the viewpoints from the graph's ideas."""
    outcomes: tuple[str, ...]
    ordered: bool
    """True if the outcomes are ordered from worst to best."""


class RepeatedViewpoint(Frozen):
    """Viewpoint in the idea, with the viewpoint that it repeats."""

    text: str
    other_text: str
    similarity: float
    """Cosine similarity, greater than 0 and at most 1."""


class RepeatedIdea(Frozen):
    """Idea in the graph that this idea appears to repeat. It is a reason to read both, not proof."""

    kind: Literal["same", "copy", "recombination", "paraphrase"]
    """Kind of repetition. `same`: identical words or title. `copy`: most statements come from the other idea.
    `recombination`: statements come from several ideas, most of them from the one named here. `paraphrase`: the same
    statements, reworded."""
    idea: IdeaId
    title: str
    url: str
    share: float
    """Share of the idea's viewpoints that repeat others, 0 to 1."""
    pairs: tuple[RepeatedViewpoint, ...]
    """Pairs of repeated viewpoints, in the idea's order; empty if the words are identical."""


class MeasuredScorer(Frozen):
    """Scorer and its AUROC on held-out ideas, whose outcomes were not used to fit it."""

    name: str
    auroc: float
    low: float
    high: float
    """Upper end of the 95 % confidence interval, from a bootstrap over ideas."""


class ScorerChoice(Frozen):
    """Scorer chosen from several, and its accuracy on ideas that were not used to choose or train it."""

    scorer: str
    held_out_accuracy: MeasuredScorer
    """Accuracy of the whole procedure that chooses a scorer. It is repeated for each held-out part, and can choose a
    different scorer each time."""
    scorer_accuracies: tuple[MeasuredScorer, ...]
    """Accuracy of each scorer by itself. Scorers too simple to be chosen (class frequencies, text length) come last."""
    baselines_not_beaten: tuple[str, ...]
    """Which of the baselines text length and TF-IDF the chosen scorer does not beat by more than chance."""
    ideas: int
    """Number of held-out ideas."""
    split: str


class Verdict(Frozen):
    """Verdict with its evidence. An outcome is named only if the calibration says more than the outcome frequencies."""

    decision: str | Absent
    """Predicted outcome, or the reason why none is predicted."""
    probabilities: tuple[ClassProbability, ...]
    """Outcome probabilities, in the graph's order; empty if none could be computed, and in an incomplete report."""
    scorer: str
    calibration: str | Absent
    """Name, data and size of the calibration, or the reason why there is none."""
    choice: ScorerChoice | Absent
    graph: GraphUsed
    extractor: str
    """Name of the model or program that extracted this idea's viewpoints."""
    viewpoints: int
    """Number of viewpoints in this idea; all of them were used."""
    evidence: tuple[ViewpointEvidence, ...]
    """Viewpoints that changed the score most, strongest effect first."""
    repeats: RepeatedIdea | Absent | None
    """Idea in the graph that this idea repeats; None if there is none; absent if it was not checked."""
