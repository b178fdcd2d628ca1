"""Agreement of a call's first reviews with each other and with the report scores, compared with chance.

Only first reviews are used, because reviewers give them before they see the report. `opinion` means a first review."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.models import Absent
from orchestrator.reviewing.agreement import (
    MIN_COMMON_PROPOSALS,
    SCALE,
    OrderAgreement,
    compare_orders,
    compute_mean_kappa,
    compute_pair_agreements,
)

_BINS = 10


class FirstOpinions(NamedTuple):
    """First reviews of a call, as columns with an entry for each review."""

    members: list[str]
    proposals: list[str]
    scores: list[int]
    report_scores: list[float | None]
    """Report score of the proposal, from 0 to 1; None if the report has no score."""


class Distance(NamedTuple):
    difference: int
    """Difference between the scores of two first reviews of the same proposal, from 0 to 4."""
    pairs: int
    by_chance: float
    """Expected number of pairs with this difference if each review were drawn at random from all reviews."""


class ScoreSimilarity(NamedTuple):
    """Fractions of pairs of reviews with equal or similar scores."""

    same: float
    within_one: float
    """Fraction of pairs whose scores differ by at most 1."""


class ReviewerAgreement(NamedTuple):
    proposals: int
    """Number of proposals with at least two first reviews."""
    reviewers: int
    pairs: int
    """Number of pairs of reviews of the same proposal."""
    distances: tuple[Distance, ...]
    observed: ScoreSimilarity
    chance: ScoreSimilarity
    baseline: ScoreSimilarity
    """Agreement of the reviews with a baseline that gives every proposal the most frequent score."""
    most_frequent: int
    kappa: float | Absent
    """Mean kappa of the pairs of reviewers, computed as on the panel's page."""
    kappa_pairs: int
    """Number of pairs of reviewers over which the mean is taken."""
    order: OrderAgreement | Absent


class ReportScoreBin(NamedTuple):
    low: int
    high: int
    """Upper end of the range of report scores, on a scale from 0 to 100."""
    opinions: tuple[int, ...]
    """Number of reviews with each score from 1 to 5, of proposals whose report score is in this range."""


class ReportAgreement(NamedTuple):
    opinions: int
    proposals: int
    unscored: int
    """Number of first reviews of proposals without a report score."""
    bins: tuple[ReportScoreBin, ...]
    """Bins in descending order."""
    medians: tuple[float | None, ...]
    """Median report score, from 0 to 1, for each score of a review from 1 to 5; None for a score that no review has."""
    order: OrderAgreement | Absent


def compare_reviewers(opinions: FirstOpinions) -> ReviewerAgreement | Absent:
    """Return the agreement among the reviewers; Absent if too few proposals have two first reviews."""
    if not opinions.scores:
        return Absent(reason="There are no first reviews yet.")
    _, proposal_numbers = np.unique(opinions.proposals, return_inverse=True)
    counts = np.zeros((int(proposal_numbers.max()) + 1, len(SCALE)))
    np.add.at(counts, (proposal_numbers, np.asarray(opinions.scores) - 1), 1)
    counts = counts[counts.sum(axis=1) > 1]
    if len(counts) < MIN_COMMON_PROPOSALS:
        too_few = _explain_too_few(len(counts), "proposal has", "proposals have")
        return Absent(reason=f"{too_few} at least two first reviews; {MIN_COMMON_PROPOSALS} are needed.")
    table = counts.T @ counts - np.diag(counts.sum(axis=0))  # counts each pair in both directions
    shares = table.sum(axis=1) / table.sum()
    by_chance = np.outer(shares, shares)
    differences = np.abs(np.subtract.outer(SCALE, SCALE))
    most_frequent_index = int(shares.argmax())
    agreements = compute_pair_agreements(opinions.members, opinions.proposals, opinions.scores)
    return ReviewerAgreement(
        proposals=len(counts),
        reviewers=len({member for agreement in agreements for member in (agreement.first, agreement.second)}),
        pairs=round(table.sum() / 2),
        distances=tuple(
            Distance(
                number,
                round(table[differences == number].sum() / 2),
                float(table.sum() / 2 * by_chance[differences == number].sum()),
            )
            for number in range(len(SCALE))
        ),
        observed=_measure_similarity(table / table.sum(), differences),
        chance=_measure_similarity(by_chance, differences),
        baseline=ScoreSimilarity(
            float(shares[most_frequent_index]), float(shares[differences[most_frequent_index] <= 1].sum())
        ),
        most_frequent=SCALE[most_frequent_index],
        kappa=compute_mean_kappa(agreements),
        kappa_pairs=sum(not isinstance(agreement.kappa, Absent) for agreement in agreements),
        order=_sum_orders([agreement.order for agreement in agreements]),
    )


def compare_with_reports(opinions: FirstOpinions) -> ReportAgreement | Absent:
    """Return the agreement with the report scores; Absent if too few first reviews are of proposals with a report
    score."""
    if not opinions.scores:
        return Absent(reason="There are no first reviews yet.")
    report_scores = np.asarray(opinions.report_scores, dtype=float)
    has_report_score = ~np.isnan(report_scores)
    if has_report_score.sum() < MIN_COMMON_PROPOSALS:
        too_few = _explain_too_few(int(has_report_score.sum()), "first review is", "first reviews are")
        basis_text = f"of a proposal with a report score; at least {MIN_COMMON_PROPOSALS} are needed"
        return Absent(reason=f"{too_few} {basis_text}.")
    scores, known_report_scores, members = (
        np.asarray(opinions.scores)[has_report_score],
        report_scores[has_report_score],
        np.asarray(opinions.members)[has_report_score],
    )
    borders = np.arange(_BINS + 1) / _BINS
    groups = [known_report_scores[scores == score] for score in SCALE]
    counted = np.array([np.histogram(group, borders)[0] for group in groups])
    return ReportAgreement(
        opinions=len(known_report_scores),
        proposals=len(
            {proposal for proposal, has_score in zip(opinions.proposals, has_report_score, strict=True) if has_score}
        ),
        unscored=int((~has_report_score).sum()),
        bins=tuple(
            ReportScoreBin(10 * tenth, 10 * tenth + 10, tuple(counted[:, tenth].tolist()))
            for tenth in reversed(range(_BINS))
        ),
        medians=tuple(float(np.median(group)) if len(group) else None for group in groups),
        order=_sum_orders(
            [
                compare_orders(scores[members == member].tolist(), known_report_scores[members == member])
                for member in np.unique(members)
            ]
        ),
    )


def _measure_similarity(shares: NDArray[np.float64], differences: NDArray[np.int64]) -> ScoreSimilarity:
    return ScoreSimilarity(float(shares[differences == 0].sum()), float(shares[differences <= 1].sum()))


def _sum_orders(orders: list[OrderAgreement]) -> OrderAgreement | Absent:
    order = OrderAgreement(sum(order.pairs for order in orders), sum(order.pairs_in_order for order in orders))
    return order if order.pairs else Absent(reason="No reviewer gave two of these proposals different scores.")


def _explain_too_few(count: int, singular: str, plural: str) -> str:
    sentence = f"No {singular}" if not count else f"Only 1 {singular}" if count == 1 else f"Only {count} {plural}"
    return f"Not enough reviews. {sentence}"
