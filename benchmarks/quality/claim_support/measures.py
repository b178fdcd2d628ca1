"""Precision, recall and F1 of one outcome against all others, with bootstrap intervals over documents."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.scoring.metrics import Estimate
from assayer.models import SupportOutcome
from benchmarks.quality.claim_support.items import KnownClaim

Said = Sequence[SupportOutcome | None]
"""None if there was no outcome, which counts as missed and never as a false alarm."""


class LabelQuality(NamedTuple):
    label: SupportOutcome
    known: int
    """Number of claims with this known label."""
    said: int
    precision: Estimate
    """NaN if it was never said."""
    recall: Estimate
    f1: Estimate


def label_quality(
    claims: Sequence[KnownClaim], said: Said, label: SupportOutcome, rounds: int, seed: int
) -> LabelQuality:
    """Measure one outcome. `flawed` claims count only for `supports`, because their right outcome is not known."""
    kept = [
        (claim, outcome)
        for claim, outcome in zip(claims, said, strict=True)
        if claim.gold != "flawed" or label == "supports"
    ]
    documents = sorted({claim.document for claim, _ in kept})
    place = {document: row for row, document in enumerate(documents)}
    counts = np.zeros((len(documents), 3))
    for claim, outcome in kept:
        is_so, is_said = claim.gold == label, outcome == label
        counts[place[claim.document]] += (is_so and is_said, is_said and not is_so, is_so and not is_said)
    drawn = np.random.default_rng(seed).multinomial(
        len(documents), np.full(len(documents), 1 / len(documents)), size=rounds
    )
    once, many = _measures(counts.sum(axis=0)[None, :])[0], _measures(drawn @ counts)
    low, high = np.nanpercentile(many, [2.5, 97.5], axis=0) if not np.isnan(once).any() else (once, once)
    right, false, missed = counts.sum(axis=0)
    return LabelQuality(
        label,
        int(right + missed),
        int(right + false),
        *(Estimate(*map(float, item)) for item in zip(once, low, high, strict=True)),
    )


def _measures(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convert (rounds, 3) of right, false and missed to (rounds, 3) of precision, recall and F1."""
    right, false, missed = counts.T
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.stack(
            [right / (right + false), right / (right + missed), 2 * right / (2 * right + false + missed)], 1
        )


def by_group(claims: Sequence[KnownClaim], said: Said) -> dict[str, Counter[SupportOutcome | None]]:
    """Count the outcomes in each group of a set."""
    groups: dict[str, Counter[SupportOutcome | None]] = {}
    for claim, outcome in zip(claims, said, strict=True):
        groups.setdefault(claim.group, Counter())[outcome] += 1
    return dict(sorted(groups.items()))
