"""Ratings told from texts: errors on the venue's scale, and what is said to lie below that of the mean."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.ratings import MEAN, RatedYear, figures_of, predictions


def a_year(signal: float, papers: int = 120) -> tuple[RatedYear, NDArray[np.float32]]:
    """Papers whose ratings follow one direction of their vectors, as strongly as said, and noise."""
    drawn = np.random.default_rng(1)
    vectors = drawn.normal(size=(papers, 8)).astype(np.float32)
    ratings = 5 + signal * vectors[:, 0] + drawn.normal(scale=0.5, size=papers)
    texts = [f"Paper {number} about reeds and moss. " * (1 + number % 3) for number in range(papers)]
    one = ratings + drawn.normal(size=papers)
    return RatedYear("made up", texts, ratings, one, np.where(np.arange(papers) % 10, ratings, np.nan)), vectors


def values(signal: float) -> dict[tuple[str, str], tuple[float, float]]:
    year, vectors = a_year(signal)
    found = list(figures_of(year, vectors, 200, 0))
    return {(one.measure, one.scorer): (one.value or 0.0, one.low or 0.0) for one in found}


def test_what_can_be_told_is_found_to_lie_below_the_mean() -> None:
    found = values(1.0)
    assert found["RMSE", "embedding + ridge"][0] < 0.65 < found["RMSE", MEAN][0]
    assert found["below the mean's", "embedding + ridge"][1] > 0


def test_where_nothing_can_be_told_nothing_is_claimed() -> None:
    found = values(0.0)
    assert all(low <= 0 for (measure, _), (_, low) in found.items() if measure.startswith("below"))


def test_nobody_learns_from_the_paper_that_is_asked_about() -> None:
    year, vectors = a_year(0.0, 40)
    said = predictions(year.texts, vectors.astype(np.float64), year.ratings, 0)
    changed = year.ratings.copy()
    changed[0] += 100
    again = predictions(year.texts, vectors.astype(np.float64), changed, 0)
    assert all(np.isclose(said[name][0], again[name][0]) for name in said)


def test_papers_with_one_reviewer_count_as_unanswered_by_people() -> None:
    year, vectors = a_year(0.0, 40)
    (people,) = (one for one in figures_of(year, vectors, 20, 0) if one.kind == "people")
    assert (people.items, people.unanswered) == (40, 4)
