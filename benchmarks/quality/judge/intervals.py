"""Formats means and shares over plans with bootstrap intervals."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.scoring.metrics import bootstrap
from benchmarks.quality.grapheval.reporting import format_estimate


def format_share(values: Sequence[NDArray[np.float64]], rounds: int) -> str:
    """Format the mean over all values; each plan has an array of them."""

    def compute_mean(rows: NDArray[np.int64]) -> float:
        sample = np.concatenate([values[number] for number in rows])
        return float(sample.mean()) if len(sample) else float("nan")

    return _format_interval(compute_mean, len(values), rounds)


def format_statistic(
    values: Sequence[float | None],
    rounds: int,
    measure: Callable[[NDArray[np.float64]], float] = lambda sample: float(sample.mean()),
) -> str:
    """Format a measure, by default the mean, over the plans that have a value."""
    known_values = np.array([value for value in values if value is not None], np.float64)
    return _format_interval(lambda rows: measure(known_values[rows]), len(known_values), rounds)


def _format_interval(measure: Callable[[NDArray[np.int64]], float], plans: int, rounds: int) -> str:
    """Format a measure of all plans with an interval over resampled plans; `measure` takes their numbers."""
    if not plans:
        return "–"
    estimate = bootstrap(
        lambda rows, _: measure(rows.astype(np.int64)), np.arange(plans, dtype=np.int16), [np.zeros((plans, 1))],
        rounds, 0,
    )  # fmt: skip
    return "–" if np.isnan(estimate.value) else format_estimate(estimate)
