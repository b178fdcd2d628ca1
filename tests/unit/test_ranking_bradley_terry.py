"""Strengths from verdicts, and the pairs chosen next."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from assayer.ranking.bradley_terry import fit_strengths
from assayer.ranking.pair_selection import choose_pairs
from assayer.ranking.verdicts import Floats, JudgeConsistency, PairwiseVerdicts, measure_judge_consistency
from tests.unit.ranking_worlds import append_verdicts, make_empty_verdicts

_VERDICTS = st.integers(2, 7).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(
            st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.sampled_from([0.0, 0.5, 1.0])).filter(
                lambda row: row[0] != row[1]
            ),
            max_size=30,
        ),
    )
)


def make_verdicts(n: int, rows: list[tuple[int, int, float]]) -> PairwiseVerdicts:
    table = np.array(rows, np.float64).reshape(-1, 3)
    return PairwiseVerdicts(n, table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2])


def compute_gradient(verdicts: PairwiseVerdicts, mean: Floats, bias: float, width: float) -> Floats:
    """Return the gradient of the log posterior, written out term by term."""
    slope = np.append(-mean / width**2, -bias)
    for first, second, won in zip(verdicts.first, verdicts.second, verdicts.won, strict=True):
        residual = won - expit(mean[first] - mean[second] + bias)
        slope[first] += residual
        slope[second] -= residual
        slope[-1] += residual
    return slope


@given(_VERDICTS)
@settings(deadline=None)
def test_fitted_strengths_have_zero_posterior_gradient(drawn_rows: tuple[int, list[tuple[int, int, float]]]) -> None:
    verdicts = make_verdicts(*drawn_rows)
    fitted = fit_strengths(verdicts, width=1.3)
    assert np.abs(compute_gradient(verdicts, fitted.mean, fitted.bias, 1.3)).max() < 1e-4


def test_draws_have_the_covariance_of_the_posterior() -> None:
    rows = [(0, 1, 1.0), (1, 2, 1.0), (2, 0, 0.0), (0, 3, 0.5)] * 3
    verdicts = make_verdicts(4, rows)
    fitted = fit_strengths(verdicts, width=1.0)
    steps = 1e-4 * np.eye(5)
    state = np.append(fitted.mean, fitted.bias)
    hessian = np.array(
        [
            (
                compute_gradient(verdicts, (state - step)[:4], (state - step)[4], 1.0)
                - compute_gradient(verdicts, (state + step)[:4], (state + step)[4], 1.0)
            )
            / 2e-4
            for step in steps
        ]
    )
    expected = np.linalg.inv(hessian)
    samples = fitted.sample(5_000, 0)
    assert np.cov(samples.T) == pytest.approx(expected[:4, :4], abs=0.03)
    assert fitted.bias_error == pytest.approx(np.sqrt(expected[4, 4]), rel=1e-3)


def test_always_first_judge_shows_bias_and_reveals_no_idea_strengths() -> None:
    generator = np.random.default_rng(0)
    first = generator.integers(0, 50, 2_000)
    second = (first + generator.integers(1, 50, 2_000)) % 50
    fitted = fit_strengths(PairwiseVerdicts(50, first, second, np.ones(2_000)))
    assert fitted.bias > 2.0
    assert np.abs(fitted.mean).max() < 0.5


def test_pairs_are_drawn_evenly_until_every_idea_has_eight_verdicts() -> None:
    verdicts = make_empty_verdicts(40)
    for turn in range(8):
        first, second = choose_pairs(fit_strengths(verdicts, width=1.0), 20, turn)
        verdicts = append_verdicts(verdicts, first, second, np.ones(len(first)))
    assert set(verdicts.counts.tolist()) == {8}


def test_chosen_pairs_are_distinct_reproducible_and_evenly_shared() -> None:
    generator = np.random.default_rng(3)
    first = generator.integers(0, 60, 300)
    second = (first + generator.integers(1, 60, 300)) % 60
    strengths = fit_strengths(PairwiseVerdicts(60, first, second, (generator.random(300) < 0.7).astype(np.float64)))
    first_pairs, second_pairs = choose_pairs(strengths, 30, 7, cut=10)
    repeated_pairs = choose_pairs(strengths, 30, 7, cut=10)
    assert (first_pairs == repeated_pairs[0]).all()
    assert (second_pairs == repeated_pairs[1]).all()
    assert len(first_pairs) == 30
    assert (first_pairs != second_pairs).all()
    assert np.bincount(np.concatenate([first_pairs, second_pairs])).max() <= 2


def test_each_pair_is_compared_at_most_once_in_each_order() -> None:
    verdicts, chosen_pairs = make_empty_verdicts(5), set[tuple[int, int]]()
    for turn in range(40):
        first, second = choose_pairs(fit_strengths(verdicts, width=1.0), 4, turn)
        pairs = set(zip(first.tolist(), second.tolist(), strict=True))
        assert not pairs & chosen_pairs
        chosen_pairs |= pairs
        verdicts = append_verdicts(verdicts, first, second, np.ones(len(first)))
    assert chosen_pairs == {(number, opponent) for number in range(5) for opponent in range(5) if number != opponent}


def test_judge_consistency_matches_hand_counted_table() -> None:
    rows = [
        (0, 1, 1.0),
        (1, 2, 1.0),
        (2, 0, 1.0),  # a cycle
        (0, 3, 1.0),
        (1, 3, 1.0),  # closes 0, 1, 3 in order
        (3, 0, 1.0),  # says the opposite of (0, 3): asked both ways, contradicted, level
        (2, 3, 0.0),
        (3, 2, 1.0),  # both ways, the same winner; closes 1, 2, 3 as a cycle? 1>2, 3>2, 1>3: no
    ]
    assert measure_judge_consistency(make_verdicts(4, rows)) == JudgeConsistency(
        pairs_in_both_orders=2, contradictions=1, triangles=2, cycles=1
    )


def test_random_judge_makes_cycles_in_a_quarter_of_triangles() -> None:
    generator = np.random.default_rng(1)
    pairs = [(a, b) for a in range(40) for b in range(a)]
    rows = [(a, b, float(generator.random() < 0.5)) for a, b in pairs]
    consistency = measure_judge_consistency(make_verdicts(40, rows))
    assert consistency.triangles == 40 * 39 * 38 // 6
    assert consistency.cycles / consistency.triangles == pytest.approx(0.25, abs=0.02)


def test_prior_width_is_recovered_from_four_verdicts_per_idea() -> None:
    generator = np.random.default_rng(0)
    truth = 0.85 * generator.standard_normal(1_000)
    first = generator.integers(0, 1_000, 2_000)
    second = (first + generator.integers(1, 1_000, 2_000)) % 1_000
    won = (generator.random(2_000) < expit(truth[first] - truth[second])).astype(np.float64)
    assert fit_strengths(PairwiseVerdicts(1_000, first, second, won)).width == pytest.approx(0.85, abs=0.15)


def test_uninformative_seed_scores_are_discounted() -> None:
    generator = np.random.default_rng(2)
    truth, seeds = generator.standard_normal((2, 400))
    first = generator.integers(0, 400, 3_000)
    second = (first + generator.integers(1, 400, 3_000)) % 400
    won = (generator.random(3_000) < expit(truth[first] - truth[second])).astype(np.float64)
    fitted = fit_strengths(PairwiseVerdicts(400, first, second, won), 0.6 * seeds)
    assert abs(np.corrcoef(fitted.mean, seeds)[0, 1]) < 0.2
    assert np.corrcoef(fitted.mean, truth)[0, 1] > 0.8
