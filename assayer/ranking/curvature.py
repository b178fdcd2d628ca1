"""The prior over strengths, and how sharply the posterior bends around its mode. No matrix is ever built."""

from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import expit

from assayer.ranking.verdicts import Floats, Verdicts

__all__ = ["Curvature", "Prior", "logits_of"]

_BIAS_WIDTH = 1.0
"""Prior standard deviation of the judge's leaning to what is shown first, in logits."""
_SEED_SPREAD = 0.75
"""Prior standard deviation τ of what a unit of seed is worth, around 1."""


class Prior(NamedTuple):
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


class Curvature(NamedTuple):
    """Negative Hessian of the log posterior in strengths and bias, positive definite, never built while fitting."""

    verdicts: Verdicts
    weight: Floats
    """p (1 − p) of each verdict."""
    leaning: Floats
    """Between each strength and the bias."""
    diagonal: Floats
    """Without the seeds' part of the prior, which is spread over all ideas and small on each."""
    prior: Prior

    @staticmethod
    def at(verdicts: Verdicts, state: Floats, prior: Prior) -> "Curvature":
        n, first, second = verdicts.ideas, verdicts.first, verdicts.second
        chance = expit(logits_of(verdicts, state))
        weight = chance * (1 - chance)
        one: Floats = np.bincount(first, weight, n).astype(np.float64)
        other: Floats = np.bincount(second, weight, n).astype(np.float64)
        alone = np.append(np.full(n, prior.width**-2), _BIAS_WIDTH**-2)
        diagonal = alone + np.append(one + other, weight.sum())
        return Curvature(verdicts, weight, one - other, diagonal, prior)

    def times(self, vector: Floats) -> Floats:
        n, first, second = self.verdicts.ideas, self.verdicts.first, self.verdicts.second
        product = self.diagonal * vector
        product[:n] -= np.bincount(first, self.weight * vector[second], n)
        product[:n] -= np.bincount(second, self.weight * vector[first], n)
        product[:n] += self.leaning * vector[n]
        product[n] += self.leaning @ vector[:n]
        product[:n] -= self.prior.share * (self.prior.seeds @ vector[:n]) * self.prior.seeds
        return product

    def log_determinant(self) -> float:
        """Bethe's approximation: exact where the compared pairs form a tree, near where they hardly close circles."""
        first, second = self.diagonal[self.verdicts.first], self.diagonal[self.verdicts.second]
        alone = float(np.sum(np.log(self.diagonal)) + np.sum(np.log1p(-(self.weight**2) / (first * second))))
        seeds = np.append(self.prior.seeds, 0.0)
        return alone - float(np.log1p(self.prior.share * (seeds @ self.solve(seeds)))) if seeds.any() else alone

    def next_order(self, turn: Floats) -> float:
        """What Laplace's approximation of the log evidence leaves out, by third and fourth derivatives.

        `turn` is 1 − 2p of each verdict, so that w · turn is the third derivative. Variances and covariances are
        those of the pair alone, as in Bethe's approximation; between verdicts without a common idea they are left out.
        """
        verdicts, n = self.verdicts, self.verdicts.ideas
        first, second = self.diagonal[verdicts.first], self.diagonal[verdicts.second]
        variance = (first + second - 2 * self.weight) / (first * second - self.weight**2)
        third = self.weight * turn
        pull = third * variance
        slope = np.append(np.bincount(verdicts.first, pull, n) - np.bincount(verdicts.second, pull, n), pull.sum())
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


def logits_of(verdicts: Verdicts, state: Floats) -> Floats:
    difference: Floats = state[verdicts.first] - state[verdicts.second] + state[-1]
    return difference
