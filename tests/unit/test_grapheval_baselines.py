import numpy as np
import pytest

from assayer.errors import InputError
from assayer.methods.grapheval.graph.arrays import INTER, GraphArrays
from assayer.methods.grapheval.ports import Scorer
from assayer.methods.grapheval.scoring.baselines import IdeaLogistic, LengthLogistic, Majority, TfidfLogistic
from assayer.methods.grapheval.scoring.choice import BestOf
from assayer.methods.grapheval.scoring.holdout import find_later_ideas, score_held_out, split_into_folds
from assayer.methods.grapheval.scoring.label_propagation import LabelPropagation, keep_strongest_edges
from assayer.methods.grapheval.scoring.metrics import compute_auroc
from benchmarks.quality.grapheval.baselines import NearestIdeas
from tests.unit.grapheval_graphs import make_random_graph, make_row_array, make_separable_graph

GRAPH = make_separable_graph()
TEXTS = {
    idea: ("sound thorough in all respects" if label else "vague hasty")
    for idea, label in zip(GRAPH.ideas, GRAPH.labels, strict=True)
}
SCORERS: list[Scorer] = [
    Majority(),
    IdeaLogistic(),
    NearestIdeas(5),
    TfidfLogistic(TEXTS),
    LengthLogistic(TEXTS),
    LabelPropagation(),
]
SCORED_ROWS = make_row_array(0, 1, 6)


@pytest.mark.parametrize("scorer", SCORERS, ids=lambda scorer: scorer.name)
def test_scorer_returns_probabilities_without_using_labels_of_scored_ideas(scorer: Scorer) -> None:
    probabilities = scorer.score(GRAPH, SCORED_ROWS)
    assert probabilities.shape == (3, 2)
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(3))
    assert (scorer.score(GRAPH.hide_labels(SCORED_ROWS), SCORED_ROWS) == probabilities).all()


@pytest.mark.parametrize("scorer", SCORERS[1:], ids=lambda scorer: scorer.name)
def test_scorer_separates_separable_ideas(scorer: Scorer) -> None:
    probabilities = score_held_out(scorer, GRAPH, split_into_folds(GRAPH, 5, seed=0))
    assert compute_auroc(GRAPH.labels, probabilities) > 0.95


@pytest.mark.parametrize("scorer", [Majority(), IdeaLogistic(), NearestIdeas()], ids=lambda scorer: scorer.name)
def test_graph_without_other_labels_is_refused(scorer: Scorer) -> None:
    unlabelled = GRAPH.hide_labels(np.arange(1, 40, dtype=np.int32))
    with pytest.raises(InputError, match="None of the other 39 ideas in the graph has a label"):
        scorer.score(unlabelled, make_row_array(0))


@pytest.mark.parametrize(
    "scorer", [IdeaLogistic(), TfidfLogistic(TEXTS), LengthLogistic(TEXTS)], ids=lambda scorer: scorer.name
)
def test_training_on_a_single_label_is_rejected(scorer: Scorer) -> None:
    good_only = GRAPH.hide_labels(np.flatnonzero(GRAPH.labels == 0).astype(np.int32))
    with pytest.raises(InputError, match="All labelled ideas \\(20\\) have the label 'good'"):
        scorer.score(good_only, make_row_array(0))


def test_class_without_labelled_ideas_gets_probability_zero() -> None:
    graph = make_separable_graph(ideas=30, classes=("a", "b", "c"))
    hidden = graph.hide_labels(np.flatnonzero(graph.labels == 1).astype(np.int32))
    assert IdeaLogistic().score(hidden, make_row_array(1))[0, 1] == 0


def test_folds_contain_each_labelled_idea_once_with_balanced_labels() -> None:
    graph = GRAPH.hide_labels(make_row_array(3))
    parts = split_into_folds(graph, 4, seed=2)
    assert sorted(np.concatenate(parts).tolist()) == [row for row in range(40) if row != 3]
    counts = [np.bincount(graph.labels[part], minlength=2) for part in parts]
    assert np.ptp(counts, axis=0).max() <= 1
    assert any(
        (a != b).any() for a, b in zip(parts, split_into_folds(graph, 4, seed=3), strict=True) if len(a) == len(b)
    )


def test_later_ideas_are_held_out_but_undated_ideas_are_not() -> None:
    graph = make_random_graph(ideas=4)
    graph.dates[:] = (100, 200, 300, -1)
    assert find_later_ideas(graph, 150).tolist() == [1, 2]
    with pytest.raises(InputError, match="are on one side"):
        find_later_ideas(graph, 300)
    with pytest.raises(InputError, match="are on one side"):
        find_later_ideas(graph, 50)


def test_strongest_edges_keep_nearest_neighbours_and_all_edges_within_ideas() -> None:
    graph = make_random_graph(ideas=30)
    fewer = keep_strongest_edges(graph, 2)
    between = fewer.kinds == INTER
    assert (np.bincount(fewer.targets[between], minlength=len(graph.vectors)) == 2).all()
    assert (fewer.kinds != INTER).sum() == (graph.kinds != INTER).sum()
    cosines = graph.vectors @ graph.vectors.T
    cosines[graph.idea_of[:, None] == graph.idea_of[None, :]] = -1
    for node in (0, 77):
        kept_sources = set(fewer.sources[between & (fewer.targets == node)].tolist())
        assert kept_sources == set(np.argsort(-cosines[node])[:2].tolist())


class Oracle:
    """Scorer that knows every label, or always predicts the opposite."""

    def __init__(self, graph: GraphArrays, is_correct: bool) -> None:
        self.name = f"oracle {is_correct}"
        self._right = np.eye(2)[graph.labels if is_correct else 1 - graph.labels]

    def score(
        self, graph: GraphArrays, rows: np.ndarray[tuple[int], np.dtype[np.int32]]
    ) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        return self._right[rows]


def test_best_of_selects_scorer_using_known_ideas_only() -> None:
    wrong_oracle = Oracle(GRAPH, is_correct=True)
    wrong_oracle._right[SCORED_ROWS] = wrong_oracle._right[SCORED_ROWS, ::-1]
    best_of = BestOf("wise", [Oracle(GRAPH, is_correct=False), wrong_oracle])
    assert best_of.choose(GRAPH, SCORED_ROWS) is wrong_oracle, "what it says of the asked ideas took no part"


def test_propagation_over_the_strongest_edges_ignores_all_others() -> None:
    probabilities = LabelPropagation(strongest=3).score(GRAPH, SCORED_ROWS)
    assert (probabilities == LabelPropagation().score(keep_strongest_edges(GRAPH, 3), SCORED_ROWS)).all()
