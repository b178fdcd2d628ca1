"""Repeated stratified splits of one labelled set, with calibration inside the training parts."""

from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.errors import InputError
from assayer.methods.grapheval.graph.arrays import UNKNOWN, GraphArrays
from assayer.methods.grapheval.ports import Scorer
from assayer.methods.grapheval.scoring.calibration import TrainingProvenance, fit_calibration
from assayer.methods.grapheval.scoring.holdout import held_out_scores, stratified_folds
from assayer.methods.grapheval.scoring.metrics import Estimate, auroc, bootstrap
from benchmarks.quality.grapheval.metrics import MEASURES

__all__ = ["Measured", "compare", "measure"]

_INNER_FOLDS = 4
_REPLICATES = 50
"""Of the calibration; a quarter of what the program makes."""


class Measured(NamedTuple):
    name: str
    truth: NDArray[np.int16]
    raw: list[NDArray[np.float64]]
    """(labelled ideas, classes) a repeat: what the scorer said of each while its label was hidden."""
    calibrated: list[NDArray[np.float64]]
    """The same after a calibration that was fitted inside the training part; empty where that was not done."""
    named: list[NDArray[np.int64]]
    """Row of the class that the calibrated verdict named, −1 where it abstained."""
    seconds: float
    """For one idea, training or choosing included, calibration not."""

    def estimates(self, rounds: int, seed: int) -> dict[str, Estimate]:
        found = {name: bootstrap(one, self.truth, self.raw, rounds, seed) for name, one in MEASURES.items()}
        if self.calibrated:
            found["ECE calibrated"] = bootstrap(MEASURES["ECE"], self.truth, self.calibrated, rounds, seed)
        return found

    def abstained(self) -> float:
        return float(np.mean([(one == UNKNOWN).mean() for one in self.named]))

    def right_where_named(self) -> float:
        """Accuracy over the verdicts that were given; NaN where none was."""
        given = [(one[one != UNKNOWN] == self.truth[one != UNKNOWN]) for one in self.named]
        pooled = np.concatenate(given) if given else np.empty(0)
        return float(pooled.mean()) if len(pooled) else float("nan")


def measure(
    scorer: Scorer, graph: GraphArrays, folds: int, repeats: int, calibrate: bool, provenance: TrainingProvenance
) -> Measured:
    labelled = np.flatnonzero(graph.labels != UNKNOWN)
    raw, calibrated, named, spent = [], [], [], 0.0
    for repeat in range(repeats):
        parts = stratified_folds(graph, folds, seed=repeat)
        start = perf_counter()
        said = held_out_scores(scorer, graph, parts)
        spent += perf_counter() - start
        raw.append(said[labelled])
        if calibrate:
            values, verdicts = _calibrated(scorer, graph, parts, said, provenance)
            calibrated.append(values[labelled])
            named.append(verdicts[labelled])
    seconds = spent / (repeats * len(labelled))
    return Measured(scorer.name, graph.labels[labelled], raw, calibrated, named, seconds)


def compare(ours: Measured, theirs: Measured, rounds: int, seed: int) -> Estimate:
    """Difference of AUROC on the same ideas."""
    return bootstrap(auroc, ours.truth, ours.raw, rounds, seed, against=theirs.raw)


def _calibrated(
    scorer: Scorer,
    graph: GraphArrays,
    parts: Sequence[NDArray[np.int32]],
    said: NDArray[np.float64],
    provenance: TrainingProvenance,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    values, named = np.full_like(said, np.nan), np.full(len(said), UNKNOWN)
    for rows in parts:
        hidden = graph.with_unknown(rows)
        inner = stratified_folds(hidden, _INNER_FOLDS, seed=provenance.seed)
        known = np.flatnonzero(hidden.labels != UNKNOWN)
        seen = held_out_scores(scorer, hidden, inner)[known]
        try:
            calibration = fit_calibration(
                "inside", scorer.name, graph.classes, seen, graph.labels[known], provenance, _REPLICATES
            )
        except InputError:
            continue
        for row, verdict in zip(rows, calibration.verdicts(said[rows]), strict=True):
            values[row] = verdict.probabilities
            named[row] = UNKNOWN if verdict.best is None else verdict.best
    return values, named
