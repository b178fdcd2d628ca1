"""Who is measured on the points, in one shape: what each decided, how it ordered them, its probabilities.

A row of NaN is an answer that was not given; it is wrong, and it loses every comparison.
"""

import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.errors import InputError
from assayer.methods.grapheval.scoring.metrics import Estimate, accuracy, auroc, bootstrap, brier, calibration_error
from assayer.methods.innoeval.board.decision import CalibrationConditions, ScoredIdea, fit_decision
from assayer.methods.innoeval.board.thresholds import held_out_outcomes
from benchmarks.quality.grapheval.metrics import macro_f1

__all__ = [
    "Bin",
    "Contender",
    "Floats",
    "Labels",
    "always",
    "at_base_rates",
    "by_calibration",
    "by_thresholds",
    "measures",
    "platt",
    "ranked",
    "reliability",
    "stratified",
]

Floats = NDArray[np.float64]
Labels = NDArray[np.int16]

_FOLDS = 5
_DAY = dt.date(2025, 1, 1)
_PROVENANCE = "Fitted inside one fold of a benchmark, and thrown away after it."
_CONDITIONS = CalibrationConditions(models=(), prompt_version=0, dimensions=(), board=0, pool="")


class Contender(NamedTuple):
    """Each a list of runs on the same papers, (papers, classes) a run; an empty one where there is nothing to say."""

    name: str
    decided: Sequence[Floats]
    ranked: Sequence[Floats] = ()
    """Two columns; the second orders papers by how likely they were accepted."""
    probable: Sequence[Floats] = ()
    """Two columns, of reject and accept."""


class Bin(NamedTuple):
    papers: int
    said: float
    """Mean probability of acceptance."""
    accepted: float
    """Share that was accepted."""


def measures(one: Contender, truth: Labels, rounds: int, seed: int) -> dict[str, Estimate]:
    """With 95 % intervals by bootstrap over papers; those of order and probability need two classes."""
    found = {
        "accuracy": bootstrap(accuracy, truth, one.decided, rounds, seed),
        "macro-F1": bootstrap(macro_f1, truth, one.decided, rounds, seed),
    }
    if one.ranked:
        found["AUROC"] = bootstrap(auroc, truth, one.ranked, rounds, seed)
    if one.probable:
        if any((~np.isnan(run)).any() for run in one.probable):  # it speaks about given answers only
            found["ECE"] = bootstrap(calibration_error, truth, one.probable, rounds, seed)
        found["Brier"] = bootstrap(brier, truth, one.probable, rounds, seed)
    return found


def reliability(truth: Labels, probabilities: Floats, bins: int = 5) -> list[Bin]:
    """What was said beside what came true, over bins of equal width; empty bins and answers not given are left out."""
    said = probabilities[:, 1]
    answered = ~np.isnan(said)
    places = np.minimum((said[answered] * bins).astype(np.int64), bins - 1)
    said, came = said[answered], truth[answered] > 0
    rows = [places == place for place in range(bins)]
    return [Bin(int(row.sum()), float(said[row].mean()), float(came[row].mean())) for row in rows if row.any()]


def always(name: str, label: int, count: int, classes: int) -> Contender:
    said = np.tile(np.eye(classes)[label], (count, 1))
    return Contender(name, [said], [said] if classes == 2 else ())


def at_base_rates(truth: Labels, classes: int, seed: int, draws: int = 20) -> Contender:
    """Outcomes drawn by lot, as often as they occur; mean of some draws."""
    generator = np.random.default_rng(seed)
    rates = np.bincount(truth, minlength=classes) / len(truth)
    drawn = [np.eye(classes)[generator.choice(classes, len(truth), p=rates)] for _ in range(draws)]
    constant = np.tile(rates, (len(truth), 1))
    two = classes == 2
    return Contender("random, at base rates", drawn, drawn if two else (), [constant] if two else ())


def ranked(scores: Floats) -> Floats:
    """Scores from 0 to 10 as two columns."""
    return np.column_stack([10 - scores, scores])


def by_thresholds(scores: Floats, truth: Labels, classes: int, seed: int) -> Floats:
    """What each paper is named by thresholds fitted without its fold; NaN without a score, and everywhere where an
    outcome has fewer than two papers with one."""
    said = np.full((len(scores), classes), np.nan)
    rows = np.flatnonzero(~np.isnan(scores))
    if (np.bincount(truth[rows], minlength=classes) < 2).any():
        return said
    named = held_out_outcomes(scores[rows], truth[rows].astype(np.int64), classes, np.random.default_rng(seed))
    said[rows] = np.eye(classes)[named]
    return said


def by_calibration(scores: Floats, truth: Labels, outcomes: Sequence[str], seed: int) -> Floats:
    """As the program decides: a calibration fitted without the paper's fold, which is refused where it is no better
    than chance or too few papers are there; then there is no decision, a row of NaN."""
    said = np.full((len(scores), len(outcomes)), np.nan)
    scored = ~np.isnan(scores)
    for fold in stratified(truth, _FOLDS, seed):
        known = np.setdiff1d(np.flatnonzero(scored), fold)
        rows = fold[scored[fold]]
        examples = [ScoredIdea(float(scores[row]), outcomes[truth[row]]) for row in known]
        unscored = int((~scored).sum())
        try:
            calibration = fit_decision("held out", _DAY, _PROVENANCE, _CONDITIONS, outcomes, examples, unscored, seed)
        except InputError:
            continue
        for row in rows:
            said[row] = [calibration.outcome(float(scores[row]), calibration.thresholds) == one for one in outcomes]
    return said


def platt(scores: Floats, truth: Labels, seed: int) -> Floats:
    """(papers, 2): probability of acceptance by logistic regression on the score, fitted without the paper's fold."""
    from sklearn.linear_model import LogisticRegression

    said = np.full((len(scores), 2), np.nan)
    scored = ~np.isnan(scores)
    for fold in stratified(truth, _FOLDS, seed):
        known = np.setdiff1d(np.flatnonzero(scored), fold)
        rows = fold[scored[fold]]
        if len(rows) and len(np.unique(truth[known])) == 2:
            model = LogisticRegression().fit(scores[known, None], truth[known])
            said[rows] = model.predict_proba(scores[rows, None])
    return said


def stratified(truth: Labels, folds: int, seed: int) -> list[NDArray[np.int64]]:
    """Disjoint parts that hold every row once, with the labels in nearly equal shares."""
    shuffled = np.random.default_rng(seed).permutation(len(truth))
    by_label = shuffled[np.argsort(truth[shuffled], kind="stable")]
    return [np.sort(by_label[part::folds]) for part in range(folds)]
