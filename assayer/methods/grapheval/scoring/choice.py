"""Choose between several scorers by holding out some of the training ideas."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.graph.arrays import GraphArrays, Rows
from assayer.methods.grapheval.graph.subgraph import LocalScorer
from assayer.methods.grapheval.options import HOPS
from assayer.methods.grapheval.ports import Scorer
from assayer.methods.grapheval.scoring.baselines import (
    LENGTH,
    MAJORITY,
    TFIDF,
    IdeaLogistic,
    LengthLogistic,
    Majority,
    TfidfLogistic,
    find_labelled_rows_of_two_classes,
)
from assayer.methods.grapheval.scoring.holdout import score_held_out, split_into_folds
from assayer.methods.grapheval.scoring.label_propagation import ALL_EDGES, FEW_EDGES
from assayer.methods.grapheval.scoring.metrics import bootstrap, compute_auroc
from assayer.models import IdeaId, MeasuredScorer, ScorerChoice
from assayer.text.code_links import remove_code_links

_ROUNDS = 500
"""Number of bootstrap resamples."""
CHOICE = "chosen inside the ideas learned from"


class Candidates(NamedTuple):
    choosable: tuple[Scorer, ...]
    yardsticks: tuple[Scorer, ...]
    """Baselines that are measured but never chosen: a verdict based on a text's length would be worthless to
    readers."""


def list_candidates(texts: Mapping[IdeaId, str]) -> Candidates:
    """Return the scorers to choose from: graph scorers that need no training, and simple baselines."""
    propagations = (LocalScorer(item, HOPS) for item in (FEW_EDGES, ALL_EDGES))
    return Candidates((*propagations, TfidfLogistic(texts), IdeaLogistic()), (LengthLogistic(texts), Majority()))


class BestOf:
    """Scorer that applies the candidate with the highest cross-validated AUROC on the known ideas; ties go to the
    first. The ideas being scored play no part in the choice."""

    def __init__(self, name: str, scorers: Sequence[Scorer], folds: int = 5, seed: int = 0) -> None:
        self.name = name
        self._scorers = tuple(scorers)
        self._folds = folds
        self._seed = seed

    def score(self, graph: GraphArrays, rows: Rows) -> NDArray[np.float64]:
        return self.choose(graph, rows).score(graph, rows)

    def choose(self, graph: GraphArrays, rows: Rows) -> Scorer:
        """Choose a scorer. Raises InputError if the known ideas have fewer than two labels."""
        labelled_rows = find_labelled_rows_of_two_classes(graph, rows)
        hidden_graph = graph.hide_labels(rows)
        parts = split_into_folds(hidden_graph, min(self._folds, len(labelled_rows)), self._seed)
        truth = graph.labels[labelled_rows]
        values = [
            compute_auroc(truth, score_held_out(scorer, hidden_graph, parts)[labelled_rows]) for scorer in self._scorers
        ]
        return self._scorers[int(np.argmax(values))]


def describe_choice(
    chosen: str,
    chosen_scores: NDArray[np.float64],
    compared: Mapping[str, NDArray[np.float64]],
    truth: NDArray[np.int16],
    split: str,
    seed: int,
) -> ScorerChoice:
    """Describe how a scorer was chosen. All scores have shape (ideas, classes) and refer to the same held-out ideas.
    `chosen_scores` come from the whole selection procedure, `compared` from individual scorers."""

    def measure(name: str, scores: NDArray[np.float64]) -> MeasuredScorer:
        estimate = bootstrap(compute_auroc, truth, [scores], _ROUNDS, seed)
        return MeasuredScorer(
            name=name, auroc=round(estimate.value, 4), low=round(estimate.low, 4), high=round(estimate.high, 4)
        )

    oriented_scores = {
        name: _choose_direction(scores, truth) if name == LENGTH else scores for name, scores in compared.items()
    }

    def is_beaten(simple: str) -> bool:
        return (
            bootstrap(compute_auroc, truth, [chosen_scores], _ROUNDS, seed, other_runs=[oriented_scores[simple]]).low
            > 0
        )

    order = sorted(oriented_scores, key=lambda name: name in {LENGTH, MAJORITY})
    return ScorerChoice(
        scorer=chosen,
        held_out_accuracy=measure(CHOICE, chosen_scores),
        scorer_accuracies=tuple(measure(name, oriented_scores[name]) for name in order),
        baselines_not_beaten=tuple(
            simple for simple in (LENGTH, TFIDF) if simple in compared and not is_beaten(simple)
        ),
        ideas=len(truth),
        split=split,
    )


def _choose_direction(scores: NDArray[np.float64], truth: NDArray[np.int16]) -> NDArray[np.float64]:
    """Return the scores, with the two outcomes swapped if that gives a higher AUROC. Longer texts do better in some
    years and worse in others, and a baseline that learned the wrong direction would be too easy to beat."""
    return scores[:, ::-1] if scores.shape[1] == 2 and compute_auroc(truth, scores) < 0.5 else scores


def build_titled_text(title: str, text: str) -> str:
    """Return the text for regressions on words and length. Sentences about the idea's code are removed: they would
    reveal that it was accepted."""
    return remove_code_links(text if text.startswith(title) else f"{title}\n\n{text}")
