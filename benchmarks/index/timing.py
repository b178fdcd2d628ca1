"""Times of calls that alternate, so that their ratio is valid on a busy machine too."""

from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np

from assayer.models import Frozen
from assayer.ports import Vectors


class Percentiles(Frozen):
    """Milliseconds per call."""

    p50: float
    p95: float


class Comparison(Frozen):
    ours: Percentiles
    theirs: Percentiles
    overhead: float
    """Median ratio of our time to theirs for neighbouring calls, minus one."""


def compare_searches(
    ours: Callable[[Vectors], object], theirs: Callable[[Vectors], object], query_batches: Sequence[Vectors]
) -> Comparison:
    """Compare two searches, alternating which runs first so that neither always finds the other's memory warm.

    All queries run once before timing, because the first access to each page of a mapped file costs extra."""
    for query_batch in query_batches:
        ours(query_batch)
        theirs(query_batch)
    times = np.empty((2, len(query_batches)))
    for number, query_batch in enumerate(query_batches):
        order = ((0, ours), (1, theirs)) if number % 2 else ((1, theirs), (0, ours))
        for row, search in order:
            start = perf_counter()
            search(query_batch)
            times[row, number] = (perf_counter() - start) * 1000
    first, second = (
        Percentiles(p50=percentiles[0], p95=percentiles[1])
        for percentiles in np.quantile(times, [0.5, 0.95], axis=1).T.tolist()
    )
    return Comparison(ours=first, theirs=second, overhead=float(np.median(times[0] / times[1])) - 1)
