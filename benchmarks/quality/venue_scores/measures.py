"""Root mean squared error of predicted ratings, each beside the constant mean, with paired intervals; and of one
reviewer beside the others."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.models import Absent
from benchmarks.quality.grapheval.reporting import row
from benchmarks.quality.venue_scores.predictors import MEAN

__all__ = ["RatingError", "one_reviewer", "rating_errors", "rating_table", "score_without_model"]

Floats = NDArray[np.float64]
Interval = tuple[float, float, float]
"""A value and the ends of its 95 % interval."""


class RatingError(NamedTuple):
    predictor: str
    rmse: Interval
    less_than_mean: Interval
    """By how much its error is smaller than that of the constant mean on the same submissions."""
    unanswered: int

    @property
    def beats_the_mean(self) -> bool:
        return self.less_than_mean[1] > 0


def rating_errors(ratings: Floats, said: Mapping[str, Floats], rounds: int, seed: int) -> list[RatingError]:
    """`said` by predictor, the mean among them. Where a predictor says nothing (NaN) the mean speaks for it, and it is
    counted: silence neither wins nor hides a hard submission."""
    draws = np.random.default_rng(seed).integers(0, len(ratings), (rounds, len(ratings)))
    constant = (said[MEAN] - ratings) ** 2
    found = []
    for name, values in said.items():
        silent = np.isnan(values)
        own = np.where(silent, constant, (values - ratings) ** 2)
        drawn, against = np.sqrt(own[draws].mean(axis=1)), np.sqrt(constant[draws].mean(axis=1))
        rmse, of_mean = float(np.sqrt(own.mean())), float(np.sqrt(constant.mean()))
        found.append(
            RatingError(name, _interval(rmse, drawn), _interval(of_mean - rmse, against - drawn), int(silent.sum()))
        )
    return found


def one_reviewer(reviews: Sequence[Sequence[float]], rounds: int, seed: int) -> tuple[Interval, int]:
    """Error of one rating of each submission, drawn by lot, against the mean of its others, and how many submissions
    have others. Raises ValueError where none has."""
    generator = np.random.default_rng(seed)
    squares = []
    for ratings in reviews:
        if len(ratings) > 1:
            drawn = int(generator.integers(len(ratings)))
            squares.append((ratings[drawn] - np.mean(np.delete(np.array(ratings), drawn))) ** 2)
    if not squares:
        raise ValueError("no submission has two ratings")
    errors = np.array(squares, np.float64)
    draws = generator.integers(0, len(errors), (rounds, len(errors)))
    return _interval(float(np.sqrt(errors.mean())), np.sqrt(errors[draws].mean(axis=1))), len(errors)


def score_without_model(error: RatingError) -> Absent | RatingError:
    """A score from retrieval alone is given only where it beats the constant mean, with its whole interval."""
    if error.beats_the_mean:
        return error
    less, low, high = error.less_than_mean
    return Absent(
        reason=f"Its error is not shown to be below that of the constant mean (less by {less:.3f} [{low:.3f}, "
        f"{high:.3f}])."
    )


def rating_table(errors: Sequence[RatingError]) -> Iterator[str]:
    yield row("", "RMSE", "less than the mean's", "below the mean", "unanswered")
    yield row(*["---"] * 5)
    for one in errors:
        shown = "" if one.predictor == MEAN else "{:+.3f} [{:+.3f}, {:+.3f}]".format(*one.less_than_mean)
        below = "" if one.predictor == MEAN else ("yes" if one.beats_the_mean else "not shown")
        rmse = "{:.2f} [{:.2f}, {:.2f}]".format(*one.rmse)
        yield row(one.predictor, rmse, shown, below, str(one.unanswered))


def _interval(value: float, drawn: Floats) -> Interval:
    low, high = np.quantile(drawn, (0.025, 0.975)).tolist()
    return value, low, high
