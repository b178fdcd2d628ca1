"""What is said of the pairs: how often the better paper was named, by the judge and by what is simpler."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from assayer.methods.grapheval.scoring.metrics import bootstrap
from assayer.models import IdeaId
from benchmarks.quality.grapheval.data import InnoEval, Pair
from benchmarks.quality.grapheval.graphs import Embedded
from benchmarks.quality.grapheval.reporting import row, shown
from benchmarks.quality.kept import reasons
from benchmarks.quality.learned import scorers, values_in_groups
from benchmarks.quality.pairs import PairOutcome, Shown, shown_pairs, worth

__all__ = ["gaps", "pair_rows", "pairs_report", "right"]


def gaps(values: Mapping[tuple[str, IdeaId], float], pairs: Sequence[Pair]) -> NDArray[np.float64]:
    """By how much the better paper of each pair got the higher value."""
    return np.array([values[one.group, one.better] - values[one.group, one.worse] for one in pairs])


def right(some: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of gaps: 1 in order, a half for a tie, 0 for the reverse and for what was not answered (NaN)."""
    return np.where(np.isnan(some), 0.0, np.where(np.abs(some) < 1e-12, 0.5, some > 0))


def pairs_report(
    data: InnoEval,
    outcomes: Sequence[PairOutcome],
    scores: Mapping[IdeaId, float],
    known: Embedded,
    seeds: Sequence[int],
    rounds: int,
) -> Iterator[str]:
    """`scores` are InnoEval's points of papers, as far as they were made."""
    yield "Share of pairs in which the better paper was named; a tie counts half, no verdict is wrong; chance is 0.5.\n"
    yield row("", *(f"{name}, {len(pairs)}" for name, pairs in data.pairs.items()))
    yield row(*["---"] * (len(data.pairs) + 1))
    for name, values in pair_rows(data, outcomes, scores, known, seeds):
        yield row(name, *(_mean(values.get(difficulty), rounds) for difficulty in data.pairs))
    if outcomes:
        yield ""
        yield from _about_verdicts(outcomes)


def pair_rows(
    data: InnoEval,
    outcomes: Sequence[PairOutcome],
    scores: Mapping[IdeaId, float],
    known: Embedded,
    seeds: Sequence[int],
) -> Iterator[tuple[str, dict[str, NDArray[np.float64]]]]:
    """By difficulty, one number a pair: 1 where the better paper was named, a half for a tie, else 0."""
    drawn = [shown_pairs(data, seed) for seed in seeds]
    yield "always the one shown first", _by_difficulty(data, [[one.better_is_first for one in some] for some in drawn])
    length = {paper.id: float(len(paper.text)) for paper in data.grouped}
    yield "the longer text", _of_values(data, {(group, one): length[one] for group, one in _members(data)})
    for scorer in scorers(known):
        yield scorer.name, _of_values(data, values_in_groups(scorer, known, data.groups, seeds[0]))
    if scores:
        own = {(group, one): scores.get(one, np.nan) for group, one in _members(data)}
        covered = {name: np.flatnonzero(~np.isnan(gaps(own, pairs))) for name, pairs in data.pairs.items()}
        told = ", ".join(f"{len(rows)} {name}" for name, rows in covered.items())
        values = _of_values(data, own)
        yield f"InnoEval's points, pairs with both: {told}", {name: values[name][covered[name]] for name in covered}
    if outcomes:
        yield _judged(data, outcomes, drawn[0])


def _judged(
    data: InnoEval, outcomes: Sequence[PairOutcome], pairs: Sequence[Shown]
) -> tuple[str, dict[str, NDArray[np.float64]]]:
    """The mean over repeats of each pair that was asked."""
    values: dict[str, list[float]] = {}
    by_name = {one.name: one for one in pairs}
    for one in outcomes:
        values.setdefault(one.item, []).append(worth(one, by_name[one.item].pair))
    found = {
        difficulty: np.array(
            [np.mean(values[one.name]) for one in pairs if one.difficulty == difficulty and one.name in values]
        )
        for difficulty in data.pairs
    }
    asked = ", ".join(f"{len(some)} {difficulty}" for difficulty, some in found.items())
    return f"the judge, on {asked}", found


def _members(data: InnoEval) -> Iterator[tuple[str, IdeaId]]:
    return ((group, one) for group, papers in data.groups.items() for one in papers)


def _of_values(data: InnoEval, values: Mapping[tuple[str, IdeaId], float]) -> dict[str, NDArray[np.float64]]:
    return {difficulty: right(gaps(values, pairs)) for difficulty, pairs in data.pairs.items()}


def _by_difficulty(data: InnoEval, runs: Sequence[Sequence[float]]) -> dict[str, NDArray[np.float64]]:
    """Of runs over all pairs in order, the mean of each pair."""
    means, found, start = np.mean(np.array(runs, np.float64), axis=0), {}, 0
    for difficulty, pairs in data.pairs.items():
        found[difficulty] = means[start : start + len(pairs)]
        start += len(pairs)
    return found


def _mean(values: NDArray[np.float64] | None, rounds: int) -> str:
    if values is None or not len(values):
        return "–"
    estimate = bootstrap(
        lambda _, drawn: float(drawn.mean()), np.zeros(len(values), np.int16), [values[:, None]], rounds, 0
    )
    return shown(estimate)


def _about_verdicts(outcomes: Sequence[PairOutcome]) -> Iterator[str]:
    """Position bias over all verdicts, of both orders where both were asked."""
    said = [one for outcome in outcomes for one in (outcome.better, outcome.reversed) if one is not None]
    decided = [one for one in said if one != "tie"]
    if decided:
        test = binomtest(decided.count("first"), len(decided))
        low, high = test.proportion_ci()
        yield (
            f"Position: {test.statistic:.3f} [{low:.3f}, {high:.3f}] of {len(decided)} decided verdicts name the paper "
            f"shown first; {len(said) - len(decided)} ties."
        )
    twice = [(one.better, one.reversed) for one in outcomes if one.better and one.reversed]
    if twice:
        same = sum((one, other) in {("first", "second"), ("second", "first"), ("tie", "tie")} for one, other in twice)
        yield f"Asked in both orders, {same} of {len(twice)} pairs got the same verdict."
    failures = [one for one in outcomes if one.failure]
    yield f"{len(outcomes)} pairs asked, {len(failures)} without a verdict."
    yield from reasons(failures)
