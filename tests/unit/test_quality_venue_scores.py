"""Ratings against what is simpler than reading, on invented submissions: folds, silence, and scores withheld."""

import numpy as np
import pytest

from assayer.methods.scicompanion.walk import WalkOptions
from assayer.models import Absent
from benchmarks.quality.venue_scores.measures import (
    RatingError,
    one_reviewer,
    rating_errors,
    rating_table,
    score_without_model,
)
from benchmarks.quality.venue_scores.part import said_in_folds
from benchmarks.quality.venue_scores.predictors import LENGTH, MEAN, WORDS, features_of, from_others
from benchmarks.quality.venue_scores.retrieval_features import retrieval_features
from benchmarks.quality.venue_scores.submissions import RatedSubmission
from benchmarks.quality.venue_scores.with_model import rating_outcome
from tests.unit.scicompanion_world import backends_without_llm, corpus, evaluated, twin_backends

TOPICS = ("Maps of towns are drawn by hand with ink.", "Bees visit flower strips beside the orchards.")


def _submissions(count: int) -> list[RatedSubmission]:
    """Bees get 7, maps 4."""
    return [RatedSubmission(f"s{n}", 2024, f"Plan {n}", TOPICS[n % 2], (4.0 + 3 * (n % 2),)) for n in range(count)]


def _ratings(submissions: list[RatedSubmission]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([one.rating for one in submissions])


def test_words_that_tell_the_rating_have_a_smaller_error_than_the_mean_with_their_interval() -> None:
    submissions = _submissions(60)
    ratings = _ratings(submissions)
    said = said_in_folds(features_of(submissions, None), ratings, 0)
    by_name = {one.predictor: one for one in rating_errors(ratings, said, 200, 0)}
    assert by_name[MEAN].rmse[0] == pytest.approx(1.5, abs=0.1)
    assert by_name[WORDS].beats_the_mean
    assert score_without_model(by_name[WORDS]) == by_name[WORDS]


def test_what_tells_nothing_gives_no_score_and_says_why() -> None:
    generator = np.random.default_rng(0)
    ratings = generator.normal(5, 1.3, 80)
    noise = {MEAN: np.zeros((80, 1)), LENGTH: generator.normal(size=(80, 1))}
    errors = rating_errors(ratings, said_in_folds(noise, ratings, 0), 200, 0)
    (length,) = [one for one in errors if one.predictor == LENGTH]
    score = score_without_model(length)
    assert isinstance(score, Absent)
    assert "constant mean" in score.reason
    assert "not shown" in list(rating_table(errors))[-1]


def test_a_submissions_own_rating_changes_nothing_that_is_said_of_it() -> None:
    submissions = _submissions(20)
    features = features_of(submissions, None)
    ratings = _ratings(submissions)
    changed = ratings.copy()
    changed[3] = 10.0
    honest, other = (said_in_folds(features, some, 0) for some in (ratings, changed))
    assert honest[WORDS][3] == other[WORDS][3]
    assert not np.array_equal(honest[WORDS], other[WORDS])


def test_silence_is_counted_and_errs_as_the_mean_does() -> None:
    ratings = np.array([4.0, 6.0, 4.0, 6.0])
    said = {MEAN: np.full(4, 5.0), "judge": np.array([4.0, np.nan, 4.0, np.nan])}
    judge: RatingError = rating_errors(ratings, said, 50, 0)[1]
    assert judge.unanswered == 2
    assert judge.rmse[0] == pytest.approx(np.sqrt(0.5))


def test_one_reviewer_is_held_against_the_others_of_submissions_that_have_others() -> None:
    error, count = one_reviewer([(4.0, 6.0), (5.0,), (7.0, 5.0)], 50, 0)
    assert count == 2
    assert error == pytest.approx((2, 2, 2))
    with pytest.raises(ValueError, match="two ratings"):
        one_reviewer([(5.0,)], 50, 0)


def test_forward_in_time_the_mean_is_that_of_the_years_before() -> None:
    said = from_others(MEAN, np.zeros((3, 1)), np.array([3.0, 4.0, 5.0]), np.zeros((2, 1)))
    assert said.tolist() == [4.0, 4.0]


async def test_a_search_tells_of_papers_from_before_the_submissions_year_only() -> None:
    quotes = RatedSubmission("q", 2021, "Quoted sentences", "Quoted sentences compared with their sources.", (6.0,))
    early = quotes._replace(year=2019)
    late, nothing = await retrieval_features([quotes, early], corpus(), WalkOptions(seeds=5))
    assert late[0] > 0
    assert 0 < late[1] <= 1
    assert not nothing.any()


async def test_the_overall_score_of_a_report_is_the_rating_and_without_a_model_the_reason_stands_there() -> None:
    backends, _ = twin_backends()
    evaluation, _ = await evaluated(backends)
    assert rating_outcome("one", evaluation.report).score == 6
    silent = await evaluated(backends_without_llm())
    outcome = rating_outcome("one", silent[0].report)
    assert outcome.score is None
    assert "language model" in outcome.failure
