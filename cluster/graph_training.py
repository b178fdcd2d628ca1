"""Implementation of `assayer graph train`: score held-out ideas, fit a calibration on the scores and, if the network is
the scorer, train it."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.errors import InputError
from assayer.methods.grapheval.graph.arrays import UNKNOWN, GraphArrays
from assayer.methods.grapheval.graph.records import GraphContents
from assayer.methods.grapheval.graph.subgraph import LocalScorer
from assayer.methods.grapheval.options import HOPS
from assayer.methods.grapheval.ports import Scorer
from assayer.methods.grapheval.scoring.baselines import MEAN_VIEWPOINT, TFIDF
from assayer.methods.grapheval.scoring.calibration import (
    ProbabilityCalibration,
    TrainingFile,
    TrainingProvenance,
    compute_cross_fitted_probabilities,
    fit_calibration,
)
from assayer.methods.grapheval.scoring.choice import CHOICE, BestOf, build_titled_text, describe_choice, list_candidates
from assayer.methods.grapheval.scoring.fitted_logistic import FeatureKind
from assayer.methods.grapheval.scoring.holdout import find_later_ideas, score_held_out, split_into_folds
from assayer.methods.grapheval.scoring.label_propagation import FEW_EDGES
from assayer.methods.grapheval.scoring.metrics import (
    Estimate,
    bootstrap,
    compute_accuracy,
    compute_auroc,
    compute_brier_score,
    compute_calibration_error,
)
from assayer.methods.grapheval.scoring.verdict_model import VerdictModel, fit_logistic
from assayer.models import ScorerChoice
from cluster.viewpoint_graphs import CALIBRATION_FILE, MODEL_FILE, NETWORK_FILE, NETWORK_HOPS
from cluster.whole_files import write_whole

if TYPE_CHECKING:
    from workers.viewpoint_network import Checkpoint

ScorerKind = Literal["best", "propagation", "network"]
"""Scorer to train: the best one by comparison, or a specific one."""
_BOOTSTRAP_ROUNDS = 500
"""Number of bootstrap rounds."""

ReportStage = Callable[[str, int, int], None]
"""Progress callback, called with a stage name, the number done and the total."""


class NetworkEffort(NamedTuple):
    """Number of networks to train, and for how long. A field that is None keeps the network's default."""

    epochs: int | None = None
    members: int | None = None


class Holdout(NamedTuple):
    """Rule for holding out ideas: all of them, fold by fold, or only those dated after a given day."""

    folds: int = 5
    after: dt.date | None = None
    seed: int = 0

    def split(self, graph: GraphArrays) -> tuple[NDArray[np.int32], ...]:
        if self.after is not None:
            return (find_later_ideas(graph, (self.after - dt.date(1970, 1, 1)).days),)
        return split_into_folds(graph, self.folds, self.seed)

    def __str__(self) -> str:
        return f"after {self.after}" if self.after else f"{self.folds} stratified folds"


class HeldOutMeasures(NamedTuple):
    """Quality measured on ideas held out from both the scorer and the calibration."""

    accuracy: float
    calibration_error: Estimate
    brier: Estimate


class TrainingResult(NamedTuple):
    calibration: ProbabilityCalibration
    """Final calibration, fitted on all held-out ideas. The measures, however, come from cross-fitted calibrations: each
    is fitted on nine tenths of those ideas and tested on the remaining tenth."""
    scorer: HeldOutMeasures
    auroc: Estimate
    """AUROC of the calibrated scorer."""
    usual: HeldOutMeasures
    """Measures for the baseline that always predicts the class frequencies, and so the most frequent outcome."""
    ideas: int
    choice: ScorerChoice | None
    """Comparison by which the scorer was chosen; None if it was set explicitly."""

    @property
    def commonest(self) -> str:
        rates = self.calibration.rates
        return self.calibration.classes[rates.index(max(rates))]


def train(
    contents: GraphContents,
    folder: Path,
    scorer: ScorerKind,
    holdout: Holdout,
    effort: NetworkEffort,
    now: dt.datetime,
    progress: ReportStage,
) -> TrainingResult:
    """Train the scorer and save it for verdicts, replacing the files of an earlier training in the graph's folder.
    Raises InputError if there are too few labelled ideas."""
    arrays = contents.arrays
    parts = holdout.split(arrays)
    provenance = _describe_provenance(contents, holdout, now)
    chosen: _Chosen | None = None
    checkpoint: Checkpoint | None = None
    if scorer == "best":
        chosen = _choose(contents, parts, holdout, progress)
        name, scores = chosen.choice.scorer, chosen.scores
    elif scorer == "network":
        name, scores, checkpoint = _train_network(contents, parts, provenance, effort, progress)
    else:
        propagation = LocalScorer(FEW_EDGES, HOPS)
        name, scores = propagation.name, _score_held_out(propagation, arrays, parts, progress)
    rows = np.concatenate(parts)
    truth = arrays.labels[rows]
    title = f"{contents.plan.name}, {scorer}"
    calibration = fit_calibration(title, name, contents.plan.classes, scores[rows], truth, provenance)
    model = None if chosen is None else _build_verdict_model(contents, chosen.choice, calibration)
    _write_files(folder, calibration, model, checkpoint)
    probabilities = compute_cross_fitted_probabilities(scores[rows], truth)
    # A calibration fitted on constant scores predicts the class frequencies.
    baseline_probabilities = compute_cross_fitted_probabilities(np.ones_like(probabilities), truth)
    separation = bootstrap(compute_auroc, truth, [probabilities], _BOOTSTRAP_ROUNDS, holdout.seed)
    return TrainingResult(
        calibration,
        _measure(truth, probabilities, holdout.seed),
        separation,
        _measure(truth, baseline_probabilities, holdout.seed),
        len(rows),
        chosen.choice if chosen else None,
    )


def _write_files(
    folder: Path, calibration: ProbabilityCalibration, model: VerdictModel | None, checkpoint: "Checkpoint | None"
) -> None:
    """Write a training run's files and remove those of earlier runs, so that verdicts use the latest."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (MODEL_FILE, CALIBRATION_FILE, NETWORK_FILE):
        (folder / name).unlink(missing_ok=True)
    if checkpoint is not None:
        from workers.viewpoint_network import save_checkpoint

        save_checkpoint(checkpoint, folder / NETWORK_FILE)
    if model is not None:
        write_whole(folder / MODEL_FILE, model.model_dump_json(indent=1) + "\n")
    else:
        write_whole(folder / CALIBRATION_FILE, calibration.model_dump_json(indent=1) + "\n")


def _measure(truth: NDArray[np.int16], probabilities: NDArray[np.float64], seed: int) -> HeldOutMeasures:
    calibration_error, brier_score = (
        bootstrap(measure, truth, [probabilities], _BOOTSTRAP_ROUNDS, seed)
        for measure in (compute_calibration_error, compute_brier_score)
    )
    return HeldOutMeasures(compute_accuracy(truth, probabilities), calibration_error, brier_score)


class _Chosen(NamedTuple):
    choice: ScorerChoice
    scores: NDArray[np.float64]
    """The chosen scorer's scores (ideas, classes). Each idea was scored while it was held out."""


_REGRESSIONS: dict[str, FeatureKind] = {TFIDF: "words", MEAN_VIEWPOINT: "mean viewpoint"}


def _choose(
    contents: GraphContents,
    parts: tuple[NDArray[np.int32], ...],
    holdout: Holdout,
    report_stage: ReportStage,
) -> _Chosen:
    """Choose the scorer. Ideas held out by date are not used for the choice. With folds, all ideas are used, and the
    quality of the choice is measured by repeating it once per fold, without that fold."""
    arrays = contents.arrays
    candidates = list_candidates({idea.id: build_titled_text(idea.title, idea.text) for idea in contents.ideas})
    selection = BestOf(CHOICE, candidates.choosable, seed=holdout.seed)
    rows = np.concatenate(parts)
    by_choice = _score_held_out(
        selection, arrays, parts, lambda _, *counts: report_stage("Choosing within folds", *counts)
    )
    scores_by_scorer = {
        yardstick.name: _score_held_out(
            yardstick, arrays, parts, lambda _, *counts, name=yardstick.name: report_stage(name, *counts)
        )
        for yardstick in (*candidates.choosable, *candidates.yardsticks)
    }
    chosen_name = selection.choose(arrays, rows if holdout.after else np.empty(0, np.int32)).name
    scores_by_name = {name: scores[rows] for name, scores in scores_by_scorer.items()}
    choice = describe_choice(
        chosen_name, by_choice[rows], scores_by_name, arrays.labels[rows], str(holdout), holdout.seed
    )
    return _Chosen(choice, scores_by_scorer[chosen_name])


def _build_verdict_model(
    contents: GraphContents, choice: ScorerChoice, calibration: ProbabilityCalibration
) -> VerdictModel:
    """Build the verdict model, fitted on all labelled ideas."""
    kind = _REGRESSIONS.get(choice.scorer)
    texts = {idea.id: build_titled_text(idea.title, idea.text) for idea in contents.ideas}
    days = [idea.date for idea in contents.ideas if idea.label is not None and idea.date is not None]
    return VerdictModel(
        calibration=calibration,
        choice=choice,
        earliest=min(days, default=None),
        latest=max(days, default=None),
        fitted=None if kind is None else fit_logistic(kind, contents.arrays, texts),
    )


def _describe_provenance(contents: GraphContents, holdout: Holdout, now: dt.datetime) -> TrainingProvenance:
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


def _score_held_out(
    scorer: Scorer, arrays: GraphArrays, parts: tuple[NDArray[np.int32], ...], report_stage: ReportStage
) -> NDArray[np.float64]:
    probabilities = np.full((len(arrays.ideas), len(arrays.classes)), np.nan)
    for done, part in enumerate(parts):
        report_stage("Held-out parts", done, len(parts))
        probabilities[part] = score_held_out(scorer, arrays, [part])[part]
    report_stage("Held-out parts", len(parts), len(parts))
    return probabilities


def _train_network(
    contents: GraphContents,
    parts: tuple[NDArray[np.int32], ...],
    provenance: TrainingProvenance,
    effort: NetworkEffort,
    report_stage: ReportStage,
) -> tuple[str, NDArray[np.float64], "Checkpoint"]:
    """Train one network per held-out part, to get the scores that the calibration needs, and one on all labels. Returns
    the scorer's name, the held-out scores (ideas, classes) and the network trained on all labels. Raises InputError if
    no idea has a label."""
    from workers.viewpoint_network import (
        FreshNetwork,
        NetworkScorer,
        TrainingSettings,
        train_network,
    )

    set_effort = {name: value for name, value in effort._asdict().items() if value is not None}
    settings = TrainingSettings(seed=provenance.seed, **set_effort)
    if (arrays := contents.arrays).labels.max(initial=UNKNOWN) == UNKNOWN:
        raise InputError("No idea in this graph has a label to learn from.")
    scores = _score_held_out(FreshNetwork(settings, provenance), arrays, parts, report_stage)
    checkpoint = train_network(
        arrays,
        settings,
        provenance,
        lambda epoch: report_stage(f"Network {epoch.member + 1}", epoch.epoch, epoch.epochs),
    )
    return LocalScorer(NetworkScorer(checkpoint, contents.plan.embedder), NETWORK_HOPS).name, scores, checkpoint
