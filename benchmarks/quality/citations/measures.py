"""Precision at 10 and recall at 100 of what authors cited, each way beside dense search, with paired intervals."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.models import PaperId
from benchmarks.quality.citations.contenders import Returned

__all__ = ["Compared", "citations_report", "compared", "precision_and_recall"]

_FIRST, _DEEP = 10, 100
_BASELINE = "dense"


class Compared(NamedTuple):
    """One way against dense search, over the same queries."""

    way: str
    precision: float
    recall: float
    more_precision: tuple[float, float, float]
    """Mean difference, with the ends of its 95 % interval."""
    more_recall: tuple[float, float, float]
    cpu_ms: float
    """Median."""
    cpu_p95_ms: float


def precision_and_recall(
    papers: Sequence[PaperId], relevant: Collection[PaperId], without: Collection[PaperId]
) -> tuple[float, float] | None:
    """None where no relevant paper is left."""
    wanted = set(relevant) - set(without)
    if not wanted:
        return None
    found = [one in wanted for one in papers if one not in without]
    return sum(found[:_FIRST]) / _FIRST, sum(found[:_DEEP]) / len(wanted)


def compared(answers: Sequence[Returned], without: Collection[PaperId], rounds: int, seed: int = 0) -> list[Compared]:
    by_way: dict[str, list[Returned]] = {}
    for one in answers:
        by_way.setdefault(one.way, []).append(one)
    scores = {way: _scores(some, without) for way, some in by_way.items()}
    draws = np.random.default_rng(seed).integers(0, len(scores[_BASELINE]), (rounds, len(scores[_BASELINE])))
    return [
        Compared(
            way,
            float(own[:, 0].mean()),
            float(own[:, 1].mean()),
            _interval(own[:, 0] - scores[_BASELINE][:, 0], draws),
            _interval(own[:, 1] - scores[_BASELINE][:, 1], draws),
            float(np.median([one.cpu_ms for one in by_way[way]])),
            float(np.quantile([one.cpu_ms for one in by_way[way]], 0.95)),
        )
        for way, own in scores.items()
    ]


def _scores(some: Sequence[Returned], without: Collection[PaperId]) -> NDArray[np.float64]:
    """Shape (queries, 2): precision and recall, of the queries that have relevant papers left, in their order."""
    found = (precision_and_recall(one.papers, one.query.relevant, without) for one in some)
    return np.array([one for one in found if one is not None], np.float64)


def _interval(differences: NDArray[np.float64], draws: NDArray[np.int64]) -> tuple[float, float, float]:
    means = differences[draws].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975)).tolist()
    return float(differences.mean()), low, high


def citations_report(rows: Mapping[str, Sequence[Compared]]) -> Iterator[str]:
    """`rows` by what was left out."""
    for title, some in rows.items():
        yield f"\n{title}\n"
        yield "| way | P@10 | against dense | recall@100 | against dense | × dense | CPU ms | p95 |"
        yield "|---|---|---|---|---|---|---|---|"
        base = next(one.recall for one in some if one.way == _BASELINE)
        for one in some:
            precision = "" if one.way == _BASELINE else "{:+.3f} [{:+.3f}, {:+.3f}]".format(*one.more_precision)
            recall = "" if one.way == _BASELINE else "{:+.3f} [{:+.3f}, {:+.3f}]".format(*one.more_recall)
            yield (
                f"| {one.way} | {one.precision:.3f} | {precision} | {one.recall:.3f} | {recall} "
                f"| {one.recall / base:.2f} | {one.cpu_ms:.0f} | {one.cpu_p95_ms:.0f} |"
            )
