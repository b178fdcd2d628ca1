"""Invented ideas with known strengths, and judges of known accuracy."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from assayer.ranking.verdicts import Floats, Ints, PairwiseVerdicts


def no_verdicts(ideas: int) -> PairwiseVerdicts:
    return PairwiseVerdicts(ideas, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


def with_verdicts(verdicts: PairwiseVerdicts, first: Ints, second: Ints, won: Floats) -> PairwiseVerdicts:
    """These verdicts and some more."""
    return PairwiseVerdicts(
        verdicts.ideas,
        np.concatenate([verdicts.first, first]),
        np.concatenate([verdicts.second, second]),
        np.concatenate([verdicts.won, won]),
    )


def width_for(accuracy: float) -> float:
    """Standard deviation of normal strengths at which random pairs are judged right this often."""
    gaps = np.abs(np.random.default_rng(1).standard_normal(50_000)) * np.sqrt(2)
    width: float = brentq(lambda scale: float(expit(scale * gaps).mean()) - accuracy, 0.05, 10.0)
    return width


@dataclass
class World:
    """Strengths and a judge who follows Bradley and Terry exactly, with a leaning to what is shown first."""

    strengths: Floats
    generator: np.random.Generator
    bias: float = 0.0

    @staticmethod
    def drawn(ideas: int, accuracy: float, seed: int, bias: float = 0.0) -> "World":
        generator = np.random.default_rng(seed)
        return World(generator.standard_normal(ideas) * width_for(accuracy), generator, bias)

    def judge(self, first: Ints, second: Ints) -> Floats:
        chance = expit(self.strengths[first] - self.strengths[second] + self.bias)
        return (self.generator.random(len(first)) < chance).astype(np.float64)

    def scores(self, correlation: float) -> Floats:
        """Point scores that correlate so much with the truth; unit spread."""
        standard = self.strengths / self.strengths.std()
        noise = self.generator.standard_normal(len(standard))
        scores: Floats = correlation * standard + np.sqrt(1 - correlation**2) * noise
        return scores
