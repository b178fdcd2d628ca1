"""Bradley–Terry strengths of ideas from pairwise verdicts, as a posterior: how strong, and how sure we are.

logit P(first wins) = s_first − s_second + b (Bradley and Terry, 1952), with a Gaussian prior around seed scores and
one parameter b for a judge that favours what is shown first. A tie counts as half a win each way. The posterior is
Laplace's approximation at the mode, found by Newton's method with conjugate gradients: O(n + m) a step for n ideas and
m verdicts. Without a prior, ideas that won or lost everything have no finite strength, and after a few verdicts each
they are many (docs/adr/0010-a-prior-on-strengths.md).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import expit

__all__ = ["Strengths", "Verdicts", "fit"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_STEPS = 50
_CONVERGED = 1e-6
"""Logits."""
_BIAS_WIDTH = 1.0
"""Prior standard deviation of the judge's leaning to what is shown first, in logits."""
_WIDTHS = tuple(0.25 * 1.25**step for step in range(12))
"""Candidate standard deviations of strengths around their seeds, in logits: 0.25 to 2.9."""
_USUAL_WIDTH, _WIDTH_SPREAD = 1.0, 0.5
"""Lognormal prior over the width: an average pair is judged right in about 7 of 10 cases. It decides only while
verdicts are few; Laplace's evidence alone then favours widths that are too small."""


@dataclass(frozen=True)
class Verdicts:
    """m verdicts over n ideas: rows of the idea shown first and second, and what the first one won."""

    ideas: int
    first: Ints
    second: Ints
    won: Floats
    """1.0 the first is better, 0.0 the second, 0.5 a tie."""

    def __len__(self) -> int:
        return len(self.first)

    @staticmethod
    def none(ideas: int) -> "Verdicts":
        return Verdicts(ideas, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))

    def plus(self, first: Ints, second: Ints, won: Floats) -> "Verdicts":
        return Verdicts(
            self.ideas,
            np.concatenate([self.first, first]),
            np.concatenate([self.second, second]),
            np.concatenate([self.won, won]),
        )

    @property
    def counts(self) -> Ints:
        """Verdicts on each idea."""
        both = np.concatenate([self.first, self.second])
        return np.bincount(both, minlength=self.ideas)


@dataclass(frozen=True)
class Strengths:
    """Posterior over n strengths, in logits; only differences mean anything."""

    mean: Floats
    variance: Floats
    """Of each strength with the others held at theirs: what one more verdict can still tell."""
    bias: float
    """Logits that being shown first is worth to this judge."""
    width: float
    """Of the prior."""
    verdicts: Verdicts

    def draws(self, count: int, seed: int) -> Floats:
        """Samples of all strengths together; shape (count, n). O(count · (n + m)), nothing dense is built.

        With H = P + Xᵀ W X, the solution of H x = P^½ z₁ + Xᵀ W^½ z₂ for standard normal z has covariance H⁻¹
        (Papandreou and Yuille, 2010).
        """
        generator = np.random.default_rng(seed)
        n, first, second = self.verdicts.ideas, self.verdicts.first, self.verdicts.second
        curvature = _Curvature.at(self.verdicts, np.append(self.mean, self.bias), self.width)
        precision = np.sqrt(_precision(n, self.width))
        drawn = np.empty((count, n))
        for row in range(count):
            noise = np.sqrt(curvature.weight) * generator.standard_normal(len(self.verdicts))
            pull = precision * generator.standard_normal(n + 1)
            pull[:n] += np.bincount(first, noise, n) - np.bincount(second, noise, n)
            pull[n] += noise.sum()
            drawn[row] = self.mean + curvature.solve(pull)[:n]
        return drawn

    @property
    def bias_error(self) -> float:
        """Standard error of the bias."""
        n = self.verdicts.ideas
        curvature = _Curvature.at(self.verdicts, np.append(self.mean, self.bias), self.width)
        return float(np.sqrt(curvature.solve(np.append(np.zeros(n), 1.0))[n]))


def fit(verdicts: Verdicts, seeds: Floats | None = None, width: float | None = None) -> Strengths:
    """Posterior given the verdicts and prior means (0 when not given); without verdicts it is the prior.

    When no width is given, the most likely one is taken.
    """
    prior = np.zeros(verdicts.ideas) if seeds is None else np.asarray(seeds, dtype=np.float64)
    if width is not None or not len(verdicts):
        return _laplace(verdicts, prior, width or _USUAL_WIDTH)[0]
    return max((_laplace(verdicts, prior, one) for one in _WIDTHS), key=lambda found: found[1])[0]


class _Curvature(NamedTuple):
    """Negative Hessian of the log posterior in strengths and bias, positive definite, never built while fitting."""

    verdicts: Verdicts
    weight: Floats
    """p (1 − p) of each verdict."""
    leaning: Floats
    """Between each strength and the bias."""
    diagonal: Floats

    @staticmethod
    def at(verdicts: Verdicts, state: Floats, width: float) -> "_Curvature":
        n, first, second = verdicts.ideas, verdicts.first, verdicts.second
        chance = expit(_logits(verdicts, state))
        weight = chance * (1 - chance)
        one: Floats = np.bincount(first, weight, n).astype(np.float64)
        other: Floats = np.bincount(second, weight, n).astype(np.float64)
        return _Curvature(verdicts, weight, one - other, _precision(n, width) + np.append(one + other, weight.sum()))

    def times(self, vector: Floats) -> Floats:
        n, first, second = self.verdicts.ideas, self.verdicts.first, self.verdicts.second
        product = self.diagonal * vector
        product[:n] -= np.bincount(first, self.weight * vector[second], n)
        product[:n] -= np.bincount(second, self.weight * vector[first], n)
        product[:n] += self.leaning * vector[n]
        product[n] += self.leaning @ vector[:n]
        return product

    def log_determinant(self) -> float:
        """Bethe's approximation: exact where the compared pairs form a tree, near where they hardly close circles."""
        first, second = self.diagonal[self.verdicts.first], self.diagonal[self.verdicts.second]
        return float(np.sum(np.log(self.diagonal)) + np.sum(np.log1p(-(self.weight**2) / (first * second))))

    def solve(self, slope: Floats) -> Floats:
        size = len(self.diagonal)
        operator = LinearOperator((size, size), matvec=self.times, dtype=np.float64)
        scaled = LinearOperator((size, size), matvec=lambda vector: vector / self.diagonal, dtype=np.float64)
        solution: Floats = cg(operator, slope, rtol=1e-6, M=scaled)[0]
        return solution


def _laplace(verdicts: Verdicts, prior: Floats, width: float) -> tuple[Strengths, float]:
    """The posterior for one width of the prior, and its log evidence up to a constant."""
    n = verdicts.ideas
    precision = _precision(n, width)
    centre = np.append(prior, 0.0)
    state = centre.copy()
    for _ in range(_STEPS):
        step = _Curvature.at(verdicts, state, width).solve(_slope(verdicts, state, precision, centre))
        state = state + step
        if np.abs(step).max() < _CONVERGED:
            break
    curvature = _Curvature.at(verdicts, state, width)
    logits = _logits(verdicts, state)
    evidence = np.sum(verdicts.won * logits - np.logaddexp(0.0, logits))
    evidence += 0.5 * np.sum(np.log(precision) - precision * (state - centre) ** 2)
    evidence -= 0.5 * curvature.log_determinant()
    evidence -= 0.5 * (np.log(width / _USUAL_WIDTH) / _WIDTH_SPREAD) ** 2
    return Strengths(state[:n], 1 / curvature.diagonal[:n], float(state[n]), width, verdicts), float(evidence)


def _precision(ideas: int, width: float) -> Floats:
    return np.append(np.full(ideas, width**-2), _BIAS_WIDTH**-2)


def _logits(verdicts: Verdicts, state: Floats) -> Floats:
    difference: Floats = state[verdicts.first] - state[verdicts.second] + state[-1]
    return difference


def _slope(verdicts: Verdicts, state: Floats, precision: Floats, centre: Floats) -> Floats:
    """Gradient of the log posterior."""
    n = verdicts.ideas
    residual = verdicts.won - expit(_logits(verdicts, state))
    gradient = precision * (centre - state)
    gradient[:n] += np.bincount(verdicts.first, residual, n) - np.bincount(verdicts.second, residual, n)
    gradient[n] += residual.sum()
    return gradient
