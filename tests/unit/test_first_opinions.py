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


def opinions(*rows: tuple[str, str, int, float | None]) -> FirstOpinions:
    members, proposals, scores, machine = (list(column) for column in zip(*rows, strict=True)) if rows else ([],) * 4
    return FirstOpinions(members, proposals, scores, machine)


def two_reviewers(first: list[int], second: list[int], machine: list[float | None] | None = None) -> FirstOpinions:
    figures = machine or [None] * len(first)
    return opinions(
        *(("ada", f"p{n}", score, figures[n]) for n, score in enumerate(first)),
        *(("ben", f"p{n}", score, figures[n]) for n, score in enumerate(second)),
    )


def test_opinion_pairs_are_counted_by_score_distance() -> None:
    found = compare_reviewers(two_reviewers([1, 2, 3, 4, 5, 3], [1, 2, 4, 2, 5, 3]))
    assert not isinstance(found, Absent)
    assert (found.pairs, found.proposals, found.reviewers, found.kappa_pairs) == (6, 6, 2, 1)
    assert [distance.pairs for distance in found.distances] == [4, 1, 1, 0, 0]
    assert found.observed == pytest.approx((4 / 6, 5 / 6))
    shares = [2 / 12, 3 / 12, 3 / 12, 2 / 12, 2 / 12]
    assert found.chance.same == pytest.approx(sum(share * share for share in shares))
    assert sum(distance.by_chance for distance in found.distances) == pytest.approx(6)
    assert found.most_frequent in (2, 3)
    assert found.baseline == pytest.approx((3 / 12, {2: 8 / 12, 3: 8 / 12}[found.most_frequent]))


def test_a_third_opinion_of_a_proposal_counts_with_each_of_the_others() -> None:
    rows = [(who, f"p{n}", score, None) for n in range(5) for who, score in (("ada", 1), ("ben", 3), ("eve", 5))]
    found = compare_reviewers(opinions(*rows, ("ada", "alone", 1, None)))
    assert not isinstance(found, Absent)
    assert (found.pairs, found.proposals) == (15, 5)
    assert [distance.pairs for distance in found.distances] == [0, 0, 10, 0, 5]


def test_identical_opinions_give_full_agreement_and_undefined_kappa() -> None:
    found = compare_reviewers(two_reviewers([3] * 6, [3] * 6))
    assert not isinstance(found, Absent)
    assert found.observed == found.chance == found.baseline == (1.0, 1.0)
    assert isinstance(found.kappa, Absent)
    assert isinstance(found.order, Absent)
    assert "different scores" in found.order.reason


@pytest.mark.parametrize(
    ("given_opinions", "words"),
    [
        (opinions(), "There are no first reviews yet."),
        (
            two_reviewers([1, 2, 3, 4], [1, 2, 3, 4]),
            "Not enough reviews. Only 4 proposals have at least two first reviews",
        ),
        (opinions(*(("ada", f"p{n}", 3, 0.5) for n in range(9))), "Not enough reviews. No proposal has at least two"),
    ],
)
def test_too_few_opinions_give_absent_agreement_with_reason(given_opinions: FirstOpinions, words: str) -> None:
    found = compare_reviewers(given_opinions)
    assert isinstance(found, Absent)
    assert found.reason.startswith(words)


def test_machine_scores_are_binned_by_opinion_and_unscored_opinions_are_counted() -> None:
    given_opinions = opinions(
        ("ada", "a", 1, 0.0), ("ada", "b", 2, 0.35), ("ada", "c", 5, 1.0), ("ada", "d", 5, 0.7), ("ada", "e", 3, None),
        ("ben", "a", 2, 0.0),
    )  # fmt: skip
    found = compare_with_reports(given_opinions)
    assert not isinstance(found, Absent)
    assert (found.opinions, found.proposals, found.unscored) == (5, 4, 1)
    bins = {(item.low, item.high): item.opinions for item in found.bins if sum(item.opinions)}
    assert bins == {
        (90, 100): (0, 0, 0, 0, 1), (70, 80): (0, 0, 0, 0, 1), (30, 40): (0, 1, 0, 0, 0), (0, 10): (1, 1, 0, 0, 0)
    }  # fmt: skip
    assert found.medians == (0.0, 0.175, None, None, 0.85)
    assert found.order == OrderAgreement(5, 5.0)  # of ada's; ben compared nothing


@pytest.mark.parametrize("machine", [None, 0.5])
def test_missing_machine_scores_are_not_compared_and_constant_scores_keep_half(machine: float | None) -> None:
    found = compare_with_reports(opinions(*(("ada", f"p{n}", 1 + n % 5, machine) for n in range(10))))
    if machine is None:
        assert isinstance(found, Absent)
        assert found.reason.startswith("Not enough reviews. No first review is of a proposal with a report score")
    else:
        assert not isinstance(found, Absent)
        assert isinstance(found.order, OrderAgreement)
        assert found.order.pairs_in_order == found.order.pairs / 2


@given(st.lists(st.tuples(_SCORE, st.floats(0, 1)), max_size=25))
def test_same_order_count_matches_pairwise_comparison(figures: list[tuple[int, float]]) -> None:
    pairs, kept = 0, 0.0
    for (score, value), (other_score, other_value) in itertools.combinations(figures, 2):
        if score != other_score:
            pairs += 1
            product = (score - other_score) * ((value > other_value) - (value < other_value))
            kept += 1 if product > 0 else 0.5 if product == 0 else 0
    assert compare_orders([score for score, _ in figures], [value for _, value in figures]) == (pairs, kept)


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
    found = compute_pair_agreements(
        [m for (m, _), _ in entries], [p for (_, p), _ in entries], [score for _, score in entries]
    )
    expected = []
    for first, second in itertools.combinations(sorted({member for member, _ in given_scores}), 2):
        common = [item for item in "pqrstuvwxyz" if (first, item) in given_scores and (second, item) in given_scores]
        if common:
            of_first, of_second = ([given_scores[who, item] for item in common] for who in (first, second))
            orders = compare_orders(of_first, of_second), compare_orders(of_second, of_first)
            both = OrderAgreement(sum(order.pairs for order in orders), sum(order.pairs_in_order for order in orders))
            absent = len(common) < MIN_COMMON_PROPOSALS or len({*of_first, *of_second}) == 1
            expected.append((first, second, len(common), absent, both))
    assert [(*item[:3], isinstance(item.kappa, Absent), item.order) for item in found] == expected
