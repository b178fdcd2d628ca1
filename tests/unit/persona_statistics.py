"""What a pool covers: fields, roles, how much its reviewers know, and reviewers who are nearly the same."""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from statistics import mean, median

from rapidfuzz import fuzz

from assayer.methods.innoeval.personas import Persona, PersonaPool
from assayer.models import Familiarity, Frozen

__all__ = ["Count", "PoolStatistics", "Spread", "statistics"]

_ALIKE = 80.0
"""Ratio (0 to 100) of two personas' words from which they are nearly the same reviewer."""


class Count(Frozen):
    name: str
    personas: int


class Spread(Frozen):
    """Of one kind of familiarity over a pool."""

    kind: str
    least: int
    middle: float
    most: int
    hidden: float
    """Share of the evidence of its kind that a reviewer misses on average; 0 for methods, which hide nothing."""


class PoolStatistics(Frozen):
    personas: int
    fields: tuple[Count, ...]
    """The most frequent first."""
    roles: tuple[Count, ...]
    familiarity: tuple[Spread, ...]
    alike: tuple[tuple[str, str], ...]
    """Names of personas that are nearly the same."""


def statistics(pool: PersonaPool) -> PoolStatistics:
    return PoolStatistics(
        personas=len(pool.personas),
        fields=_counts(one.field for one in pool.personas),
        roles=_counts(one.role for one in pool.personas),
        familiarity=tuple(_spread(pool, kind) for kind in Familiarity.model_fields),
        alike=tuple((a.name, b.name) for a, b in combinations(pool.personas, 2) if _alike(a, b)),
    )


def _counts(names: Iterable[str]) -> tuple[Count, ...]:
    by_frequency = sorted(Counter(names).items(), key=lambda one: (-one[1], one[0]))
    return tuple(Count(name=name, personas=times) for name, times in by_frequency)


def _spread(pool: PersonaPool, kind: str) -> Spread:
    levels = [getattr(one.familiarity, kind) for one in pool.personas]
    hidden = 0.0 if kind == "methods" else 1 - mean(levels) / 10
    return Spread(kind=kind, least=min(levels), middle=median(levels), most=max(levels), hidden=round(hidden, 3))


def _alike(one: Persona, other: Persona) -> bool:
    return fuzz.token_sort_ratio(f"{one.background} {one.goal}", f"{other.background} {other.goal}") >= _ALIKE
