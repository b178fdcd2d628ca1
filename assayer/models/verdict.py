"""What labelled ideas of the past say about an idea: probabilities of outcomes, and the evidence under them."""

import datetime as dt
from typing import Literal

from assayer.models.base import Absent, Frozen
from assayer.models.idea import IdeaId

__all__ = [
    "ClassProbability",
    "GraphUsed",
    "MeasuredScorer",
    "NeighbourViewpoint",
    "RepeatedIdea",
    "RepeatedViewpoint",
    "ScorerChoice",
    "Verdict",
    "ViewpointEvidence",
]


class ClassProbability(Frozen):
    """Of one outcome, calibrated."""

    name: str
    probability: float
    low: float
    high: float
    """90 % interval of the calibration, not of the outcome."""
    rate: float
    """The share of this outcome where the probability was calibrated: what one would say knowing nothing."""


class NeighbourViewpoint(Frozen):
    """A viewpoint of another idea, and what became of that idea."""

    text: str
    idea: IdeaId
    title: str
    url: str
    """From the graph's own record; empty when it has none."""
    date: dt.date | None
    label: str | None
    similarity: float
    """Cosine, above 0 to 1."""


class ViewpointEvidence(Frozen):
    """A viewpoint of the idea, and where it stands among viewpoints with known outcomes."""

    text: str
    words: str
    """The words of the idea that it rests on."""
    self_contained: bool
    leaning: str | None
    """The outcome that its score has more of with this viewpoint than without; None when it makes no difference."""
    influence: float
    """By how much, in shares of the score before calibration, 0 to 1."""
    neighbours: tuple[NeighbourViewpoint, ...]
    """The most similar first."""


class GraphUsed(Frozen):
    name: str
    version: str
    ideas: int
    labelled: int
    viewpoints: int
    embedding_model: str
    maker: str
    """Who took its ideas apart."""
    outcomes: tuple[str, ...]
    ordered: bool
    """Whether the outcomes stand from worst to best."""


class RepeatedViewpoint(Frozen):
    """A viewpoint of the idea beside the one that it repeats."""

    text: str
    other_text: str
    similarity: float
    """Cosine, above 0 to 1."""


class RepeatedIdea(Frozen):
    """An idea of the graph that this one repeats: a reason to look at both, not a proof."""

    kind: Literal["same", "copy", "recombination", "paraphrase"]
    """Its own words or title; most statements taken from it; taken from several, most of them from it; the same
    statements reworded."""
    idea: IdeaId
    title: str
    url: str
    share: float
    """Of the idea's viewpoints that are repeated, 0 to 1."""
    pairs: tuple[RepeatedViewpoint, ...]
    """In the order of the idea; empty for the same words."""


class MeasuredScorer(Frozen):
    """How well a scorer told outcomes apart, on ideas whose outcomes it had not seen."""

    name: str
    auroc: float
    low: float
    high: float
    """95 % interval, by bootstrap over ideas."""


class ScorerChoice(Frozen):
    """Which scorer speaks, out of several, and what that is worth on ideas that it was not chosen or learned from."""

    chosen: str
    held_out: MeasuredScorer
    """Of the choice as a whole: made anew without each held-out part, so it may have fallen on different scorers."""
    compared: tuple[MeasuredScorer, ...]
    """Each scorer by itself, what is too simple to be chosen (label rates, length of the text) last."""
    unbeaten: tuple[str, ...]
    """Of length and TF-IDF, those that the choice does not beat by more than chance."""
    ideas: int
    """Held out."""
    split: str


class Verdict(Frozen):
    """Evidence first; a class is named only where the calibration knows more than the label rates."""

    decision: str | Absent
    """The outcome that is named, or why none is."""
    probabilities: tuple[ClassProbability, ...]
    """In the graph's order; empty where nothing could be calculated, and in an incomplete report."""
    scorer: str
    calibration: str | Absent
    """Its name, data and size."""
    choice: ScorerChoice | Absent = Absent(reason="the report was made before scorers were chosen among several.")
    graph: GraphUsed
    maker: str
    """Who took this idea apart."""
    viewpoints: int
    """Of this idea, all of them used."""
    evidence: tuple[ViewpointEvidence, ...]
    """Those that moved the score most, the strongest first."""
    repeats: RepeatedIdea | Absent | None = Absent(reason="the report was made before repeated ideas were looked for.")
    """The idea of the graph that it repeats; None where there is none; absent where that was not looked for."""
