"""Bradley–Terry strengths of ideas from pairwise verdicts, as a posterior: how strong, and how sure we are.

logit P(first wins) = s_first − s_second + b (Bradley and Terry, 1952), with a Gaussian prior around seed scores and
one parameter b for a judge that favours what is shown first. A tie counts as half a win each way. The posterior is
Laplace's approximation at the mode, found by Newton's method with conjugate gradients: O(n + m) a step for n ideas and
m verdicts. Without a prior, ideas that won or lost everything have no finite strength, and after a few verdicts each
they are many (docs/adr/0009-a-prior-on-strengths.md). The width of the prior is the most likely one; Laplace's own
evidence is a fifth too narrow after four verdicts an idea, so its next order is added (Shun and McCullagh, 1995).
How much a unit of seed is worth is not known beforehand: s = u + β · seed with u ~ N(0, width²) and β ~ N(1, τ²), so
the prior covariance is width² I + τ² seed seedᵀ, and scores that mean nothing are found out.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from assayer.ranking.curvature import Curvature, Prior, logits_of
from assayer.ranking.verdicts import Floats, Verdicts

__all__ = ["Strengths", "fit"]

_STEPS = 50
_CONVERGED = 1e-6
"""Logits."""
_STEP = 1.25
_WIDTHS = tuple(0.25 * _STEP**step for step in range(12))
"""Candidate standard deviations of strengths around their seeds, in logits: 0.25 to 2.9."""
_USUAL_WIDTH, _WIDTH_SPREAD = 1.0, 0.5
"""Lognormal prior over the width: an average pair is judged right in about 7 of 10 cases. It decides only while
verdicts are few."""


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
    seeds: Floats
    """Of the prior."""

    @property
    def prior(self) -> Prior:
        return Prior(self.seeds, self.width)

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
        curvature = Curvature.at(self.verdicts, self.state, self.prior)
        drawn = np.empty((count, n))
        for row in range(count):
            noise = np.sqrt(curvature.weight) * generator.standard_normal(len(self.verdicts))
            pull = self.prior.times(self.prior.draw(generator))
            pull[:n] += np.bincount(first, noise, n) - np.bincount(second, noise, n)
            pull[n] += noise.sum()
            drawn[row] = self.mean + curvature.solve(pull)[:n]
        return drawn

    @property
    def bias_error(self) -> float:
        """Standard error of the bias."""
        n = self.verdicts.ideas
        curvature = Curvature.at(self.verdicts, self.state, self.prior)
        return float(np.sqrt(curvature.solve(np.append(np.zeros(n), 1.0))[n]))


def fit(verdicts: Verdicts, seeds: Floats | None = None, width: float | None = None) -> Strengths:
    """Posterior given the verdicts and prior means (0 when not given); without verdicts it is the prior.

    When no width is given, the most likely one is taken.
    """
    centre = np.zeros(verdicts.ideas) if seeds is None else np.asarray(seeds, dtype=np.float64)
    if width is not None or not len(verdicts):
        return _laplace(verdicts, Prior(centre, width or _USUAL_WIDTH))
    found: list[Strengths] = []
    for one in _WIDTHS:
        found.append(_laplace(verdicts, Prior(centre, one), found[-1] if found else None))
    evidence = np.array([_evidence(one) for one in found])
    best = int(evidence.argmax())
    return _laplace(verdicts, Prior(centre, _WIDTHS[best] * _STEP ** _summit(evidence, best)), found[best])


def _summit(heights: Floats, best: int) -> float:
    """Where the parabola through the best point and its neighbours is highest, in steps from it."""
    if not 0 < best < len(heights) - 1:
        return 0.0
    before, here, after = heights[best - 1 : best + 2]
    bend = before - 2 * here + after
    return float(0.5 * (before - after) / bend) if bend < 0 else 0.0


def _laplace(verdicts: Verdicts, prior: Prior, start: Strengths | None = None) -> Strengths:
    """The posterior for one width of the prior; begins at the mode of a near width where there is one."""
    n = verdicts.ideas
    state = prior.centre if start is None else start.state
    for _ in range(_STEPS):
        step = Curvature.at(verdicts, state, prior).solve(_slope(verdicts, state, prior))
        state = state + step
        if np.abs(step).max() < _CONVERGED:
            break
    diagonal = Curvature.at(verdicts, state, prior).diagonal
    return Strengths(state[:n], 1 / diagonal[:n], float(state[n]), prior.width, verdicts, prior.seeds)


def _evidence(found: Strengths) -> float:
    """Log probability of the verdicts under this width, times the prior of the width, up to a constant."""
    verdicts, state = found.verdicts, found.state
    logits = logits_of(verdicts, state)
    curvature = Curvature.at(verdicts, state, found.prior)
    evidence = float(np.sum(verdicts.won * logits - np.logaddexp(0.0, logits))) + found.prior.log_density(state)
    evidence += curvature.next_order(np.tanh(-0.5 * logits)) - 0.5 * curvature.log_determinant()
    return float(evidence - 0.5 * (np.log(found.width / _USUAL_WIDTH) / _WIDTH_SPREAD) ** 2)


def _slope(verdicts: Verdicts, state: Floats, prior: Prior) -> Floats:
    """Gradient of the log posterior."""
    n = verdicts.ideas
    residual = verdicts.won - expit(logits_of(verdicts, state))
    gradient = prior.times(prior.centre - state)
    gradient[:n] += np.bincount(verdicts.first, residual, n) - np.bincount(verdicts.second, residual, n)
    gradient[n] += residual.sum()
    return gradient
