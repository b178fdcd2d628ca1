"""From two folders of reports to the lines that are printed."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assayer.errors import InputError
from assayer.methods.grapheval.scoring.metrics import Estimate, bootstrap
from assayer.models import Report
from benchmarks.quality import runs
from benchmarks.quality.given import Given
from benchmarks.quality.grapheval.reporting import row, shown
from benchmarks.quality.kept import reasons
from benchmarks.quality.preferences.comparison import (
    RESPECTS,
    PreferenceOutcome,
    Respect,
    ReviewPair,
    review_text,
    worth_of_second,
)
from cluster.ranking_inputs import read_reports

__all__ = ["preferences", "preferences_report", "review_pairs"]


def preferences(given: Given) -> Iterator[str]:
    pairs = review_pairs(*given.options.reports)[: given.asked.first]
    yield f"{len(pairs)} ideas with a report in both folders."
    outcomes: list[PreferenceOutcome] = []
    if given.asked.judge is not None:
        outcomes = asyncio.run(runs.preferences(given.asked, given.settings, pairs))
        yield from given.warning()
    yield from preferences_report(pairs, outcomes, given.asked.judge not in (None, "endpoint"), given.rounds)


def review_pairs(first: Path, second: Path) -> list[ReviewPair]:
    """By the idea's id; of several reports of one idea in a folder the first by file name. Raises InputError where no
    idea has a report in both."""
    ones, others = _by_idea(first), _by_idea(second)
    pairs = [ReviewPair(one.idea.source, one, others[name]) for name, one in ones.items() if name in others]
    if not pairs:
        raise InputError(f"No idea has a report both in {first} and in {second}.", "Evaluate the same ideas twice.")
    return pairs


def _by_idea(folder: Path) -> dict[str, Report]:
    found: dict[str, Report] = {}
    for report in read_reports(folder):
        found.setdefault(report.idea.id, report)
    return found


def preferences_report(
    pairs: Sequence[ReviewPair], outcomes: Sequence[PreferenceOutcome], simulated: bool, rounds: int
) -> Iterator[str]:
    """Shares of pairs in which the second folder's review is better; a pair without a verdict counts half and is
    counted, so that failures move nobody ahead."""
    yield row("respect", "second is better", "without a verdict", "order turned it")
    yield row(*["---"] * 4)
    mark = "SIMULATED: " if simulated else ""
    for respect in RESPECTS:
        if outcomes:
            worths = [worth_of_second(one, respect) for one in outcomes]
            values = np.array([0.5 if one is None else one for one in worths], np.float64)
            turned = sum(_turned(one, respect) for one in outcomes)
            yield row(f"{mark}{respect}", shown(_mean(values, rounds)), str(worths.count(None)), str(turned))
    longer = np.array([_longer(pair) for pair in pairs], np.float64)
    yield row("the longer review, whatever it says", shown(_mean(longer, rounds)), "0", "0")
    yield from reasons(outcomes)


def _turned(outcome: PreferenceOutcome, respect: Respect) -> bool:
    verdicts = (outcome.better.get(respect), outcome.reversed.get(respect))
    return verdicts in (("A", "A"), ("B", "B"))


def _longer(pair: ReviewPair) -> float:
    lengths = len(review_text(pair.first)), len(review_text(pair.second))
    return 0.5 if lengths[0] == lengths[1] else float(lengths[1] > lengths[0])


def _mean(values: NDArray[np.float64], rounds: int) -> Estimate:
    return bootstrap(
        lambda _, drawn: float(drawn.mean()), np.zeros(len(values), np.int16), [values[:, None]], rounds, 0, []
    )
