"""Tables of how often the judge and the simple baselines name the better paper of a pair."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from assayer.models import IdeaId
from benchmarks.quality.grapheval.data import InnoEval, Pair
from benchmarks.quality.grapheval.graphs import EmbeddedPapers
from benchmarks.quality.learned import list_scorers, score_groups
from benchmarks.quality.pairs import PairOutcome, ShownPair, draw_shown_pairs, score_outcome


def compute_gaps(values: Mapping[tuple[str, IdeaId], float], pairs: Sequence[Pair]) -> NDArray[np.float64]:
    """Return the margin by which the better paper of each pair got the higher value."""
    return np.array([values[pair.group, pair.better] - values[pair.group, pair.worse] for pair in pairs])


def score_gaps(gaps_of_pairs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Score gaps: 1 for the right order, 0.5 for a tie, 0 for the wrong order or a missing answer (NaN)."""
    return np.where(np.isnan(gaps_of_pairs), 0.0, np.where(np.abs(gaps_of_pairs) < 1e-12, 0.5, gaps_of_pairs > 0))


def measure_pair_scorers(
    data: InnoEval,
    outcomes: Sequence[PairOutcome],
    scores: Mapping[IdeaId, float],
    embedded_papers: EmbeddedPapers,
) -> Iterator[tuple[str, dict[str, NDArray[np.float64]]]]:
    """Yield each scorer's name with its results by difficulty: per pair 1 if it names the better paper, 0.5 for a tie,
    else 0."""
    shown_pairs = draw_shown_pairs(data, 0)
    first = {
        name: np.array([float(pair.better_is_first) for pair in shown_pairs if pair.difficulty == name])
        for name in data.pairs
    }
    yield "always the one shown first", first
    length = {paper.id: float(len(paper.text)) for paper in data.grouped}
    yield (
        "the longer text",
        _score_values(data, {(group, paper): length[paper] for group, paper in _list_members(data)}),
    )
    for scorer in list_scorers(embedded_papers):
        yield scorer.name, _score_values(data, score_groups(scorer, embedded_papers, data.groups, 0))
    if scores:
        point_scores = {(group, paper): scores.get(paper, np.nan) for group, paper in _list_members(data)}
        covered_rows = {
            name: np.flatnonzero(~np.isnan(compute_gaps(point_scores, pairs))) for name, pairs in data.pairs.items()
        }
        counts_text = ", ".join(f"{len(rows)} {name}" for name, rows in covered_rows.items())
        values = _score_values(data, point_scores)
        yield (
            f"InnoEval's points, pairs with both: {counts_text}",
            {name: values[name][covered_rows[name]] for name in covered_rows},
        )
    if outcomes:
        yield _measure_judge(data, outcomes, shown_pairs)


def _measure_judge(
    data: InnoEval, outcomes: Sequence[PairOutcome], pairs: Sequence[ShownPair]
) -> tuple[str, dict[str, NDArray[np.float64]]]:
    """Return the mean over repetitions of each pair asked about."""
    values: dict[str, list[float]] = {}
    by_name = {pair.name: pair for pair in pairs}
    for outcome in outcomes:
        values.setdefault(outcome.item, []).append(score_outcome(outcome, by_name[outcome.item].pair))
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


def _list_members(data: InnoEval) -> Iterator[tuple[str, IdeaId]]:
    return ((group, paper) for group, papers in data.groups.items() for paper in papers)


def _score_values(data: InnoEval, values: Mapping[tuple[str, IdeaId], float]) -> dict[str, NDArray[np.float64]]:
    return {difficulty: score_gaps(compute_gaps(values, pairs)) for difficulty, pairs in data.pairs.items()}
