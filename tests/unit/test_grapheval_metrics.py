import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from assayer.methods.grapheval.scoring.metrics import (
    bootstrap,
    compute_accuracy,
    compute_auroc,
    compute_calibration_error,
)

TRUTH = np.array([0, 0, 1, 1], np.int16)
PROBABILITIES = np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.8, 0.2]])
NO_ANSWER = [np.nan, np.nan]


def test_metrics_match_hand_computed_values() -> None:
    assert compute_accuracy(TRUTH, PROBABILITIES) == 0.5
    assert compute_auroc(TRUTH, PROBABILITIES) == 0.75, "of the pairs .1<.7 .1<.2 .6<.7 .6>.2 three are in order"
    # Bins: .6 (wrong), .7 (right), .8 (wrong), .9 (right), each alone.
    assert compute_calibration_error(TRUTH, PROBABILITIES) == pytest.approx((0.6 + 0.3 + 0.8 + 0.1) / 4)


def test_missing_answer_counts_as_wrong_and_loses_comparisons() -> None:
    scores = PROBABILITIES.copy()
    scores[2] = NO_ANSWER
    assert compute_accuracy(TRUTH, scores) == 0.25
    assert compute_auroc(TRUTH, scores) == 0.25, "one of two answered pairs is in order, out of four pairs"
    assert compute_calibration_error(TRUTH, scores) == pytest.approx((0.6 + 0.8 + 0.1) / 3)


@given(st.integers(0, 10_000), st.integers(2, 4))
def test_auroc_agrees_with_scikit_learn(seed: int, classes: int) -> None:
    generator = np.random.default_rng(seed)
    truth = np.concatenate([np.arange(classes), generator.integers(0, classes, 30)]).astype(np.int16)
    scores = generator.dirichlet(np.ones(classes), len(truth)).round(3)
    scores[:, 0] += 1 - scores.sum(axis=1)
    sklearn_aurocs = [roc_auc_score(truth == label, scores[:, label]) for label in range(classes)]
    assert compute_auroc(truth, scores) == pytest.approx(sklearn_aurocs[1] if classes == 2 else np.mean(sklearn_aurocs))


def test_bootstrap_interval_contains_value_and_is_reproducible() -> None:
    generator = np.random.default_rng(3)
    truth = generator.integers(0, 2, 200).astype(np.int16)
    chance = generator.random(200)
    better = np.clip(chance + 0.3 * truth, 0, 1)
    runs = [np.stack([1 - better, better], axis=1)]
    estimate = bootstrap(compute_auroc, truth, runs, 200, seed=1)
    assert estimate.low < estimate.value < estimate.high
    assert estimate == bootstrap(compute_auroc, truth, runs, 200, seed=1)
    assert bootstrap(compute_auroc, truth, runs, 200, seed=1, other_runs=runs) == (0, 0, 0)
