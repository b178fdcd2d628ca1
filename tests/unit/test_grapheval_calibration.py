import numpy as np
import pytest
from numpy.typing import NDArray

from assayer.errors import InputError
from assayer.methods.grapheval.scoring.calibration import (
    ProbabilityCalibration,
    compute_cross_fitted_probabilities,
    fit_calibration,
)
from assayer.methods.grapheval.scoring.metrics import compute_calibration_error
from tests.unit.grapheval_graphs import PROVENANCE

CLASSES = ("bad", "good")


def draw_overconfident_scores(ideas: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int16]]:
    """Draw labels from log-odds and the probabilities of a scorer that triples them."""
    generator = np.random.default_rng(seed)
    odds = generator.normal(size=ideas)
    truth = (generator.random(ideas) < 1 / (1 + np.exp(-odds))).astype(np.int16)
    positive_probability = 1 / (1 + np.exp(-3 * odds))
    return np.stack([1 - positive_probability, positive_probability], axis=1), truth


def draw_uninformed_scores(ideas: int, seed: int, rate: float = 0.3) -> tuple[NDArray[np.float64], NDArray[np.int16]]:
    generator = np.random.default_rng(seed)
    positive_probability = generator.random(ideas)
    return np.stack([1 - positive_probability, positive_probability], axis=1), (generator.random(ideas) < rate).astype(
        np.int16
    )


def fit(data: tuple[NDArray[np.float64], NDArray[np.int16]]) -> ProbabilityCalibration:
    return fit_calibration("test", "a scorer", CLASSES, *data, PROVENANCE, replicates=50)


def test_calibration_corrects_overconfident_scorer() -> None:
    calibration = fit(draw_overconfident_scores(2000, seed=1))
    scores, truth = draw_overconfident_scores(2000, seed=2)
    calibrated = np.stack([verdict.probabilities for verdict in calibration.calibrate(scores)])
    assert calibration.scaling.slope == pytest.approx(1 / 3, abs=0.05)
    assert compute_calibration_error(truth, scores) > 0.1
    assert compute_calibration_error(truth, calibrated) < 0.04


def test_uninformative_scorer_yields_label_rates_and_no_verdict() -> None:
    calibration = fit(draw_uninformed_scores(400, seed=5))
    verdicts = calibration.calibrate(np.array([[0.5, 0.5], [0.45, 0.55]]))
    for verdict in verdicts:
        assert verdict.probabilities == pytest.approx(calibration.rates, abs=0.05)
        assert (verdict.best, verdict.abstention) == (None, "nothing known")


def test_informative_scorer_names_class_with_probability_inside_interval() -> None:
    verdict = fit(draw_overconfident_scores(2000, seed=1)).calibrate(np.array([[0.001, 0.999]]))[0]
    assert (verdict.best, verdict.abstention) == (1, None)
    assert verdict.low[1] <= verdict.probabilities[1] <= verdict.high[1]
    assert verdict.probabilities.sum() == pytest.approx(1)


def test_nearly_equal_class_probabilities_stay_undecided() -> None:
    scores, truth = draw_overconfident_scores(2000, seed=1)
    is_kept = (truth == 0) | (np.arange(len(truth)) % 4 == 0)
    calibration = fit((scores[is_kept], truth[is_kept]))
    grid = np.linspace(0.5, 0.9999, 400)
    verdicts = calibration.calibrate(np.stack([1 - grid, grid], axis=1))
    nearest = min(verdicts, key=lambda verdict: abs(float(verdict.probabilities[1]) - 0.5))
    assert nearest.abstention == "undecided"


def test_scaling_never_reverses_the_scorer() -> None:
    scores, truth = draw_overconfident_scores(500, seed=1)
    assert fit((scores[:, ::-1], truth)).scaling.slope == 0


def test_too_few_or_single_class_held_out_ideas_are_rejected() -> None:
    with pytest.raises(InputError, match="at least 30 held-out ideas; there are 10"):
        fit(draw_overconfident_scores(10, seed=1))
    scores, _ = draw_overconfident_scores(100, seed=1)
    with pytest.raises(InputError, match="No held-out idea is labelled 'good'"):
        fit((scores, np.zeros(100, np.int16)))


def test_cross_fitted_probability_does_not_depend_on_own_label() -> None:
    scores, truth = draw_uninformed_scores(60, seed=3)
    before = compute_cross_fitted_probabilities(scores, truth)
    for row in (0, 17):
        flipped_truth = truth.copy()
        flipped_truth[row] = 1 - truth[row]
        scaling = compute_cross_fitted_probabilities(scores, flipped_truth, folds=60)[row]
        assert scaling == pytest.approx(compute_cross_fitted_probabilities(scores, truth, folds=60)[row])
    assert before.shape == scores.shape
    assert before.sum(axis=1) == pytest.approx(np.ones(60))
