"""What `assayer graph train` does: a scorer's answers on ideas held out, a calibration fitted on them, a network."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.errors import InputError
from assayer.methods.grapheval import GraphEvalOptions
from assayer.methods.grapheval.graph.arrays import UNKNOWN, GraphArrays
from assayer.methods.grapheval.graph.records import GraphContents
from assayer.methods.grapheval.graph.subgraph import LocalScorer
from assayer.methods.grapheval.ports import Scorer
from assayer.methods.grapheval.scoring.calibration import (
    ProbabilityCalibration,
    TrainingFile,
    TrainingProvenance,
    cross_fitted_probabilities,
    fit_calibration,
)
from assayer.methods.grapheval.scoring.holdout import held_out_scores, ideas_later_than, stratified_folds
from assayer.methods.grapheval.scoring.label_propagation import propagation_scorer
from assayer.methods.grapheval.scoring.metrics import Estimate, accuracy, auroc, bootstrap, calibration_error
from cluster.viewpoint_graphs import calibration_file, checkpoint_file

__all__ = ["HeldOutMeasures", "Holdout", "NetworkEffort", "TrainingResult", "train"]

_ROUNDS = 500
"""Of the bootstrap."""

ReportStage = Callable[[str, int, int], None]
"""What is done, how far, of how much."""


class NetworkEffort(NamedTuple):
    """How much is spent on a network; None leaves its own default."""

    epochs: int | None = None
    members: int | None = None


class Holdout(NamedTuple):
    """Which ideas are held out: all of them in turn, or those after a day."""

    folds: int = 5
    after: dt.date | None = None
    seed: int = 0

    def parts(self, graph: GraphArrays) -> tuple[NDArray[np.int32], ...]:
        if self.after is not None:
            return (ideas_later_than(graph, (self.after - dt.date(1970, 1, 1)).days),)
        return stratified_folds(graph, self.folds, self.seed)

    def __str__(self) -> str:
        return f"after {self.after}" if self.after else f"{self.folds} stratified folds"


class HeldOutMeasures(NamedTuple):
    """On ideas held out from the scorer and from the calibration."""

    accuracy: float
    calibration_error: float


class TrainingResult(NamedTuple):
    calibration: ProbabilityCalibration
    """The one that is kept, fitted on all ideas held out from the scorer. What is measured are others of its kind,
    each fitted on nine tenths of them and asked about the last."""
    scorer: HeldOutMeasures
    auroc: Estimate
    """Of the scorer, calibrated."""
    usual: HeldOutMeasures
    """Always naming the commonest outcome, with its rate."""
    ideas: int

    @property
    def commonest(self) -> str:
        rates = self.calibration.rates
        return self.calibration.classes[rates.index(max(rates))]


def train(
    contents: GraphContents,
    folder: Path,
    options: GraphEvalOptions,
    holdout: Holdout,
    effort: NetworkEffort,
    now: dt.datetime,
    progress: ReportStage,
) -> TrainingResult:
    """Writes the calibration, and for `network` the checkpoint, into the graph's folder. Raises InputError where the
    labelled ideas are too few."""
    arrays = contents.arrays
    parts = holdout.parts(arrays)
    provenance = _provenance(contents, holdout, now)
    if options.scorer == "network":
        name, scores = _network(contents, folder, options, parts, provenance, effort, progress)
    else:
        scorer = LocalScorer(propagation_scorer(options), options.reach)
        name, scores = scorer.name, _held_out(scorer, arrays, parts, progress)
    rows = np.concatenate(parts)
    truth = arrays.labels[rows]
    title = f"{contents.plan.name}, {options.scorer}"
    calibration = fit_calibration(title, name, contents.plan.classes, scores[rows], truth, provenance)
    folder.mkdir(parents=True, exist_ok=True)
    calibration_file(folder, options).write_text(calibration.model_dump_json(indent=1) + "\n", "utf-8")
    told = cross_fitted_probabilities(scores[rows], truth)
    # Of answers that are all alike a calibration makes the rates of the outcomes.
    usual = cross_fitted_probabilities(np.ones_like(told), truth)
    separation = bootstrap(auroc, truth, [told], _ROUNDS, holdout.seed)
    return TrainingResult(calibration, _measured(truth, told), separation, _measured(truth, usual), len(rows))


def _measured(truth: NDArray[np.int16], told: NDArray[np.float64]) -> HeldOutMeasures:
    return HeldOutMeasures(accuracy(truth, told), calibration_error(truth, told))


def _provenance(contents: GraphContents, holdout: Holdout, now: dt.datetime) -> TrainingProvenance:
    labels = contents.arrays.labels
    counts = {name: int((labels == row).sum()) for row, name in enumerate(contents.plan.classes)}
    return TrainingProvenance(
        made_at=now,
        files=(TrainingFile(name=f"viewpoint graph {contents.plan.name}", sha256=contents.version),),
        embedding=contents.plan.embedder,
        viewpoints_by=contents.plan.maker,
        counts=counts,
        seed=holdout.seed,
        split=str(holdout),
    )


def _held_out(
    scorer: Scorer, arrays: GraphArrays, parts: tuple[NDArray[np.int32], ...], told: ReportStage
) -> NDArray[np.float64]:
    found = np.full((len(arrays.ideas), len(arrays.classes)), np.nan)
    for done, part in enumerate(parts):
        told("Held-out parts", done, len(parts))
        found[part] = held_out_scores(scorer, arrays, [part])[part]
    told("Held-out parts", len(parts), len(parts))
    return found


def _network(
    contents: GraphContents,
    folder: Path,
    options: GraphEvalOptions,
    parts: tuple[NDArray[np.int32], ...],
    provenance: TrainingProvenance,
    effort: NetworkEffort,
    told: ReportStage,
) -> tuple[str, NDArray[np.float64]]:
    """One network for each held-out part, to calibrate with, and one on all labels, to keep."""
    from workers.viewpoint_network import (
        FreshNetwork,
        NetworkScorer,
        TrainingSettings,
        save_checkpoint,
        train_network,
    )

    chosen = {name: value for name, value in effort._asdict().items() if value is not None}
    settings = TrainingSettings(seed=provenance.seed, **chosen)
    if (arrays := contents.arrays).labels.max(initial=UNKNOWN) == UNKNOWN:
        raise InputError("No idea of this graph has a label to learn from.")
    scores = _held_out(FreshNetwork(settings, provenance), arrays, parts, told)
    checkpoint = train_network(
        arrays, settings, provenance, lambda epoch: told(f"Network {epoch.member + 1}", epoch.epoch, epoch.epochs)
    )
    folder.mkdir(parents=True, exist_ok=True)
    save_checkpoint(checkpoint, checkpoint_file(folder))
    return LocalScorer(NetworkScorer(checkpoint, contents.plan.embedder), options.reach).name, scores
