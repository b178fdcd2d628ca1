"""First opinions beside each other and beside the program's scores: counted by hand, and by a second way."""

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from assayer.models import Absent
from orchestrator.reviewing.agreement import (
    MIN_COMMON_PROPOSALS,
    SCALE,
    OrderAgreement,
    compare_orders,
    compute_pair_agreements,
)
from orchestrator.reviewing.first_opinions import FirstOpinions, compare_reviewers, compare_with_reports

_SCORE = st.integers(1, 5)


def make_opinions(*rows: tuple[str, str, int, float | None]) -> FirstOpinions:
    members, proposals, scores, machine = (list(column) for column in zip(*rows, strict=True)) if rows else ([],) * 4
    return FirstOpinions(members, proposals, scores, machine)


def make_opinions_of_two_reviewers(
    first: list[int], second: list[int], machine: list[float | None] | None = None
) -> FirstOpinions:
    figures = machine or [None] * len(first)
    return make_opinions(
        *(("ada", f"p{n}", score, figures[n]) for n, score in enumerate(first)),
        *(("ben", f"p{n}", score, figures[n]) for n, score in enumerate(second)),
    )


def test_opinion_pairs_are_counted_by_score_distance() -> None:
    agreement = compare_reviewers(make_opinions_of_two_reviewers([1, 2, 3, 4, 5, 3], [1, 2, 4, 2, 5, 3]))
    assert not isinstance(agreement, Absent)
    assert (agreement.pairs, agreement.proposals, agreement.reviewers, agreement.kappa_pairs) == (6, 6, 2, 1)
    assert [distance.pairs for distance in agreement.distances] == [4, 1, 1, 0, 0]
    assert agreement.observed == pytest.approx((4 / 6, 5 / 6))
    shares = [2 / 12, 3 / 12, 3 / 12, 2 / 12, 2 / 12]
    assert agreement.chance.same == pytest.approx(sum(share * share for share in shares))
    assert sum(distance.by_chance for distance in agreement.distances) == pytest.approx(6)
    assert agreement.most_frequent in (2, 3)
    assert agreement.baseline == pytest.approx((3 / 12, {2: 8 / 12, 3: 8 / 12}[agreement.most_frequent]))


def test_a_third_opinion_of_a_proposal_counts_with_each_of_the_others() -> None:
    rows = [
        (reviewer, f"p{n}", score, None) for n in range(5) for reviewer, score in (("ada", 1), ("ben", 3), ("eve", 5))
    ]
    agreement = compare_reviewers(make_opinions(*rows, ("ada", "alone", 1, None)))
    assert not isinstance(agreement, Absent)
    assert (agreement.pairs, agreement.proposals) == (15, 5)
    assert [distance.pairs for distance in agreement.distances] == [0, 0, 10, 0, 5]


def test_identical_opinions_give_full_agreement_and_undefined_kappa() -> None:
    agreement = compare_reviewers(make_opinions_of_two_reviewers([3] * 6, [3] * 6))
    assert not isinstance(agreement, Absent)
    assert agreement.observed == agreement.chance == agreement.baseline == (1.0, 1.0)
    assert isinstance(agreement.kappa, Absent)
    assert isinstance(agreement.order, Absent)
    assert "different scores" in agreement.order.reason


@pytest.mark.parametrize(
    ("given_opinions", "words"),
    [
        (make_opinions(), "There are no first reviews yet."),
        (
            make_opinions_of_two_reviewers([1, 2, 3, 4], [1, 2, 3, 4]),
            "Not enough reviews. Only 4 proposals have at least two first reviews",
        ),
        (
            make_opinions(*(("ada", f"p{n}", 3, 0.5) for n in range(9))),
            "Not enough reviews. No proposal has at least two",
        ),
    ],
)
def test_too_few_opinions_give_absent_agreement_with_reason(given_opinions: FirstOpinions, words: str) -> None:
    agreement = compare_reviewers(given_opinions)
    assert isinstance(agreement, Absent)
    assert agreement.reason.startswith(words)


def test_machine_scores_are_binned_by_opinion_and_unscored_opinions_are_counted() -> None:
    given_opinions = make_opinions(
        ("ada", "a", 1, 0.0), ("ada", "b", 2, 0.35), ("ada", "c", 5, 1.0), ("ada", "d", 5, 0.7), ("ada", "e", 3, None),
        ("ben", "a", 2, 0.0),
    )  # fmt: skip
    comparison = compare_with_reports(given_opinions)
    assert not isinstance(comparison, Absent)
    assert (comparison.opinions, comparison.proposals, comparison.unscored) == (5, 4, 1)
    bins = {(item.low, item.high): item.opinions for item in comparison.bins if sum(item.opinions)}
    assert bins == {
        (90, 100): (0, 0, 0, 0, 1), (70, 80): (0, 0, 0, 0, 1), (30, 40): (0, 1, 0, 0, 0), (0, 10): (1, 1, 0, 0, 0)
    }  # fmt: skip
    assert comparison.medians == (0.0, 0.175, None, None, 0.85)
    assert comparison.order == OrderAgreement(5, 5.0)  # of ada's; ben compared nothing


@pytest.mark.parametrize("machine", [None, 0.5])
def test_missing_machine_scores_are_not_compared_and_constant_scores_keep_half(machine: float | None) -> None:
    comparison = compare_with_reports(make_opinions(*(("ada", f"p{n}", 1 + n % 5, machine) for n in range(10))))
    if machine is None:
        assert isinstance(comparison, Absent)
        assert comparison.reason.startswith("Not enough reviews. No first review is of a proposal with a report score")
    else:
        assert not isinstance(comparison, Absent)
        assert isinstance(comparison.order, OrderAgreement)
        assert comparison.order.pairs_in_order == comparison.order.pairs / 2


@given(st.lists(st.tuples(_SCORE, st.floats(0, 1)), max_size=25))
def test_same_order_count_matches_pairwise_comparison(figures: list[tuple[int, float]]) -> None:
    pairs, pairs_in_order = 0, 0.0
    for (score, value), (other_score, other_value) in itertools.combinations(figures, 2):
        if score != other_score:
            pairs += 1
            product = (score - other_score) * ((value > other_value) - (value < other_value))
            pairs_in_order += 1 if product > 0 else 0.5 if product == 0 else 0
    assert compare_orders([score for score, _ in figures], [value for _, value in figures]) == (pairs, pairs_in_order)


@given(st.lists(st.tuples(_SCORE, _SCORE), min_size=5, max_size=40))
def test_kappa_matches_scikit_learn(scores: list[tuple[int, int]]) -> None:
    first, second = zip(*scores, strict=True)
    names = [f"p{n}" for n in range(len(scores))]
    (pair,) = compute_pair_agreements(["a"] * len(names) + ["b"] * len(names), names * 2, [*first, *second])
    if len({*first, *second}) == 1:
        assert isinstance(pair.kappa, Absent)
    else:
        assert pair.kappa == pytest.approx(cohen_kappa_score(first, second, labels=SCALE, weights="quadratic"))


@given(
    st.dictionaries(st.tuples(st.sampled_from("abcde"), st.sampled_from("pqrstuvwxyz")), _SCORE, max_size=40),
    st.randoms(use_true_random=False),
)
def test_vectorised_pair_agreements_match_pairwise_calculation(
    given_scores: dict[tuple[str, str], int], draw: random.Random
) -> None:
    entries = list(given_scores.items())
    draw.shuffle(entries)
    agreements = compute_pair_agreements(
        [m for (m, _), _ in entries], [p for (_, p), _ in entries], [score for _, score in entries]
    )
    expected = []
    for first, second in itertools.combinations(sorted({member for member, _ in given_scores}), 2):
        common = [item for item in "pqrstuvwxyz" if (first, item) in given_scores and (second, item) in given_scores]
        if common:
            of_first, of_second = ([given_scores[reviewer, item] for item in common] for reviewer in (first, second))
            orders = compare_orders(of_first, of_second), compare_orders(of_second, of_first)
            combined = OrderAgreement(
                sum(order.pairs for order in orders), sum(order.pairs_in_order for order in orders)
            )
            is_absent = len(common) < MIN_COMMON_PROPOSALS or len({*of_first, *of_second}) == 1
            expected.append((first, second, len(common), is_absent, combined))
    assert [(*item[:3], isinstance(item.kappa, Absent), item.order) for item in agreements] == expected
