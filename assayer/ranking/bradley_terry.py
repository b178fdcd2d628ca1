"""Estimate how strong ideas are from pairwise verdicts: the posterior over Bradley–Terry strengths.

logit P(first wins) = s_first − s_second + b (Bradley and Terry, 1952): a logistic regression with one column per idea
and one for b, a judge's bias towards the idea shown first. A tie counts as half a win for each idea. Strengths are
s = u + β · seed with normal priors: u ~ N(0, width²), β ~ N(1, τ²) and a normal prior for b. Without a prior, ideas
that won or lost every comparison would have no finite strength (docs/adr/0009). The posterior is Laplace's
approximation at the mode, computed with sparse matrices if there are many ideas. The prior's width is
chosen by cross-validation."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import expit

from assayer.ranking.verdicts import Floats, PairwiseVerdicts

_BIAS_WIDTH = 1.0
"""Prior standard deviation, in logits, of the judge's bias towards the idea shown first."""
_SEED_SPREAD = 0.75
"""Standard deviation τ of the prior N(1, τ²) over β. β is the strength, in logits, per unit of seed."""
_WIDTHS = tuple(0.3 * 1.6**step for step in range(5))
"""Candidate widths: standard deviations of strengths around their seeds, in logits, from 0.3 to 2.0."""
_USUAL_WIDTH, _WIDTH_SPREAD = 1.0, 0.5
"""Centre and spread of the lognormal prior over the width. At the usual width, the judge is right about 7 in 10 average
pairs."""
_FOLDS = 4
_MAX_STEPS = 50
_MAX_DENSE_UNKNOWNS = 1_000
"""Maximum number of unknowns at which all samples are solved together with a dense matrix."""
_CONVERGED, _NEARLY_CONVERGED = 1e-6, 1e-2
"""Convergence tolerances in logits; the second one is for comparing widths."""


@dataclass(frozen=True)
class StrengthPosterior:
    """Normal posterior over strengths, in logits; only differences between strengths are meaningful."""

    verdicts: PairwiseVerdicts
    seeds: Floats
    """Prior means of the strengths."""
    width: float
    """Prior standard deviation of a strength around its seed."""
    state: Floats
    """Posterior mode: each idea's u, followed by β and b."""

    @property
    def mean(self) -> Floats:
        """Each idea's strength at the posterior mode."""
        strengths: Floats = self.state[:-2] + self.state[-2] * self.seeds
        return strengths

    @property
    def bias(self) -> float:
        """Advantage, in logits, that the judge gives to the idea shown first."""
        return float(self.state[-1])

    @cached_property
    def variance(self) -> Floats:
        """Variance of each strength with the others held fixed, in squared logits."""
        variances: Floats = 1 / self._diagonal[:-2]
        return variances

    @cached_property
    def bias_error(self) -> float:
        """Standard error of the bias."""
        unit = np.zeros(len(self.state))
        unit[-1] = 1.0
        return float(np.sqrt(self._solve(unit)[-1]))

    def sample(self, count: int, seed: int) -> Floats:
        """Return joint samples of all strengths, shape (count, n). The same seed gives the same samples.

        With the precision H = P + Xᵀ W X, the solution of H x = P^½ y + Xᵀ W^½ z for standard normal y and z has
        covariance H⁻¹ (Papandreou and Yuille, 2010).
        """
        generator = np.random.default_rng(seed)
        transposed, right_sides = self._design_matrix.T, np.empty((len(self.state), count))
        for column in range(count):
            prior = np.sqrt(_build_precision(self.verdicts.ideas, self.width)) * generator.standard_normal(
                len(self.state)
            )
            noise = np.sqrt(self._weights) * generator.standard_normal(len(self.verdicts))
            right_sides[:, column] = prior + transposed @ noise
        precision = _build_precision(self.verdicts.ideas, self.width)
        states = self.state + _solve_columns(self._design_matrix, self._weights, precision, right_sides).T
        strengths: Floats = states[:, :-2] + np.outer(states[:, -2], self.seeds)
        return strengths

    @cached_property
    def _design_matrix(self) -> csr_array:
        return _build_design_matrix(self.verdicts, self.seeds)

    @cached_property
    def _weights(self) -> Floats:
        chance = expit(self._design_matrix @ self.state)
        weights: Floats = chance * (1 - chance)
        return weights

    @cached_property
    def _diagonal(self) -> Floats:
        squares = self._design_matrix.power(2).T @ self._weights
        diagonal: Floats = squares + _build_precision(self.verdicts.ideas, self.width)
        return diagonal

    def _solve(self, right_side: Floats) -> Floats:
        return _solve(self._design_matrix, self._weights, _build_precision(self.verdicts.ideas, self.width), right_side)


def fit_strengths(
    verdicts: PairwiseVerdicts, seeds: Floats | None = None, width: float | None = None
) -> StrengthPosterior:
    """Fit strengths to verdicts. Prior means are `seeds` (0 by default); without verdicts, the prior is returned. By
    default, the width is chosen by how well each candidate width predicts held-out verdicts."""
    centre = np.zeros(verdicts.ideas) if seeds is None else np.asarray(seeds, dtype=np.float64)
    if width is None:
        width = _choose_width(verdicts, centre) if len(verdicts) else _USUAL_WIDTH
    return StrengthPosterior(
        verdicts, centre, width, _find_mode(_build_design_matrix(verdicts, centre), verdicts.won, width)
    )


def _build_design_matrix(verdicts: PairwiseVerdicts, seeds: Floats) -> csr_array:
    """Return the design matrix, with one row per verdict: +1 for the idea shown first, −1 for the second, the
    difference between their seeds, and 1 for the bias."""
    n, m = verdicts.ideas, len(verdicts)
    seed_difference = seeds[verdicts.first] - seeds[verdicts.second]
    values = np.column_stack([np.ones(m), -np.ones(m), seed_difference, np.ones(m)])
    columns = np.column_stack([verdicts.first, verdicts.second, np.full(m, n), np.full(m, n + 1)])
    return csr_array((values.ravel(), columns.ravel(), np.arange(0, 4 * m + 1, 4)), shape=(m, n + 2))


def _build_precision(ideas: int, width: float) -> Floats:
    return np.append(np.full(ideas, width**-2), [_SEED_SPREAD**-2, _BIAS_WIDTH**-2])


def _find_mode(
    design: csr_array, won: Floats, width: float, start: Floats | None = None, tolerance: float = _CONVERGED
) -> Floats:
    """Find the posterior mode by Newton's method, starting from `start` or, if it is None, from the prior's centre.
    Each step takes O(n + m) time for n ideas and m verdicts."""
    precision = _build_precision(design.shape[1] - 2, width)
    centre = np.append(np.zeros(design.shape[1] - 2), [1.0, 0.0])
    state = centre if start is None else start
    for _ in range(_MAX_STEPS):
        chance = expit(design @ state)
        gradient = design.T @ (won - chance) - precision * (state - centre)
        step = _solve(design, chance * (1 - chance), precision, gradient)
        state = state + step
        if np.abs(step).max() < tolerance:
            break
    return state


def _solve(design: csr_array, weights: Floats, precision: Floats, right_side: Floats) -> Floats:
    """Solve (P + Xᵀ W X) x = right by conjugate gradients."""
    diagonal = precision + design.power(2).T @ weights
    shape, transposed = (len(right_side), len(right_side)), design.T
    hessian = LinearOperator(shape, lambda x: precision * x + transposed @ (weights * (design @ x)), dtype=np.float64)
    scaled_operator = LinearOperator(shape, lambda x: x / diagonal, dtype=np.float64)
    solution: Floats = cg(hessian, right_side, rtol=1e-6, M=scaled_operator)[0]
    return solution


def _solve_columns(design: csr_array, weights: Floats, precision: Floats, right_sides: Floats) -> Floats:
    """Solve (P + Xᵀ W X) x = right for every column of `right`. If there are few ideas, all columns are solved together
    with a dense matrix."""
    if len(right_sides) > _MAX_DENSE_UNKNOWNS:
        return np.column_stack([_solve(design, weights, precision, column) for column in right_sides.T])
    hessian = np.diag(precision) + (design.T @ design.multiply(weights[:, None]).tocsr()).toarray()
    solution: Floats = np.linalg.solve(hessian, right_sides)
    return solution


def _choose_width(verdicts: PairwiseVerdicts, seeds: Floats) -> float:
    """Return the mean of the candidate widths. Each is weighted by the likelihood of held-out verdicts times the
    width's prior."""
    design, won = _build_design_matrix(verdicts, seeds), verdicts.won
    folds = np.random.default_rng(0).permutation(len(verdicts)) % _FOLDS
    scores = [-0.5 * (np.log(width / _USUAL_WIDTH) / _WIDTH_SPREAD) ** 2 for width in _WIDTHS]
    for fold in range(min(_FOLDS, len(verdicts))):
        held_out = folds == fold
        training_design, mode = design[~held_out], None
        for index, width in enumerate(_WIDTHS):
            mode = _find_mode(training_design, won[~held_out], width, mode, _NEARLY_CONVERGED)
            chance = expit(training_design @ mode)
            variances = 1 / (
                _build_precision(verdicts.ideas, width) + training_design.power(2).T @ (chance * (1 - chance))
            )
            # Average over the posterior (MacKay, 1992): probabilities from the mode alone are overconfident.
            spread = np.sqrt(1 + np.pi / 8 * (design[held_out].power(2) @ variances))
            logits = design[held_out] @ mode / spread
            scores[index] += float(np.sum(won[held_out] * logits - np.logaddexp(0.0, logits)))
    weights = np.exp(np.array(scores) - max(scores))
    return float(weights @ np.array(_WIDTHS) / weights.sum())
