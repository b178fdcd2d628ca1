"""Sets of texts that people judged, and measures of one number per text against those judgements.

Two things are measured for every scorer: whether it orders texts as people do, and how many of the texts that people
chose would be lost if only its best were read. A text without an answer loses every comparison and is read last.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.scoring.metrics import Measure, bootstrap, compute_auroc
from benchmarks.quality.figures import Figure, Kind, build_figure

Floats = NDArray[np.float64]

CUTS = (0.75, 0.5, 0.25)
"""Shares of texts that are read further."""
_CHOSEN_SHARE = 1 / 3
"""Share of graded texts that count as chosen: the best third."""


class JudgedItem(NamedTuple):
    id: str
    text: str
    truth: float
    """1 or 0 for a decision, else a grade."""
    split_group: str = ""
    """Items with the same value here (one paper, one topic) are always on the same side of a split."""
    context: str = ""
    """Context shown to language models with the text."""


class JudgedSet(NamedTuple):
    name: str
    part: str
    question: str
    """Question for a language model about a text."""
    items: Sequence[JudgedItem]
    has_decisions: bool
    """Whether the judgements are decisions; otherwise they are grades."""
    has_proposals: bool
    """Whether people chose among the texts, so that cuts are meaningful."""
    people: tuple[Figure, ...] = ()
    caveat: str = ""

    @property
    def set_and_part(self) -> tuple[str, str]:
        return self.name, self.part

    @property
    def truth(self) -> Floats:
        return np.array([item.truth for item in self.items])

    @property
    def is_chosen(self) -> NDArray[np.bool_]:
        """Texts chosen by people, as (n,)."""
        if self.has_decisions:
            return self.truth > 0
        return self.truth >= np.quantile(self.truth, 1 - _CHOSEN_SHARE)


def build_scorer_figures(
    judged_set: JudgedSet, scorer: tuple[str, Kind], values: Floats, rounds: int, note: str = ""
) -> Iterator[Figure]:
    """Yield a scorer's figures; `values` (n,) are NaN without an answer."""
    unanswered_count, count = int(np.isnan(values).sum()), len(judged_set.items)
    if judged_set.has_decisions:
        columns = np.column_stack([-values, values])
        estimate = bootstrap(compute_auroc, judged_set.truth.astype(np.int16), [columns], rounds, 0)
        yield build_figure(judged_set.set_and_part, "AUROC", scorer, estimate, count, unanswered_count, 0.5, note)
    else:
        row_numbers, grades = np.arange(count).astype(np.int16), judged_set.truth

        def measure_agreement(rows: NDArray[np.int16], sample: Floats) -> float:
            return compute_spearman(grades[rows], sample[:, 0])

        estimate = bootstrap(measure_agreement, row_numbers, [values[:, None]], rounds, 0)
        yield build_figure(judged_set.set_and_part, "Spearman", scorer, estimate, count, unanswered_count, 0.0, note)
    if judged_set.has_proposals:
        is_chosen = judged_set.is_chosen.astype(np.int16)
        for cutoff in CUTS:
            estimate = bootstrap(build_loss_measure(cutoff), is_chosen, [values[:, None]], rounds, 0)
            name = f"chosen that are lost, best {cutoff:.0%} read"
            yield build_figure(
                judged_set.set_and_part, name, scorer, estimate, count, unanswered_count, 1 - cutoff, note
            )


def build_margin_figures(
    judged_set: JudgedSet, values: Floats, scorer: tuple[str, Kind], simple: Mapping[str, Floats], rounds: int
) -> Iterator[Figure]:
    """Yield the margins of a scorer's ordering over simple scorers on the same items."""
    row_numbers, grades = np.arange(len(judged_set.items)).astype(np.int16), judged_set.truth
    measure: Measure
    if judged_set.has_decisions:
        name, truth = "AUROC", judged_set.truth.astype(np.int16)

        def measure(rows: NDArray[np.int16], sample: Floats) -> float:
            return compute_auroc(truth[rows], np.column_stack([-sample[:, 0], sample[:, 0]]))
    else:
        name = "Spearman"

        def measure(rows: NDArray[np.int16], sample: Floats) -> float:
            return compute_spearman(grades[rows], sample[:, 0])

    for other_name, other_values in simple.items():
        estimate = bootstrap(measure, row_numbers, [values[:, None]], rounds, 0, other_runs=[other_values[:, None]])
        yield build_figure(
            judged_set.set_and_part,
            f"{name} above {other_name}",
            scorer,
            estimate,
            len(grades),
            int(np.isnan(values).sum()),
        )


def compute_spearman(grades: Floats, values: Floats) -> float:
    """Return the rank correlation. A missing value counts as the median; 0 if all values are equal."""
    from scipy.stats import rankdata

    filled_values = np.where(np.isnan(values), np.nanmedian(values) if not np.isnan(values).all() else 0.0, values)
    grade_ranks, value_ranks = rankdata(grades), rankdata(filled_values)
    if np.ptp(grade_ranks) == 0:
        return float("nan")
    return 0.0 if np.ptp(value_ranks) == 0 else float(np.corrcoef(grade_ranks, value_ranks)[0, 1])


def build_loss_measure(share: float) -> Measure:
    """Return a measure of the share of chosen texts that are not in the best `share` by value. Equal values at the
    border share the remaining places; texts without a value come last."""

    def measure_loss(chosen: NDArray[np.int16], sample: Floats) -> float:
        if not chosen.any():
            return float("nan")
        values = np.nan_to_num(sample[:, 0], nan=-np.inf)
        read_count = round(share * len(values))
        border = np.sort(values)[::-1][read_count - 1]
        is_above, is_level = values > border, values == border
        read_shares = is_above + is_level * (read_count - is_above.sum()) / is_level.sum()
        return float(1 - read_shares[chosen > 0].mean())

    return measure_loss
