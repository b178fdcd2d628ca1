"""InnoEval's points and pairs. Both are small, and the two sets of labels contradict each other."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.graph.arrays import UNKNOWN
from assayer.methods.grapheval.scoring.metrics import Estimate, accuracy, auroc, bootstrap
from assayer.models import IdeaId
from benchmarks.quality.grapheval.contestants import contestants
from benchmarks.quality.grapheval.data import CATEGORIES, InnoEval, Pair, decisions_2017
from benchmarks.quality.grapheval.graphs import Vectoriser, embedded
from benchmarks.quality.grapheval.metrics import macro_f1
from benchmarks.quality.grapheval.reporting import Setup
from benchmarks.quality.learned import values_in_groups

__all__ = ["PairRow", "PointRow", "pairs", "points"]


class PointRow(NamedTuple):
    scorer: str
    labels: str
    accuracy: Estimate
    macro_f1: Estimate
    auroc: Estimate


class PairRow(NamedTuple):
    scorer: str
    difficulty: str
    right: Estimate
    """Share of pairs in which the better idea got the higher value; ties count half, unanswered ones are wrong."""


def points(data: InnoEval, vectorise: Vectoriser, setup: Setup) -> list[PointRow]:
    """Learned from the decisions of ICLR 2017, asked about the points: another venue, eight years later."""
    asked = [one._replace(label=int(one.label > 0)) for one in data.points]
    known = embedded([*decisions_2017(), *asked], vectorise)
    rows = np.arange(len(known.papers) - len(asked), len(known.papers), dtype=np.int32)
    grouped = {one.id: int(one.label > 0) for one in data.grouped}
    sets = {
        "of the points": np.array([one.label for one in asked], np.int16),
        "of the groups": np.array([grouped.get(one.id, UNKNOWN) for one in asked], np.int16),
    }
    found = []
    for contestant in contestants(known, setup.provenance, setup.network):
        said = contestant.scorer.score(known.graph, rows)
        for name, labels in sets.items():
            chosen = labels != UNKNOWN
            values = (
                bootstrap(measure, labels[chosen], [said[chosen]], setup.rounds, setup.seed)
                for measure in (accuracy, macro_f1, auroc)
            )
            found.append(PointRow(contestant.scorer.name, name, *values))
    return found


def pairs(data: InnoEval, vectorise: Vectoriser, setup: Setup) -> list[PairRow]:
    """Learned from the papers of the other groups, in four ordered categories; nothing of a pair's own group is seen,
    since each group was put together to hold one paper of each category."""
    known = embedded(data.grouped, vectorise, CATEGORIES)
    found = []
    for contestant in contestants(known, setup.provenance, setup.network):
        values = values_in_groups(contestant.scorer, known, data.groups, setup.seed)
        for difficulty, some in data.pairs.items():
            right = _right(some, values)
            estimate = bootstrap(_mean, np.zeros(len(right), np.int16), [right[:, None]], setup.rounds, setup.seed)
            found.append(PairRow(contestant.scorer.name, difficulty, estimate))
    return found


def _right(some: Sequence[Pair], values: dict[tuple[str, IdeaId], float]) -> NDArray[np.float64]:
    """1 for a pair in order, a half for a tie, 0 for the reverse and for what was not answered."""
    gaps = np.array([values[one.group, one.better] - values[one.group, one.worse] for one in some])
    return np.where(np.isnan(gaps), 0.0, np.where(np.abs(gaps) < 1e-12, 0.5, gaps > 0))


def _mean(_: NDArray[np.int16], right: NDArray[np.float64]) -> float:
    return float(right.mean())
