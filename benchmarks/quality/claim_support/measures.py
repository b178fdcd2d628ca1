"""Precision, recall and F1 of one outcome against all others, with bootstrap intervals over documents."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.scoring.metrics import Estimate
from assayer.models import SupportOutcome
from benchmarks.quality.claim_support.items import KnownClaim

Outcomes = Sequence[SupportOutcome | None]
"""None if there was no outcome, which counts as missed and never as a false alarm."""


class LabelQuality(NamedTuple):
    label: SupportOutcome
    known: int
    """Number of claims with this known label."""
    predicted: int
    precision: Estimate
    """NaN if it was never said."""
    recall: Estimate
    f1: Estimate


def measure_label(
    claims: Sequence[KnownClaim], outcomes: Outcomes, label: SupportOutcome, rounds: int, seed: int
) -> LabelQuality:
    """Measure one outcome. `flawed` claims count only for `supports`, because their right outcome is not known."""
    known_outcomes = [
        (claim, outcome)
        for claim, outcome in zip(claims, outcomes, strict=True)
        if claim.gold != "flawed" or label == "supports"
    ]
    documents = sorted({claim.document for claim, _ in known_outcomes})
    row_of_document = {document: row for row, document in enumerate(documents)}
    counts = np.zeros((len(documents), 3))
    for claim, outcome in known_outcomes:
        is_true, is_predicted = claim.gold == label, outcome == label
        counts[row_of_document[claim.document]] += (
            is_true and is_predicted,
            is_predicted and not is_true,
            is_true and not is_predicted,
        )
    resample_counts = np.random.default_rng(seed).multinomial(
        len(documents), np.full(len(documents), 1 / len(documents)), size=rounds
    )
    measures, resampled_measures = (
        _compute_measures(counts.sum(axis=0)[None, :])[0],
        _compute_measures(resample_counts @ counts),
    )
    low, high = (
        np.nanpercentile(resampled_measures, [2.5, 97.5], axis=0)
        if not np.isnan(measures).any()
        else (measures, measures)
    )
    true_positives, false_positives, false_negatives = counts.sum(axis=0)
    return LabelQuality(
        label,
        int(true_positives + false_negatives),
        int(true_positives + false_positives),
        *(Estimate(*map(float, figures)) for figures in zip(measures, low, high, strict=True)),
    )


def _compute_measures(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convert (rounds, 3) of right, false and missed to (rounds, 3) of precision, recall and F1."""
    true_positives, false_positives, false_negatives = counts.T
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.stack(
            [
                true_positives / (true_positives + false_positives),
                true_positives / (true_positives + false_negatives),
                2 * true_positives / (2 * true_positives + false_positives + false_negatives),
            ],
            1,
        )


def count_by_group(claims: Sequence[KnownClaim], outcomes: Outcomes) -> dict[str, Counter[SupportOutcome | None]]:
    """Count the outcomes in each group of a set."""
    groups: dict[str, Counter[SupportOutcome | None]] = {}
    for claim, outcome in zip(claims, outcomes, strict=True):
        groups.setdefault(claim.group, Counter())[outcome] += 1
    return dict(sorted(groups.items()))
