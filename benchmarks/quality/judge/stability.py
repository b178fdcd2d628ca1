"""Persuasion and repeatability: how scores change when only the wording or nothing changes, and how they spread."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from assayer.bias_test.persuasive import reword_persuasively
from assayer.models import Axis, Idea
from assayer.run.concurrency import Failed, catch_failure, gather_all
from benchmarks.quality.grapheval.reporting import format_row
from benchmarks.quality.judge.answering import ReviewSource, make_neutral_copy
from benchmarks.quality.judge.intervals import format_statistic
from benchmarks.quality.judged_sets.judged import compute_spearman
from benchmarks.quality.outcome_file import Outcome

_AXES: tuple[Axis, ...] = get_args(Axis)
_RUN_COUNT = 2
_HEADS = (
    "review by",
    "score",
    "plans",
    "no score",
    "mean",
    "standard deviation",
    "lowest to highest",
    "commonest score",
    "rank correlation of two runs",
    "mean difference of two runs",
    "rank correlation with words of the plan",
)


class StabilityOutcome(Outcome):
    rejected: str = ""
    """Why the persuasive copy is not a fair test."""
    words: int = 0
    words_of_copy: int = 0
    scores: dict[str, tuple[dict[Axis, float], dict[Axis, float]]] = Field(default_factory=dict)
    """Scores out of 10 by contender, for the plan and its copy or for two runs. Missing scores are absent."""
    failures: dict[str, str] = Field(default_factory=dict)
    """Why a contender has no scores."""


async def measure_persuasion(
    reviewer: ReviewSource, idea: Idea, contenders: Sequence[str], seed: int
) -> StabilityOutcome:
    """Review a plan and a copy that only sounds better."""
    copy = await reword_persuasively(idea.text, await reviewer.get_llm(idea.source), reviewer.create_run(idea.source))
    altered_idea = make_neutral_copy(idea, copy.text)
    outcome = StabilityOutcome(
        item=idea.source, seed=seed, words=len(idea.text.split()), words_of_copy=len(altered_idea.text.split())
    )
    if copy.objection:
        return outcome.model_copy(update={"rejected": copy.objection})
    return await _review_twice(reviewer, contenders, outcome, ((idea, 1), (altered_idea, 1)))


async def measure_repeatability(
    reviewer: ReviewSource, idea: Idea, contenders: Sequence[str], seed: int
) -> StabilityOutcome:
    """Review the same plan in two runs with separate answers."""
    outcome = StabilityOutcome(item=idea.source, seed=seed, words=len(idea.text.split()))
    return await _review_twice(reviewer, contenders, outcome, ((idea, 1), (idea, 2)))


async def _review_twice(
    reviewer: ReviewSource,
    contenders: Sequence[str],
    outcome: StabilityOutcome,
    versions: tuple[tuple[Idea, int], tuple[Idea, int]],
) -> StabilityOutcome:
    scores: dict[str, tuple[dict[Axis, float], dict[Axis, float]]] = {}
    failures: dict[str, str] = {}

    async def review(name: str) -> None:
        outcomes = await gather_all(catch_failure(reviewer.review(name, idea, run)) for idea, run in versions)
        first, second = (
            {} if isinstance(review_or_failure, Failed) else review_or_failure.scores for review_or_failure in outcomes
        )
        scores[name] = (first, second)
        if failure_texts := [
            str(review_or_failure.error) for review_or_failure in outcomes if isinstance(review_or_failure, Failed)
        ]:
            failures[name] = "; ".join(failure_texts)

    await gather_all(review(name) for name in contenders)
    return outcome.model_copy(update={"scores": scores, "failures": failures})


def format_persuasion(outcomes: Sequence[StabilityOutcome], contenders: Sequence[str], rounds: int) -> Iterator[str]:
    """Yield how much better wording shifts each score."""
    pairs = [outcome for outcome in outcomes if outcome.scores]
    yield (
        f"{len(outcomes)} plans, {len(pairs)} pairs; rejected by the check: "
        f"{sum(bool(outcome.rejected) for outcome in outcomes)}; not made: {sum(bool(o.failure) for o in outcomes)}. "
        f"Words of the copies: {_format_mean_ratio(pairs)} of the plans'.\n"
    )
    yield format_row("review by", "score", "pairs", "no score", "mean shift", "mean size", "largest", "rises")
    yield format_row(*["---"] * 8)
    for name, axis, first, second in _list_scores(pairs, contenders):
        shifts = second - first
        known_shifts = shifts[~np.isnan(shifts)]
        yield format_row(
            name,
            axis,
            str(len(pairs)),
            str(int(np.isnan(shifts).sum())),
            format_statistic([*known_shifts], rounds),
            format_statistic([*np.abs(known_shifts)], rounds),
            f"{np.abs(known_shifts).max():.2f}" if len(known_shifts) else "–",
            format_statistic([*(np.nan_to_num(shifts) > 0).astype(float)], rounds),
        )


def _format_mean_ratio(pairs: Sequence[StabilityOutcome]) -> str:
    ratios = [outcome.words_of_copy / outcome.words for outcome in pairs if outcome.words]
    return f"{np.mean(ratios):.2f}" if ratios else "–"


def format_repeatability(outcomes: Sequence[StabilityOutcome], contenders: Sequence[str], rounds: int) -> Iterator[str]:
    """Yield the distribution and agreement of two runs, compared with a score that counts the plan's words."""
    yield format_row(*_HEADS)
    yield format_row(*["---"] * len(_HEADS))
    words = np.array([outcome.words for outcome in outcomes], np.float64)
    for name, axis, first, second in _list_scores(outcomes, contenders):
        has_both = ~np.isnan(first) & ~np.isnan(second)
        known_scores = first[~np.isnan(first)]
        numbers = [*range(len(outcomes))]
        yield format_row(
            name,
            axis,
            str(len(outcomes)),
            str(int((~has_both).sum())),
            format_statistic([*known_scores], rounds),
            format_statistic(
                [*known_scores], rounds, lambda sample: float(sample.std(ddof=1)) if len(sample) > 1 else float("nan")
            ),
            f"{known_scores.min():.1f} to {known_scores.max():.1f}" if len(known_scores) else "–",
            _format_commonest(known_scores),
            format_statistic(numbers, rounds, _build_correlation(first, second)) if has_both.any() else "–",
            format_statistic([*np.abs(second - first)[has_both]], rounds),
            format_statistic(numbers, rounds, _build_correlation(first, words)) if len(known_scores) else "–",
        )
    yield "\nA score that is the same for every plan would have a deviation of 0 and no rank correlation."
    for name in contenders:
        for outcome in outcomes:
            if name in outcome.failures:
                yield f"{name}, {outcome.item}: {outcome.failures[name]}"


def _list_scores(
    outcomes: Sequence[StabilityOutcome], contenders: Sequence[str]
) -> Iterator[tuple[str, Axis, NDArray[np.float64], NDArray[np.float64]]]:
    for name in contenders:
        for axis in _AXES:
            first, second = (
                np.array([outcome.scores.get(name, ({}, {}))[run].get(axis, np.nan) for outcome in outcomes])
                for run in range(_RUN_COUNT)
            )
            yield name, axis, first, second


def _format_commonest(values: NDArray[np.float64]) -> str:
    if not len(values):
        return "–"
    value, count = Counter(values.tolist()).most_common(1)[0]
    return f"{value:g} ({count / len(values):.0%})"


def _build_correlation(
    first: NDArray[np.float64], second: NDArray[np.float64]
) -> Callable[[NDArray[np.float64]], float]:
    """Return a function from drawn plans to rank correlation; a missing score counts as the median."""
    columns = [np.where(np.isnan(column), np.nanmedian(column), column) for column in (first, second)]

    def measure(sample: NDArray[np.float64]) -> float:
        rows = sample.astype(np.int64)
        return compute_spearman(columns[0][rows], columns[1][rows])

    return measure
