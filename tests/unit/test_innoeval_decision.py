"""Decisions: fitted, named, dated thresholds, or none."""

import datetime as dt
from functools import cache
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import InputError
from assayer.methods.innoeval.board.decision import (
    CalibrationConditions,
    DecisionCalibration,
    ScoredIdea,
    decide,
    fit_decision,
    load_decision_calibration,
)
from assayer.methods.innoeval.board.thresholds import compute_balanced_recall, fit_thresholds
from assayer.models import Absent, BoardRecord, Decision, PoolUsed, Reviewer, Score

BOARD = BoardRecord(
    seed=0,
    pool=PoolUsed(name="assayer", sha256="ab" * 32, personas=52),
    reviewers=tuple(Reviewer(key=f"R{n}", persona=f"Reviewer {n}", seat="open") for n in range(1, 6)),
    dimensions=(),
    prompt_version=1,
    prompt_digest="ab" * 8,
    models=("judge-1",),
    score=Absent(reason="nobody."),
    interval=Absent(reason="nobody."),
    agreement=Absent(reason="nobody."),
    decision=Absent(reason="not yet."),
    meta_review=Absent(reason="nobody."),
    advice=Absent(reason="nobody."),
)
CONDITIONS = CalibrationConditions.from_board(BOARD)
OUTCOMES = ("Reject", "Poster", "Oral")


def draw_labelled_ideas(number: int = 90, noise: float = 0.5, seed: int = 0) -> list[ScoredIdea]:
    """Draw scores around 3 for Reject, 5.5 for Poster and 8 for Oral."""
    generator = np.random.default_rng(seed)
    centres = {"Reject": 3.0, "Poster": 5.5, "Oral": 8.0}
    return [
        ScoredIdea(float(np.clip(centres[OUTCOMES[n % 3]] + generator.normal(0, noise), 0, 10)), OUTCOMES[n % 3])
        for n in range(number)
    ]


def fit(ideas: list[ScoredIdea] | None = None) -> DecisionCalibration:
    return fit_cached(tuple(ideas or draw_labelled_ideas()))


@cache
def fit_cached(ideas: tuple[ScoredIdea, ...]) -> DecisionCalibration:
    return fit_decision("spring", dt.date(2026, 3, 1), "90 made-up ideas.", CONDITIONS, OUTCOMES, ideas, 2, seed=0)


def make_scored_board(value: float) -> BoardRecord:
    return BOARD.model_copy(update={"score": Score(value=value, basis="")})


def test_thresholds_separate_distinct_outcomes() -> None:
    calibration = fit()
    low, high = calibration.thresholds
    assert 3.5 < low < 5.2
    assert 6 < high < 7.7
    assert calibration.counts == (30, 30, 30)
    assert calibration.unscored == 2
    assert calibration.performance.balanced_accuracy > 0.9
    assert calibration.performance.always_most_frequent == pytest.approx(1 / 3, abs=1e-3)
    assert calibration.performance.macro_f1_most_frequent == pytest.approx(1 / 6, abs=1e-3)
    assert calibration.performance.macro_f1 == pytest.approx(calibration.performance.accuracy, abs=0.02)


@pytest.mark.parametrize(("value", "name"), [(2.0, "Reject"), (5.5, "Poster"), (9.0, "Oral")])
def test_score_is_mapped_to_the_matching_decision(value: float, name: str) -> None:
    decision = decide(fit(), make_scored_board(value))
    assert isinstance(decision, Decision)
    assert decision.name == name
    assert decision.stability == 1.0
    assert (decision.calibration, decision.calibration_date) == ("spring", dt.date(2026, 3, 1))


def test_score_near_a_threshold_is_reported_as_unstable() -> None:
    calibration = fit(draw_labelled_ideas(noise=1.5))
    decision = decide(calibration, make_scored_board(calibration.thresholds[0]))
    assert isinstance(decision, Decision)
    assert decision.name == "Poster"
    assert decision.stability < 1.0


def test_calibration_of_other_reviewers_or_models_is_not_applied() -> None:
    other_board = make_scored_board(9.0).model_copy(update={"models": ("judge-2",), "reviewers": BOARD.reviewers[:1]})
    decision = decide(fit(), other_board)
    assert isinstance(decision, Absent)
    assert "different models and board" in decision.reason
    assert isinstance(decide(fit(), BOARD), Absent)


def test_uninformative_scores_are_rejected() -> None:
    reversed_ideas = [ScoredIdea(10 - item.score, item.outcome) for item in draw_labelled_ideas()]
    with pytest.raises(InputError, match="no better than chance"):
        fit(reversed_ideas)


@pytest.mark.parametrize(
    ("ideas", "message"),
    [
        (draw_labelled_ideas(29), "labelled ideas; there are 29"),
        ([*draw_labelled_ideas(), ScoredIdea(5.0, "temporal")], "'temporal'"),
        (
            [item for item in draw_labelled_ideas() if item.outcome != "Oral"],
            "needs at least two labelled ideas; these have fewer: 'Oral'",
        ),
    ],
)
def test_unusable_labels_are_rejected(ideas: list[ScoredIdea], message: str) -> None:
    with pytest.raises(InputError, match=message):
        fit(ideas)


@pytest.mark.parametrize(
    ("text", "message"),
    [("{}", "name: Field required"), ("no json", "Invalid JSON"), (None, "cannot be read")],
)
def test_invalid_calibration_file_is_rejected_by_name(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "bad.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as raised:
        load_decision_calibration(path)
    assert "bad.json" in raised.value.message


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), min_size=3, max_size=14))
def test_fitted_thresholds_are_optimal(pairs: list[tuple[int, int]]) -> None:
    scores = np.array([float(value) for value, _ in pairs] + [1.0, 3.0, 5.0])
    labels = np.array([label for _, label in pairs] + [0, 1, 2])

    def measure_recall(thresholds: tuple[float, ...]) -> float:
        return compute_balanced_recall(np.searchsorted(thresholds, scores, side="right"), labels, 3)

    cuts = [value - 0.5 for value in range(8)] + [11.0]
    best = max(measure_recall(pair) for pair in combinations_with_replacement(cuts, 2))
    thresholds = fit_thresholds(scores, labels, 3)
    assert thresholds == tuple(sorted(thresholds))
    assert measure_recall(thresholds) == pytest.approx(best)


def test_random_scores_are_rarely_accepted_as_signal() -> None:
    def is_refused(seed: int) -> bool:
        generator = np.random.default_rng(seed)
        noise = [
            ScoredIdea(float(generator.uniform(3, 8)), str(generator.choice(["Reject", "Accept"]))) for _ in range(60)
        ]
        try:
            fit_decision(
                "noise", dt.date(2026, 1, 1), "Made up by a die.", CONDITIONS, ("Reject", "Accept"), noise, 0, seed
            )
        except InputError:
            return True
        return False

    assert sum(is_refused(seed) for seed in range(20)) >= 17
