import datetime as dt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.models import OPEN, Window
from assayer.ports import Vectors
from index.corpus_fit import (
    MIN_PAPERS,
    calibrate_fit,
    choose_neighbour_count,
    compute_mean_nearness,
    judge_fit,
    select_fit_passages,
)
from index.segments.vector_index import VectorMatches


def test_worked_examples_do_not_lower_the_fit() -> None:
    text, examples = [0.6, 0.5, 0.55], [0.05] * 6

    def search(passages: Vectors, _count: int) -> list[VectorMatches]:
        return [VectorMatches(np.array([0, 1]), np.array([value, value])) for value in passages[:, 0].tolist()]

    assert compute_mean_nearness(make_column(text), search, 2) == pytest.approx(0.6)
    assert compute_mean_nearness(make_column(text + examples), search, 2) == pytest.approx(0.55)


def make_column(values: list[float]) -> Vectors:
    return np.array(values, np.float32)[:, None]


def test_calibration_thresholds_are_derived_from_quantiles() -> None:
    values = np.linspace(0.5, 0.7, 101)
    calibration = calibrate_fit(values, neighbours=20, papers=100)
    assert calibration.median == pytest.approx(0.6)
    assert calibration.good_from == pytest.approx(0.51)
    assert calibration.partial_from == pytest.approx(0.502)


def test_calibration_thresholds_stay_near_median_despite_outliers() -> None:
    calibration = calibrate_fit([0.1] * 10 + [0.6] * 90, neighbours=5, papers=100)
    assert calibration.good_from == pytest.approx(0.45)
    assert calibration.partial_from == pytest.approx(0.39)


@given(st.lists(st.floats(0, 1), min_size=MIN_PAPERS, max_size=60), st.floats(-1, 1))
def test_fit_level_follows_ordered_thresholds(values: list[float], value: float) -> None:
    calibration = calibrate_fit(values, neighbours=3, papers=100)
    assert calibration.partial_from <= calibration.good_from
    fit = judge_fit(value, calibration, papers=100, window=OPEN)
    assert fit.level == (
        "good" if value >= calibration.good_from else "partial" if value >= calibration.partial_from else "poor"
    )


def test_fit_criterion_states_paper_count_thresholds_and_cutoff() -> None:
    fit = judge_fit(
        0.58,
        calibrate_fit(np.linspace(0.5, 0.7, 101), neighbours=20, papers=100),
        4321,
        Window(before=dt.date(2021, 5, 1)),
    )
    assert fit.level == "good"
    assert fit.value == 0.58
    for part in ("20 nearest", "4,321 papers", "2021-05-01", "0.510", "0.502", "0.600"):
        assert part in fit.criterion


def test_fit_is_poor_when_there_are_too_few_papers() -> None:
    calibration = calibrate_fit([0.5] * MIN_PAPERS, neighbours=1, papers=100)
    for fit in (
        judge_fit(0.9, None, papers=4, window=OPEN),
        judge_fit(0.9, calibration, papers=3, window=Window(before=dt.date(2010, 1, 1))),
    ):
        assert fit.level == "poor"
        assert "fewer than 10" in fit.criterion


def test_small_corpus_uses_a_tenth_of_its_papers_as_neighbours() -> None:
    assert [choose_neighbour_count(papers) for papers in (1, 12, 80, 150, 25_527)] == [3, 3, 8, 15, 20]


def test_fit_passages_are_about_eighty_words() -> None:
    passages = select_fit_passages("Bees visit flowers all day long. " * 60)
    assert len(passages) == 5
    assert all(40 <= len(passage.split()) <= 120 for passage in passages)
