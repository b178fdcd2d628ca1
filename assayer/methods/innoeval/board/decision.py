"""Decision calibration: fitted thresholds map a final score to the decision that labelled ideas with such scores
received.

A calibration is a file with a name, a date and a record of the labelled ideas. It is valid only for the reviewers,
dimensions and models that it was fitted with. Without a calibration, there is no decision."""

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pydantic import Field, ValidationError, model_validator

from assayer.errors import InputError
from assayer.methods.innoeval.board.thresholds import (
    Floats,
    OutcomeRows,
    compute_balanced_recall,
    compute_macro_f1,
    compute_shuffled_recalls,
    draw_bootstrap_rows,
    fit_thresholds,
    predict_held_out_outcomes,
)
from assayer.methods.toml_files import read_text_file
from assayer.models import Absent, BoardRecord, Decision, Frozen

MIN_LABELLED_IDEAS = 30
"""Minimum number of labelled ideas, of which at least two must have each outcome."""
_REPLICATES = 200
_CHANCE_LEVEL = 0.05
"""Thresholds are rejected if they do as well on more than this share of random shuffles of the outcomes as on the true
outcomes: the scores then carry no information."""


class ScoredIdea(NamedTuple):
    """A labelled idea's outcome, and the final score that a board gave it."""

    score: float
    outcome: str


class CalibrationConditions(Frozen):
    """The conditions under which scores were produced. A calibration is valid only for scores produced under the same
    ones."""

    models: tuple[str, ...]
    prompt_version: int
    """Version of the review prompt."""
    prompt_digest: str
    """Digest of the review prompt and everything it includes."""
    dimensions: tuple[str, ...]
    """SHA-256 of each dimension's definition."""
    board: int
    pool: str
    """SHA-256 of the persona pool's text; empty for the control."""

    @classmethod
    def from_board(cls, board: BoardRecord) -> "CalibrationConditions":
        return cls(
            models=board.models,
            prompt_version=board.prompt_version,
            prompt_digest=board.prompt_digest,
            dimensions=tuple(dimension.sha256 for dimension in board.dimensions),
            board=sum(reviewer.persona is not None for reviewer in board.reviewers),
            pool=board.pool.sha256 if board.pool else "",
        )


class DecisionPerformance(Frozen):
    """Performance on ideas that were held out from fitting, with baselines that ignore the score."""

    accuracy: float
    macro_f1: float
    balanced_accuracy: float
    always_most_frequent: float
    """Accuracy when always predicting the most frequent outcome."""
    macro_f1_most_frequent: float
    """Macro-F1 when always predicting the most frequent outcome."""
    chance: float
    """Balanced accuracy when predicting outcomes independently of the score."""


class DecisionCalibration(Frozen):
    name: str = Field(min_length=1, max_length=80)
    made_on: dt.date
    provenance: str = Field(min_length=10, max_length=1_000)
    """Origin of the labelled ideas, and who labelled them, as text."""
    labels_sha256: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")
    """SHA-256 of the file of labelled ideas; empty if they did not come from a file."""
    conditions: CalibrationConditions
    outcomes: tuple[str, ...] = Field(min_length=2)
    """The outcomes, from worst to best."""
    counts: tuple[int, ...]
    """Number of labelled ideas with each outcome."""
    unscored: int = Field(ge=0)
    """Number of labelled ideas that the board could not score; they are excluded."""
    thresholds: tuple[float, ...]
    """Minimum final score for each outcome except the worst, 0 to 10, ascending."""
    replicates: tuple[tuple[float, ...], ...] = Field(min_length=1)
    """Thresholds fitted to bootstrap samples."""
    performance: DecisionPerformance

    @model_validator(mode="after")
    def _shapes_agree(self) -> "DecisionCalibration":
        threshold_count = len(self.outcomes) - 1
        if len(self.counts) != threshold_count + 1 or any(
            len(replicate) != threshold_count for replicate in (self.thresholds, *self.replicates)
        ):
            raise ValueError(
                "a calibration needs one count per outcome, and one threshold between each pair of adjacent outcomes"
            )
        if any(list(replicate) != sorted(replicate) for replicate in (self.thresholds, *self.replicates)):
            raise ValueError("thresholds must be in ascending order")
        return self

    def choose_outcome(self, score: float, thresholds: Sequence[float]) -> str:
        return self.outcomes[int(np.searchsorted(thresholds, score, side="right"))]


def load_decision_calibration(path: Path) -> DecisionCalibration:
    """Load a calibration. Raises InputError if the file is not a valid calibration."""
    try:
        return DecisionCalibration.model_validate_json(read_text_file(path))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        location = ".".join(map(str, first["loc"]))
        raise InputError(
            f"{path.name} is not a valid decision calibration: {f'{location}: ' if location else ''}{first['msg']}.",
            "Fit one with `assayer calibrate`, or omit it to get scores without a decision.",
        ) from error


def decide(calibration: DecisionCalibration | None, board: BoardRecord) -> Decision | Absent:
    """Return the decision that the board's final score leads to, or why there is none."""
    if calibration is None:
        return Absent(
            reason="no calibration is loaded. Thresholds that were not fitted to labelled ideas would be arbitrary, so "
            "the report gives scores but no decision."
        )
    score = board.score
    if isinstance(score, Absent):
        return Absent(reason=f"there is no final score: {score.reason}")
    if differences := list_differing_conditions(calibration.conditions, CalibrationConditions.from_board(board)):
        return Absent(
            reason=f"the calibration {calibration.name!r} was fitted with different {' and '.join(differences)}; its "
            "thresholds do not apply to this score."
        )
    decision = calibration.choose_outcome(score.value, calibration.thresholds)
    agreements = [
        calibration.choose_outcome(score.value, replicate) == decision for replicate in calibration.replicates
    ]
    return Decision(
        name=decision,
        stability=round(sum(agreements) / len(agreements), 3),
        calibration=calibration.name,
        calibration_date=calibration.made_on,
        provenance=calibration.provenance,
        outcomes=calibration.outcomes,
        thresholds=calibration.thresholds,
    )


def list_differing_conditions(
    fitted_conditions: CalibrationConditions, current_conditions: CalibrationConditions
) -> list[str]:
    """Return the names of the conditions that differ, worded for messages."""
    names = {
        "models": "models",
        "prompt_version": "prompts",
        "prompt_digest": "prompts",
        "dimensions": "dimensions",
        "board": "board",
        "pool": "personas",
    }
    differing_words = (
        word for field, word in names.items() if getattr(fitted_conditions, field) != getattr(current_conditions, field)
    )
    return list(dict.fromkeys(differing_words))


def fit_decision(
    name: str,
    made_on: dt.date,
    provenance: str,
    conditions: CalibrationConditions,
    outcomes: Sequence[str],
    scored_ideas: Sequence[ScoredIdea],
    unscored: int,
    seed: int,
    labels_sha256: str = "",
) -> DecisionCalibration:
    """Fit the thresholds that maximise the mean recall over the outcomes, so that a frequent outcome does not dominate.
    Raises InputError if there are too few ideas, if an outcome is unknown, or if the scores do not separate the
    outcomes."""
    scores, labels = _validate_arrays(outcomes, scored_ideas)
    classes = len(outcomes)
    counts = np.bincount(labels, minlength=classes)
    generator = np.random.default_rng(seed)
    predicted_outcomes = predict_held_out_outcomes(scores, labels, classes, generator)
    recall = compute_balanced_recall(predicted_outcomes, labels, classes)
    shuffled_recalls = compute_shuffled_recalls(scores, labels, classes, np.random.default_rng([seed, 1]))
    if np.mean(shuffled_recalls >= recall) > _CHANCE_LEVEL:
        raise InputError(
            f"On held-out ideas, these scores predict the outcomes no better than chance: their mean recall is "
            f"{recall:.2f}; guessing gives {1 / classes:.2f}, and one in twenty shuffles of the outcomes gives "
            f"{np.quantile(shuffled_recalls, 1 - _CHANCE_LEVEL):.2f} or more.",
            "Merge adjacent outcomes or score more ideas; thresholds fitted to these scores would be arbitrary.",
        )
    samples = (draw_bootstrap_rows(labels, classes, generator) for _ in range(_REPLICATES))
    return DecisionCalibration(
        name=name,
        made_on=made_on,
        provenance=provenance,
        labels_sha256=labels_sha256,
        conditions=conditions,
        outcomes=tuple(outcomes),
        counts=tuple(counts.tolist()),
        unscored=unscored,
        thresholds=fit_thresholds(scores, labels, classes),
        replicates=tuple(fit_thresholds(scores[rows], labels[rows], classes) for rows in samples),
        performance=DecisionPerformance(
            accuracy=round(float((predicted_outcomes == labels).mean()), 4),
            macro_f1=round(compute_macro_f1(predicted_outcomes, labels, classes), 4),
            balanced_accuracy=round(recall, 4),
            always_most_frequent=round(float(counts.max() / len(labels)), 4),
            macro_f1_most_frequent=round(compute_macro_f1(np.full_like(labels, counts.argmax()), labels, classes), 4),
            chance=round(1 / classes, 4),
        ),
    )


def _validate_arrays(outcomes: Sequence[str], scored_ideas: Sequence[ScoredIdea]) -> tuple[Floats, OutcomeRows]:
    unknown = sorted({item.outcome for item in scored_ideas} - set(outcomes))
    if unknown:
        raise InputError(
            f"Labelled ideas have unknown outcomes: {', '.join(map(repr, unknown))}.",
            f"The outcomes are {', '.join(map(repr, outcomes))}.",
        )
    if len(scored_ideas) < MIN_LABELLED_IDEAS:
        raise InputError(
            f"Fitting thresholds needs at least {MIN_LABELLED_IDEAS} labelled ideas; there are {len(scored_ideas)}."
        )
    labels = np.array([list(outcomes).index(item.outcome) for item in scored_ideas], np.int64)
    counts = np.bincount(labels, minlength=len(outcomes))
    rare = [outcome for outcome, count in zip(outcomes, counts, strict=True) if count < 2]
    if rare:
        raise InputError(
            f"Each outcome needs at least two labelled ideas; these have fewer: {', '.join(map(repr, rare))}.",
            "Label more ideas, or merge adjacent outcomes.",
        )
    return np.array([item.score for item in scored_ideas], np.float64), labels
