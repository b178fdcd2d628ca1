"""Final score, interval and agreement, against numbers worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from assayer.methods.innoeval.board.scores import (
    build_score_matrix,
    compute_final_score,
    compute_score_interval,
    measure_agreement,
)
from assayer.methods.innoeval.dimensions import Scale, load_built_in_dimensions
from assayer.models import Absent, Agreement, Score, ScoreInterval

THREE = load_built_in_dimensions()[:3]
NAN = float("nan")


def score(value: float) -> Score:
    return Score(value=value, basis="")


def test_scores_of_other_scales_are_converted_to_ten_points() -> None:
    agency = THREE[1].model_copy(update={"scale": Scale(min=1, max=6)})
    matrix = build_score_matrix((THREE[0], agency), [[score(4), score(6)], [Absent(reason="x"), score(3.5)]])
    assert matrix[0].tolist() == [4, 10]
    assert np.isnan(matrix[1][0])
    assert matrix[1][1] == 5


def test_final_score_is_weighted_mean_of_dimensions_ignoring_absent_scores() -> None:
    heavy = (THREE[0], THREE[1].model_copy(update={"weight": 3.0}), THREE[2])
    score = compute_final_score(heavy, np.array([[8, 4, NAN], [NAN, 6, NAN]]))
    assert isinstance(score, Score)
    assert score.value == pytest.approx((8 + 3 * 5) / 4)
    assert "2 of 3 dimensions" in score.basis
    assert "no reviewer could judge feasibility" in score.basis


def test_interval_of_full_matrix_is_students_t_of_reviewer_means() -> None:
    matrix = np.array([[6.0, 7, 5], [4, 6, 5], [7, 9, 6]])
    interval = compute_score_interval(THREE, matrix)
    means = matrix.mean(axis=1)
    low, high = stats.t.interval(0.9, 2, loc=means.mean(), scale=means.std(ddof=1) / 3**0.5)
    assert isinstance(interval, ScoreInterval)
    assert [interval.low, interval.high] == pytest.approx([low, high], abs=0.01)


def test_a_reviewer_who_skipped_the_hard_dimension_does_not_look_generous() -> None:
    alike = np.array([[8.0, 2, 5], [8, NAN, 5], [8, 2, 5]])
    interval = compute_score_interval(THREE, alike)
    assert isinstance(interval, ScoreInterval)
    assert interval.low == interval.high == 5


def test_agreement_matches_krippendorff_example_with_missing_values() -> None:
    rows = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
    matrix = np.array([[NAN if item == "." else float(item) for item in row] for row in rows])
    agreement = measure_agreement(matrix, 2)
    assert isinstance(agreement, Agreement)
    assert (agreement.alpha, agreement.reviewers, agreement.dimensions) == (0.849, 4, 11)


@given(st.lists(st.lists(st.none() | st.floats(0, 10), min_size=3, max_size=3), min_size=1, max_size=6))
def test_final_score_is_within_its_interval_and_scale(rows: list[list[float | None]]) -> None:
    matrix = np.array([[NAN if item is None else item for item in row] for row in rows])
    value, spread = compute_final_score(THREE, matrix), compute_score_interval(THREE, matrix)
    if isinstance(value, Score):
        assert 0 <= value.value <= 10
        if isinstance(spread, ScoreInterval):
            assert 0 <= spread.low <= value.value + 0.01
            assert value.value - 0.01 <= spread.high <= 10
