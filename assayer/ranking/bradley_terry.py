"""Bradley–Terry strengths of ideas from pairwise verdicts, as a posterior: how strong, and how sure we are.

logit P(first wins) = s_first − s_second + b (Bradley and Terry, 1952), with a Gaussian prior around seed scores and
one parameter b for a judge that favours what is shown first. A tie counts as half a win each way. The posterior is
Laplace's approximation at the mode, found by Newton's method with conjugate gradients: O(n + m) a step for n ideas and
m verdicts, and no matrix is ever built. Without a prior, ideas that won or lost everything have no finite strength, and
after a few verdicts each they are many (docs/adr/0009-a-prior-on-strengths.md). The width of the prior is the most
likely one; Laplace's own evidence is a fifth too narrow after four verdicts an idea, so its next order is added (Shun
and McCullagh, 1995). How much a unit of seed is worth is not known beforehand: s = u + β · seed with u ~ N(0, width²)
and β ~ N(1, τ²), so the prior covariance is width² I + τ² seed seedᵀ, and scores that mean nothing are found out.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import expit

from assayer.ranking.verdicts import Floats, PairwiseVerdicts

__all__ = ["PosteriorCurvature", "StrengthPosterior", "StrengthPrior", "fit_strengths", "win_logits"]


_BIAS_WIDTH = 1.0
"""Prior standard deviation of the judge's bias to the idea shown first, in logits."""
_SEED_SPREAD = 0.75
"""Prior standard deviation τ of what a unit of seed is worth, around 1."""


class StrengthPrior(NamedTuple):
    """Normal, over strengths and bias; its covariance of strengths is width² I + τ² seed seedᵀ."""

    seeds: Floats
    width: float

    @property
    def centre(self) -> Floats:
        return np.append(self.seeds, 0.0)

    @property
    def share(self) -> float:
        """Of seed seedᵀ, that the inverse of the covariance takes off I / width²."""
        return _SEED_SPREAD**2 / (self.width**2 + _SEED_SPREAD**2 * float(self.seeds @ self.seeds)) / self.width**2

    def times(self, vector: Floats) -> Floats:
        """The inverse of the covariance times a vector."""
        strengths = vector[:-1] / self.width**2 - self.share * (self.seeds @ vector[:-1]) * self.seeds
        return np.append(strengths, vector[-1] / _BIAS_WIDTH**2)

    def draw(self, generator: np.random.Generator) -> Floats:
        """Around 0."""
        own, bias, worth = self.width * generator.standard_normal(len(self.seeds)), *generator.standard_normal(2)
        return np.append(own + _SEED_SPREAD * worth * self.seeds, _BIAS_WIDTH * bias)

    def log_density(self, state: Floats) -> float:
        """Up to a constant that does not depend on the width."""
        away = state - self.centre
        spread = np.log1p(_SEED_SPREAD**2 * float(self.seeds @ self.seeds) / self.width**2)
        return float(-len(self.seeds) * np.log(self.width) - 0.5 * spread - 0.5 * away @ self.times(away))


class PosteriorCurvature(NamedTuple):
    """Negative Hessian of the log posterior in strengths and bias, positive definite, never built while fitting."""

    verdicts: PairwiseVerdicts
    weight: Floats
    """p (1 − p) of each verdict."""
    bias_coupling: Floats
    """Between each strength and the bias."""
    diagonal: Floats
    """Without the seeds' part of the prior, which is spread over all ideas and small on each."""
    prior: StrengthPrior

    @staticmethod
    def at(verdicts: PairwiseVerdicts, state: Floats, prior: StrengthPrior) -> "PosteriorCurvature":
        n, first, second = verdicts.ideas, verdicts.first, verdicts.second
        chance = expit(win_logits(verdicts, state))
        weight = chance * (1 - chance)
        one: Floats = np.bincount(first, weight, n).astype(np.float64)
        other: Floats = np.bincount(second, weight, n).astype(np.float64)
        alone = np.append(np.full(n, prior.width**-2), _BIAS_WIDTH**-2)
        diagonal = alone + np.append(one + other, weight.sum())
        return PosteriorCurvature(verdicts, weight, one - other, diagonal, prior)

    def times(self, vector: Floats) -> Floats:
        n, first, second = self.verdicts.ideas, self.verdicts.first, self.verdicts.second
        product = self.diagonal * vector
        product[:n] -= np.bincount(first, self.weight * vector[second], n)
        product[:n] -= np.bincount(second, self.weight * vector[first], n)
        product[:n] += self.bias_coupling * vector[n]
        product[n] += self.bias_coupling @ vector[:n]
        product[:n] -= self.prior.share * (self.prior.seeds @ vector[:n]) * self.prior.seeds
        return product

    def log_determinant(self) -> float:
        """Bethe's approximation: exact where the compared pairs form a tree, close where they form few cycles."""
        first, second = self.diagonal[self.verdicts.first], self.diagonal[self.verdicts.second]
        alone = float(np.sum(np.log(self.diagonal)) + np.sum(np.log1p(-(self.weight**2) / (first * second))))
        seeds = np.append(self.prior.seeds, 0.0)
        return alone - float(np.log1p(self.prior.share * (seeds @ self.solve(seeds)))) if seeds.any() else alone

    def next_order(self, skewness: Floats) -> float:
        """What Laplace's approximation of the log evidence leaves out, by third and fourth derivatives.

        `skewness` is 1 − 2p of each verdict: w · skewness is the third derivative. Variances and covariances are
        those of the pair alone, as in Bethe's approximation; between verdicts without a common idea they are left out.
        """
        verdicts, n = self.verdicts, self.verdicts.ideas
        first, second = self.diagonal[verdicts.first], self.diagonal[verdicts.second]
        variance = (first + second - 2 * self.weight) / (first * second - self.weight**2)
        third = self.weight * skewness
        third_by_variance = third * variance
        slope = np.append(
            np.bincount(verdicts.first, third_by_variance, n) - np.bincount(verdicts.second, third_by_variance, n),
            third_by_variance.sum(),
        )
        net = np.bincount(verdicts.first, third, n) - np.bincount(verdicts.second, third, n)
        own = np.bincount(verdicts.first, third**2, n) + np.bincount(verdicts.second, third**2, n)
        fourth = -np.sum(self.weight * (1 - 6 * self.weight) * variance**2) / 8
        shared = np.sum(third**2 * variance**3) + np.sum((net**2 - own) / self.diagonal[:n] ** 3)
        return float(fourth + slope @ self.solve(slope) / 8 + shared / 12)

    def solve(self, slope: Floats) -> Floats:
        size = len(self.diagonal)
        operator = LinearOperator((size, size), matvec=self.times, dtype=np.float64)
        scaled = LinearOperator((size, size), matvec=lambda vector: vector / self.diagonal, dtype=np.float64)
        solution: Floats = cg(operator, slope, rtol=1e-6, M=scaled)[0]
        return solution


def win_logits(verdicts: PairwiseVerdicts, state: Floats) -> Floats:
    difference: Floats = state[verdicts.first] - state[verdicts.second] + state[-1]
    return difference


_MAX_STEPS = 50
_CONVERGED = 1e-6
"""Logits."""
_WIDTH_STEP = 1.25
_WIDTHS = tuple(0.25 * _WIDTH_STEP**step for step in range(12))
"""Candidate standard deviations of strengths around their seeds, in logits: 0.25 to 2.9."""
_USUAL_WIDTH, _WIDTH_SPREAD = 1.0, 0.5
"""Lognormal prior over the width: an average pair is judged right in about 7 of 10 cases. It decides only while
verdicts are few."""


@dataclass(frozen=True)
class StrengthPosterior:
    """Posterior over n strengths, in logits; only differences mean anything."""

    mean: Floats
    variance: Floats
    """Of each strength with the others held at theirs: what one more verdict can still tell."""
    bias: float
    """Logits that being shown first is worth to this judge."""
    width: float
    """Of the prior."""
    verdicts: PairwiseVerdicts
    seeds: Floats
    """Of the prior."""

    @property
    def prior(self) -> StrengthPrior:
        return StrengthPrior(self.seeds, self.width)

    @property
    def state(self) -> Floats:
        """All strengths, and the bias."""
        return np.append(self.mean, self.bias)

    def draws(self, count: int, seed: int) -> Floats:
        """Samples of all strengths together; shape (count, n). O(count · (n + m)), nothing dense is built.

        With H = P + Xᵀ W X, the solution of H x = P y + Xᵀ W^½ z for y drawn from the prior and standard normal z has
        covariance H⁻¹ (Papandreou and Yuille, 2010).
        """
        generator = np.random.default_rng(seed)
        n, first, second = self.verdicts.ideas, self.verdicts.first, self.verdicts.second
        curvature = PosteriorCurvature.at(self.verdicts, self.state, self.prior)
        drawn = np.empty((count, n))
        for row in range(count):
            noise = np.sqrt(curvature.weight) * generator.standard_normal(len(self.verdicts))
            right_hand_side = self.prior.times(self.prior.draw(generator))
            right_hand_side[:n] += np.bincount(first, noise, n) - np.bincount(second, noise, n)
            right_hand_side[n] += noise.sum()
            drawn[row] = self.mean + curvature.solve(right_hand_side)[:n]
        return drawn

    @property
    def bias_error(self) -> float:
        """Standard error of the bias."""
        n = self.verdicts.ideas
        curvature = PosteriorCurvature.at(self.verdicts, self.state, self.prior)
        return float(np.sqrt(curvature.solve(np.append(np.zeros(n), 1.0))[n]))


def fit_strengths(
    verdicts: PairwiseVerdicts, seeds: Floats | None = None, width: float | None = None
) -> StrengthPosterior:
    """Posterior given the verdicts and prior means (0 when not given); without verdicts it is the prior.

    When no width is given, the most likely one is taken.
    """
    centre = np.zeros(verdicts.ideas) if seeds is None else np.asarray(seeds, dtype=np.float64)
    if width is not None or not len(verdicts):
        return _laplace(verdicts, StrengthPrior(centre, width or _USUAL_WIDTH))
    found: list[StrengthPosterior] = []
    for one in _WIDTHS:
        found.append(_laplace(verdicts, StrengthPrior(centre, one), found[-1] if found else None))
    evidence = np.array([_log_evidence(one) for one in found])
    best = int(evidence.argmax())
    return _laplace(
        verdicts, StrengthPrior(centre, _WIDTHS[best] * _WIDTH_STEP ** _parabola_peak(evidence, best)), found[best]
    )


def _parabola_peak(heights: Floats, best: int) -> float:
    """Where the parabola through the best point and its neighbours is highest, in steps from it."""
    if not 0 < best < len(heights) - 1:
        return 0.0
    before, here, after = heights[best - 1 : best + 2]
    bend = before - 2 * here + after
    return float(0.5 * (before - after) / bend) if bend < 0 else 0.0


def _laplace(
    verdicts: PairwiseVerdicts, prior: StrengthPrior, start: StrengthPosterior | None = None
) -> StrengthPosterior:
    """The posterior for one width of the prior; begins at the mode of a near width where there is one."""
    n = verdicts.ideas
    state = prior.centre if start is None else start.state
    for _ in range(_MAX_STEPS):
        step = PosteriorCurvature.at(verdicts, state, prior).solve(_gradient(verdicts, state, prior))
        state = state + step
        if np.abs(step).max() < _CONVERGED:
            break
    diagonal = PosteriorCurvature.at(verdicts, state, prior).diagonal
    return StrengthPosterior(state[:n], 1 / diagonal[:n], float(state[n]), prior.width, verdicts, prior.seeds)


def _log_evidence(found: StrengthPosterior) -> float:
    """Log probability of the verdicts under this width, times the prior of the width, up to a constant."""
    verdicts, state = found.verdicts, found.state
    logits = win_logits(verdicts, state)
    curvature = PosteriorCurvature.at(verdicts, state, found.prior)
    evidence = float(np.sum(verdicts.won * logits - np.logaddexp(0.0, logits))) + found.prior.log_density(state)
    evidence += curvature.next_order(np.tanh(-0.5 * logits)) - 0.5 * curvature.log_determinant()
    return float(evidence - 0.5 * (np.log(found.width / _USUAL_WIDTH) / _WIDTH_SPREAD) ** 2)


def _gradient(verdicts: PairwiseVerdicts, state: Floats, prior: StrengthPrior) -> Floats:
    """Gradient of the log posterior."""
    n = verdicts.ideas
    residual = verdicts.won - expit(win_logits(verdicts, state))
    gradient = prior.times(prior.centre - state)
    gradient[:n] += np.bincount(verdicts.first, residual, n) - np.bincount(verdicts.second, residual, n)
    gradient[n] += residual.sum()
    return gradient
