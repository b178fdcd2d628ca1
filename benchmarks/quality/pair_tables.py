"""Tables of how often the judge and the simple baselines name the better paper of a pair."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from assayer.models import IdeaId
from benchmarks.quality.grapheval.data import InnoEval, Pair
from benchmarks.quality.grapheval.graphs import EmbeddedPapers
from benchmarks.quality.learned import scorers, values_in_groups
from benchmarks.quality.pairs import PairOutcome, Shown, shown_pairs, worth


def gaps(values: Mapping[tuple[str, IdeaId], float], pairs: Sequence[Pair]) -> NDArray[np.float64]:
    """Return the margin by which the better paper of each pair got the higher value."""
    return np.array([values[pair.group, pair.better] - values[pair.group, pair.worse] for pair in pairs])


def right(gaps_of_pairs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Score gaps: 1 for the right order, 0.5 for a tie, 0 for the wrong order or a missing answer (NaN)."""
    return np.where(np.isnan(gaps_of_pairs), 0.0, np.where(np.abs(gaps_of_pairs) < 1e-12, 0.5, gaps_of_pairs > 0))


def pair_rows(
    data: InnoEval,
    outcomes: Sequence[PairOutcome],
    scores: Mapping[IdeaId, float],
    known: EmbeddedPapers,
) -> Iterator[tuple[str, dict[str, NDArray[np.float64]]]]:
    """Yield each scorer's name with its results by difficulty: per pair 1 if it names the better paper, 0.5 for a tie,
    else 0."""
    drawn = shown_pairs(data, 0)
    first = {
        name: np.array([float(pair.better_is_first) for pair in drawn if pair.difficulty == name])
        for name in data.pairs
    }
    yield "always the one shown first", first
    length = {paper.id: float(len(paper.text)) for paper in data.grouped}
    yield "the longer text", _of_values(data, {(group, item): length[item] for group, item in _members(data)})
    for scorer in scorers(known):
        yield scorer.name, _of_values(data, values_in_groups(scorer, known, data.groups, 0))
    if scores:
        point_scores = {(group, item): scores.get(item, np.nan) for group, item in _members(data)}
        covered_rows = {
            name: np.flatnonzero(~np.isnan(gaps(point_scores, pairs))) for name, pairs in data.pairs.items()
        }
        counts_text = ", ".join(f"{len(rows)} {name}" for name, rows in covered_rows.items())
        values = _of_values(data, point_scores)
        yield (
            f"InnoEval's points, pairs with both: {counts_text}",
            {name: values[name][covered_rows[name]] for name in covered_rows},
        )
    if outcomes:
        yield _judged(data, outcomes, drawn)


def _judged(
    data: InnoEval, outcomes: Sequence[PairOutcome], pairs: Sequence[Shown]
) -> tuple[str, dict[str, NDArray[np.float64]]]:
    """Return the mean over repetitions of each pair asked about."""
    values: dict[str, list[float]] = {}
    by_name = {pair.name: pair for pair in pairs}
    for outcome in outcomes:
        values.setdefault(outcome.item, []).append(worth(outcome, by_name[outcome.item].pair))
    values_by_difficulty = {
        difficulty: np.array(
            [np.mean(values[pair.name]) for pair in pairs if pair.difficulty == difficulty and pair.name in values]
        )
        for difficulty in data.pairs
    }
    counts_text = ", ".join(
        f"{len(pair_values)} {difficulty}" for difficulty, pair_values in values_by_difficulty.items()
    )
    return f"the judge, on {counts_text}", values_by_difficulty


def _members(data: InnoEval) -> Iterator[tuple[str, IdeaId]]:
    return ((group, paper) for group, papers in data.groups.items() for paper in papers)


def _of_values(data: InnoEval, values: Mapping[tuple[str, IdeaId], float]) -> dict[str, NDArray[np.float64]]:
    return {difficulty: right(gaps(values, pairs)) for difficulty, pairs in data.pairs.items()}
