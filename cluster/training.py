"""What `assayer graph train` does: a scorer's answers on ideas held out, a calibration fitted on them, a network."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.errors import InputError
from assayer.methods.grapheval import Options
from assayer.methods.grapheval.arrays import UNKNOWN, GraphArrays
from assayer.methods.grapheval.calibration import Calibration, DataFile, Provenance, cross_fitted, fit
from assayer.methods.grapheval.holdout import held_out, later_than, stratified_folds
from assayer.methods.grapheval.locality import Local
from assayer.methods.grapheval.measures import Estimate, accuracy, auroc, bootstrap, calibration_error
from assayer.methods.grapheval.ports import Scorer
from assayer.methods.grapheval.records import GraphContents
from assayer.methods.grapheval.selection import propagation
from cluster.graphs import calibration_file, checkpoint_file

__all__ = ["Effort", "Holdout", "Measured", "Trained", "train"]

_ROUNDS = 500
"""Of the bootstrap."""

Told = Callable[[str, int, int], None]
"""What is done, how far, of how much."""


class Effort(NamedTuple):
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
            return (later_than(graph, (self.after - dt.date(1970, 1, 1)).days),)
        return stratified_folds(graph, self.folds, self.seed)

    def __str__(self) -> str:
        return f"after {self.after}" if self.after else f"{self.folds} stratified folds"


class Measured(NamedTuple):
    """On ideas held out from the scorer and from the calibration."""

    accuracy: float
    calibration_error: float


class Trained(NamedTuple):
    calibration: Calibration
    """The one that is kept, fitted on all ideas held out from the scorer. What is measured are others of its kind,
    each fitted on nine tenths of them and asked about the last."""
    scorer: Measured
    auroc: Estimate
    """Of the scorer, calibrated."""
    usual: Measured
    """Always naming the commonest outcome, with its rate."""
    ideas: int

    @property
    def commonest(self) -> str:
        rates = self.calibration.rates
        return self.calibration.classes[rates.index(max(rates))]


def train(
    contents: GraphContents,
    folder: Path,
    options: Options,
    holdout: Holdout,
    effort: Effort,
    now: dt.datetime,
    progress: Told,
) -> Trained:
    """Writes the calibration, and for `network` the checkpoint, into the graph's folder. Raises InputError where the
    labelled ideas are too few."""
    arrays = contents.arrays
    parts = holdout.parts(arrays)
    provenance = _provenance(contents, holdout, now)
    if options.scorer == "network":
        name, scores = _network(contents, folder, options, parts, provenance, effort, progress)
    else:
        scorer = Local(propagation(options), options.reach)
        name, scores = scorer.name, _held_out(scorer, arrays, parts, progress)
    rows = np.concatenate(parts)
    truth = arrays.labels[rows]
    title = f"{contents.plan.name}, {options.scorer}"
    calibration = fit(title, name, contents.plan.classes, scores[rows], truth, provenance)
    folder.mkdir(parents=True, exist_ok=True)
    calibration_file(folder, options).write_text(calibration.model_dump_json(indent=1) + "\n", "utf-8")
    told = cross_fitted(scores[rows], truth)
    # Of answers that are all alike a calibration makes the rates of the outcomes.
    usual = cross_fitted(np.ones_like(told), truth)
    separation = bootstrap(auroc, truth, [told], _ROUNDS, holdout.seed)
    return Trained(calibration, _measured(truth, told), separation, _measured(truth, usual), len(rows))


def _measured(truth: NDArray[np.int16], told: NDArray[np.float64]) -> Measured:
    return Measured(accuracy(truth, told), calibration_error(truth, told))


def _provenance(contents: GraphContents, holdout: Holdout, now: dt.datetime) -> Provenance:
    labels = contents.arrays.labels
    counts = {name: int((labels == row).sum()) for row, name in enumerate(contents.plan.classes)}
    return Provenance(
        made_at=now,
        files=(DataFile(name=f"viewpoint graph {contents.plan.name}", sha256=contents.version),),
        embedding=contents.plan.embedder,
        viewpoints_by=contents.plan.maker,
        counts=counts,
        seed=holdout.seed,
        split=str(holdout),
    )


def _held_out(
    scorer: Scorer, arrays: GraphArrays, parts: tuple[NDArray[np.int32], ...], told: Told
) -> NDArray[np.float64]:
    found = np.full((len(arrays.ideas), len(arrays.classes)), np.nan)
    for done, part in enumerate(parts):
        told("Held-out parts", done, len(parts))
        found[part] = held_out(scorer, arrays, [part])[part]
    told("Held-out parts", len(parts), len(parts))
    return found


def _network(
    contents: GraphContents,
    folder: Path,
    options: Options,
    parts: tuple[NDArray[np.int32], ...],
    provenance: Provenance,
    effort: Effort,
    told: Told,
) -> tuple[str, NDArray[np.float64]]:
    """One network for each held-out part, to calibrate with, and one on all labels, to keep."""
    from workers.viewpoint_network import FreshNetwork, NetworkScorer, TrainingSettings, save
    from workers.viewpoint_network import train as train_network

    chosen = {name: value for name, value in effort._asdict().items() if value is not None}
    settings = TrainingSettings(seed=provenance.seed, **chosen)
    if (arrays := contents.arrays).labels.max(initial=UNKNOWN) == UNKNOWN:
        raise InputError("No idea of this graph has a label to learn from.")
    scores = _held_out(FreshNetwork(settings, provenance), arrays, parts, told)
    checkpoint = train_network(
        arrays, settings, provenance, lambda epoch: told(f"Network {epoch.member + 1}", epoch.epoch, epoch.epochs)
    )
    folder.mkdir(parents=True, exist_ok=True)
    save(checkpoint, checkpoint_file(folder))
    return Local(NetworkScorer(checkpoint, contents.plan.embedder), options.reach).name, scores
