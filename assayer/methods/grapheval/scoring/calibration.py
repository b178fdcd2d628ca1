"""Convert a scorer's output to calibrated probabilities with an interval, or to an abstention.

The scaling has a temperature and a bias (bias-corrected temperature scaling, Alexandari et al. 2020): `softmax(log p /
T + b)`, fitted on ideas whose labels the scorer had not seen. It has about as many parameters as there are classes, so
a few dozen ideas are enough, whereas isotonic regression needs a thousand. It never reverses the order in which the
scorer ranks ideas by the odds between two classes. Unlike temperature alone, it shrinks the scores of an uninformative
scorer to the class frequencies rather than to equal probabilities."""

import datetime as dt
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from scipy.special import log_softmax, softmax

from assayer.errors import ConfigurationError, InputError
from assayer.models import Frozen

Floats = NDArray[np.float64]

MIN_HELD_OUT = 30
_REPLICATES = 200
_INTERVAL = (0.05, 0.95)
_FLOOR = 1e-6
"""Smaller probabilities from a scorer are raised to this value, because no amount of training data justifies more
certainty."""
_RIDGE = 1e-3
"""Ridge penalty that keeps the fit finite if the held-out ideas are perfectly separable."""

AbstentionReason = Literal["nothing known", "undecided", "unanswered"]
"""Why no class is named:
- `nothing known`: no probability differs significantly from the class frequencies.
- `undecided`: the two most probable classes cannot be told apart.
- `unanswered`: the scorer gave no answer."""


class TrainingFile(Frozen):
    name: str
    sha256: str


class TrainingProvenance(Frozen):
    """The data to which the numbers were fitted. It contains no idea's text."""

    made_at: dt.datetime
    files: tuple[TrainingFile, ...]
    embedding: str
    """Name of the embedding model used for the viewpoints."""
    viewpoints_by: str
    """Name of the viewpoints' extractor: a splitter, or a model and its prompt version."""
    counts: dict[str, int]
    """Number of training ideas, keyed by label."""
    seed: int
    split: str
    """Description, for readers, of how ideas were held out: `5 stratified folds`, `after 2016-12-31`."""


class ProbabilityScaling(Frozen):
    """A fitted scaling, `softmax(slope · log p + bias)`; slope = 1 / T."""

    slope: float = Field(ge=0)
    bias: tuple[float, ...]


class CalibratedVerdict(NamedTuple):
    """An idea's calibrated probabilities; all NaN if the scorer gave no answer."""

    probabilities: Floats
    low: Floats
    high: Floats
    """Upper end of the 90 % interval, shape (classes,); `low` is its lower end. The interval reflects the uncertainty
    of the calibration itself."""
    best: int | None
    """Index of the class decided on, or None if the verdict abstains."""
    abstention: AbstentionReason | None


class ProbabilityCalibration(Frozen):
    """A calibration fitted for one scorer on one kind of data. It can be serialised to JSON, and holds only fitted
    numbers."""

    name: str
    scorer: str
    classes: tuple[str, ...]
    rates: tuple[float, ...]
    """Each class's share of the held-out ideas: the class prior that the scaling contains."""
    scaling: ProbabilityScaling
    replicates: tuple[ProbabilityScaling, ...]
    """Scalings fitted to bootstrap samples of the held-out ideas."""
    band: float = Field(default=0.02, ge=0, le=1)
    """Probabilities closer than this to the class prior count as equal to it."""
    unanswered: int
    """Number of held-out ideas without a score; they are excluded from the fit."""
    provenance: TrainingProvenance

    @model_validator(mode="after")
    def _shapes_agree(self) -> "ProbabilityCalibration":
        lengths = {
            len(self.classes),
            len(self.rates),
            *(len(replicate.bias) for replicate in (self.scaling, *self.replicates)),
        }
        if len(lengths) != 1 or not self.replicates:
            raise ValueError("a calibration needs one rate and one bias for each class, and at least one replicate")
        return self

    def calibrate(self, probabilities: Floats) -> list[CalibratedVerdict]:
        """Return calibrated verdicts for the scorer's output, shape (n, classes). Raises ConfigurationError if the
        number of classes is not the calibration's."""
        if probabilities.shape[1] != len(self.classes):
            raise ConfigurationError(
                f"The calibration {self.name!r} has {len(self.classes)} classes, but the scorer returned "
                f"{probabilities.shape[1]}.",
                "Fit a calibration for this graph.",
            )
        rates = np.array(self.rates)
        values = _apply_scaling(self.scaling, probabilities)
        replicate_values = np.stack([_apply_scaling(replicate, probabilities) for replicate in self.replicates])
        return [self._calibrate_row(values[row], replicate_values[:, row], rates) for row in range(len(values))]

    def _calibrate_row(self, values: Floats, replicate_values: Floats, rates: Floats) -> CalibratedVerdict:
        if np.isnan(values).any():
            return CalibratedVerdict(values, values, values, None, "unanswered")
        low, high = np.quantile(replicate_values, _INTERVAL, axis=0)
        low, high = np.minimum(low, values), np.maximum(high, values)
        is_informative = ((low > rates) | (high < rates)) & (np.abs(values - rates) >= self.band)
        if not is_informative.any():
            return CalibratedVerdict(values, low, high, None, "nothing known")
        best, second = np.argsort(-values, kind="stable")[:2]
        if np.quantile(replicate_values[:, best] - replicate_values[:, second], _INTERVAL[0]) <= 0:
            return CalibratedVerdict(values, low, high, None, "undecided")
        return CalibratedVerdict(values, low, high, int(best), None)


def fit_calibration(
    name: str,
    scorer: str,
    classes: Sequence[str],
    probabilities: Floats,
    truth: NDArray[np.int16],
    provenance: TrainingProvenance,
    replicates: int = _REPLICATES,
) -> ProbabilityCalibration:
    """Fit a calibration. `probabilities`, shape (n, classes), are a scorer's output for held-out ideas; `truth`, shape
    (n,), holds their true classes as indices into `classes`. Raises InputError if there are too few held-out ideas or a
    class is missing."""
    is_answered = ~np.isnan(probabilities).any(axis=1)
    answers, labels = probabilities[is_answered], truth[is_answered]
    counts = np.bincount(labels, minlength=len(classes))
    if len(labels) < MIN_HELD_OUT:
        raise InputError(f"Calibration needs at least {MIN_HELD_OUT} held-out ideas; there are {len(labels)}.")
    if absent := [label for label, count in zip(classes, counts, strict=True) if not count]:
        raise InputError(
            f"No held-out idea is labelled {', '.join(map(repr, absent))}, so its probability cannot be calibrated.",
            "Hold out more ideas, or drop the class.",
        )
    generator = np.random.default_rng(provenance.seed)
    scaling = _fit_scaling(answers, labels)
    return ProbabilityCalibration(
        name=name,
        scorer=scorer,
        classes=tuple(classes),
        rates=tuple((counts / len(labels)).tolist()),
        scaling=scaling,
        replicates=tuple(
            _fit_scaling(answers[rows], labels[rows], scaling)
            for rows in (generator.integers(0, len(labels), len(labels)) for _ in range(replicates))
        ),
        unanswered=int((~is_answered).sum()),
        provenance=provenance,
    )


def compute_cross_fitted_probabilities(probabilities: Floats, truth: NDArray[np.int16], folds: int = 10) -> Floats:
    """Return cross-fitted probabilities, shape (n, classes). Each answer is calibrated by a scaling fitted to the other
    folds, so that measurements hold for ideas outside the fit. A row is NaN if the scorer gave no answer."""
    answered_rows = np.flatnonzero(~np.isnan(probabilities).any(axis=1))
    shuffled_rows = np.random.default_rng(0).permutation(answered_rows)
    by_label = shuffled_rows[np.argsort(truth[shuffled_rows], kind="stable")]
    calibrated_values = np.full_like(probabilities, np.nan)
    for fold in range(folds):
        held_out = by_label[fold::folds]
        training_rows = np.setdiff1d(answered_rows, held_out)
        scaling = _fit_scaling(probabilities[training_rows], truth[training_rows])
        calibrated_values[held_out] = _apply_scaling(scaling, probabilities[held_out])
    return calibrated_values


def _fit_scaling(
    probabilities: Floats, truth: NDArray[np.int16], initial_scaling: ProbabilityScaling | None = None
) -> ProbabilityScaling:
    """Fit the scaling with the smallest log loss and a slope of at least 0. The search starts at `initial_scaling`."""
    from scipy.optimize import minimize

    logs = _compute_logs(probabilities)
    classes, rows = logs.shape[1], np.arange(len(truth))
    hits = np.eye(classes)[truth]

    def compute_loss(parameters: Floats) -> tuple[float, Floats]:
        log_probabilities = log_softmax(parameters[0] * logs + parameters[1:], axis=1)
        excess = (np.exp(log_probabilities) - hits) / len(truth)
        value = -log_probabilities[rows, truth].mean() + _RIDGE * (parameters**2).sum()
        slope = (excess * logs).sum()
        return float(value), np.concatenate([[slope], excess.sum(axis=0)]) + 2 * _RIDGE * parameters

    start = (
        np.zeros(classes + 1) if initial_scaling is None else np.array([initial_scaling.slope, *initial_scaling.bias])
    )
    optimum = minimize(compute_loss, start, jac=True, method="L-BFGS-B", bounds=[(0, None), *[(None, None)] * classes])
    return ProbabilityScaling(slope=float(optimum.x[0]), bias=tuple(optimum.x[1:].tolist()))


def _apply_scaling(scaling: ProbabilityScaling, probabilities: Floats) -> Floats:
    scaled_probabilities: Floats = softmax(
        scaling.slope * _compute_logs(probabilities) + np.array(scaling.bias), axis=1
    )
    return scaled_probabilities


def _compute_logs(probabilities: Floats) -> Floats:
    floored_probabilities = np.clip(probabilities, _FLOOR, None)
    logs: Floats = np.log(floored_probabilities / floored_probabilities.sum(axis=1, keepdims=True))
    return logs
