"""Accuracy, order and probability of point scores, against values computed by hand and by scikit-learn."""

import datetime as dt
from typing import get_args

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, f1_score, roc_auc_score

from assayer.methods.innoeval.board.thresholds import fit_thresholds
from assayer.models import IdeaId
from benchmarks.quality.contenders import (
    Bin,
    Contender,
    always,
    at_base_rates,
    by_calibration,
    by_thresholds,
    measures,
    platt,
    ranked,
    reliability,
    stratified,
)
from benchmarks.quality.grapheval.data import InnoEval, Labelled, Pair
from benchmarks.quality.papers import GRADINGS, LABEL_SETS, LabelSet, agreements, labels
from benchmarks.quality.points import PointOutcome, scores_of

_TRUTH = np.array([0, 0, 0, 1, 1], np.int16)
_NAN = float("nan")


def _values(one: Contender, truth: "np.ndarray[tuple[int], np.dtype[np.int16]]" = _TRUTH) -> dict[str, float]:
    return {name: round(estimate.value, 4) for name, estimate in measures(one, truth, 20, 0).items()}


def _named(*rows: int | None) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    return np.array([[_NAN, _NAN] if row is None else np.eye(2)[row] for row in rows])


def test_two_outcomes_are_counted_as_by_hand_and_a_paper_without_a_verdict_is_wrong() -> None:
    decided = _named(0, 1, None, 1, 1)
    scores = np.array([2.0, 5.0, _NAN, 5.0, 9.0])
    found = _values(Contender("x", [decided], [ranked(scores)], [_named(0, 1, None, 1, 1)]))
    assert found["accuracy"] == 0.6  # three of five
    # reject: one right of one named and three there, 2·1/4; accept: two right of three named and two there, 2·2/5.
    assert found["macro-F1"] == round((0.5 + 0.8) / 2, 4)
    # Of 3 × 2 pairs: 2 < 5, 2 < 9, 5 < 9 are right, 5 = 5 a half, the two of the paper without a score are lost.
    assert found["AUROC"] == round(3.5 / 6, 4)
    assert found["Brier"] == round((0 + 1 + 1 + 0 + 0) / 5, 4)
    assert found["ECE"] == 0.25  # of the four that were answered one is wrong with certainty


def test_measures_are_those_of_scikit_learn_where_every_paper_has_a_verdict() -> None:
    generator = np.random.default_rng(3)
    truth = generator.integers(0, 2, 60).astype(np.int16)
    said = generator.random(60)
    probable = np.column_stack([1 - said, said])
    found = measures(Contender("x", [probable], [probable], [probable]), truth, 20, 0)
    assert found["macro-F1"].value == pytest.approx(f1_score(truth, said > 0.5, average="macro"))
    assert found["AUROC"].value == pytest.approx(roc_auc_score(truth, said))
    assert found["Brier"].value == pytest.approx(brier_score_loss(truth, said))


def test_intervals_hold_the_value_and_repeats_are_averaged() -> None:
    found = measures(Contender("x", [_named(0, 0, 0, 1, 1), _named(1, 1, 1, 0, 0)]), _TRUTH, 50, 0)
    assert found["accuracy"] == (0.5, 0.5, 0.5)
    assert set(found) == {"accuracy", "macro-F1"}


def test_reliability_shows_what_came_true_beside_what_was_said() -> None:
    said = np.array([0.0625, 0.125, 0.875, 1.0, _NAN])
    assert reliability(np.array([0, 1, 1, 0, 1], np.int16), np.column_stack([1 - said, said])) == [
        Bin(2, 0.09375, 0.5),
        Bin(2, 0.9375, 0.5),
    ]


def test_a_judge_that_answered_nothing_scores_nothing() -> None:
    nothing = np.full(5, _NAN)
    decided = [by_thresholds(nothing, _TRUTH, 2, 0), by_calibration(nothing, _TRUTH, GRADINGS[0].classes, 0)]
    for one in decided:
        found = _values(Contender("x", [one], [ranked(nothing)], [platt(nothing, _TRUTH, 0)]))
        assert (found["accuracy"], found["macro-F1"], found["AUROC"], found["Brier"]) == (0.0, 0.0, 0.0, 1.0)


def test_always_reject_is_right_as_often_as_papers_were_rejected() -> None:
    assert _values(always("always reject", 0, 5, 2)) == {"accuracy": 0.6, "macro-F1": 0.375, "AUROC": 0.5}


def test_answers_by_lot_are_right_as_often_as_the_rates_say() -> None:
    truth = np.repeat([0, 1], [600, 400]).astype(np.int16)
    assert _values(at_base_rates(truth, 2, 0), truth)["accuracy"] == pytest.approx(0.52, abs=0.02)


def test_thresholds_that_tell_outcomes_apart_are_found_in_other_folds() -> None:
    truth = np.repeat([0, 1], [30, 30]).astype(np.int16)
    scores = np.concatenate([np.linspace(1, 4, 30), np.linspace(6, 9, 30)])
    for said in (by_thresholds(scores, truth, 2, 0), by_calibration(scores, truth, ("reject", "accept"), 0)):
        assert (said.argmax(axis=1) == truth).all()


def test_thresholds_are_never_fitted_on_what_they_are_tested_on() -> None:
    """Fitted on all forty papers, thresholds name more of these meaningless scores right than chance does."""
    truth = np.array([0] * 20 + [1] * 20, np.int16)
    drawn = [np.random.default_rng(seed).permutation(np.linspace(0, 10, 40)) for seed in range(30)]
    tested = [(by_thresholds(scores, truth, 2, 0).argmax(axis=1) == truth).mean() for scores in drawn]
    fitted = [(scores >= fit_thresholds(scores, truth.astype(np.int64), 2)[0]) == truth for scores in drawn]
    assert np.mean(fitted) > 0.57
    assert np.mean(tested) < 0.54


def test_a_calibration_that_is_no_better_than_chance_names_no_decision() -> None:
    truth = np.array([0, 1] * 30, np.int16)
    said = by_calibration(np.full(60, 5.0), truth, ("reject", "accept"), 0)
    assert np.isnan(said).all()


def test_folds_hold_every_paper_once() -> None:
    parts = stratified(_TRUTH, 3, 0)
    assert sorted(np.concatenate(parts).tolist()) == [0, 1, 2, 3, 4]


def _paper(name: str, label: int) -> Labelled:
    return Labelled(IdeaId(name), f"{name}\n\nAbstract.", label, dt.date(2025, 1, 1))


def _data() -> InnoEval:
    grouped = [_paper("a", 0), _paper("b", 3), _paper("c", 2)]
    pairs = {"easy": [Pair(IdeaId("b"), IdeaId("a"), "b")]}
    points = [_paper("a", 0), _paper("b", 0), _paper("c", 1), _paper("d", 3)]
    return InnoEval(points, grouped, {"b": {IdeaId("a"), IdeaId("b"), IdeaId("c")}}, pairs)


def test_papers_with_two_labels_are_counted_once() -> None:
    assert [tuple(one) for one in agreements(_data())] == [
        ("points and groups", 3, 2, 1),
        ("points and pairs", 2, 1, 1),
    ]


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ("of the points", ([0, 1, 2, 3], [0, 0, 1, 3])),
        ("of the groups where they differ", ([0, 1, 2, 3], [0, 3, 2, 3])),
        ("without the doubtful", ([0, 3], [0, 3])),
    ],
)
def test_doubtful_papers_have_either_label_or_are_left_out(
    which: LabelSet, expected: tuple[list[int], list[int]]
) -> None:
    rows, found = labels(_data(), which)
    assert (rows.tolist(), found.tolist()) == expected


def test_every_set_of_labels_is_reported() -> None:
    assert get_args(LabelSet) == LABEL_SETS


def test_spotlight_and_oral_are_one_outcome_of_three() -> None:
    four = np.array([0, 1, 2, 3], np.int16)
    assert [one.of(four).tolist() for one in GRADINGS] == [[0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]]


def test_scores_stand_in_the_order_of_the_points_one_row_a_seed() -> None:
    outcomes = [
        PointOutcome(item="c", seed=1, score=7.0),
        PointOutcome(item="a", seed=0, score=2.0),
        PointOutcome(item="b", seed=0, failure="nobody judged"),
        PointOutcome(item="elsewhere", seed=0, score=9.0),
    ]
    found = scores_of(_data(), outcomes)
    assert np.array_equal(found, [[2.0, _NAN, _NAN, _NAN], [_NAN, _NAN, 7.0, _NAN]], equal_nan=True)
