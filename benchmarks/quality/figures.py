"""Published quality figures: what was measured, for which scorer, on which items, with which interval."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.scoring.metrics import Estimate, Measure, Probabilities, Truth, bootstrap
from assayer.models import Frozen
from benchmarks.quality.grapheval.reporting import format_estimate, format_row

Kind = Literal["ours", "prompt", "simple", "people"]
"""The program; a language model with a one-paragraph prompt, or without search; methods that learn or measure without
reading; people compared with people, the ceiling."""


class Figure(Frozen):
    """A measured number with its 95 % interval."""

    set: str
    part: str
    """Part of the set: a year, a stage, `all`."""
    measure: str
    scorer: str
    kind: Kind
    value: float | None
    """None if there were no answers or the measure is not defined; `note` says why."""
    low: float | None
    high: float | None
    items: int
    """Number of items, including those without an answer, which count as wrong."""
    unanswered: int = 0
    chance: float | None = None
    """Value of the measure for random guessing."""
    note: str = ""
    simulated: bool = False
    """Whether the answers were invented; the number then says nothing about quality."""

    @property
    def formatted(self) -> str:
        if self.value is None or self.low is None or self.high is None:
            return "–" if self.value is None else f"{self.value:.3f}"
        return format_estimate(Estimate(self.value, self.low, self.high))


def build_figure(
    part_of_set: tuple[str, str],
    measure: str,
    scorer: tuple[str, Kind],
    estimate: Estimate,
    items: int,
    unanswered: int = 0,
    chance: float | None = None,
    note: str = "",
) -> Figure:
    """Make a figure. `part_of_set` is set and part, `scorer` its name and kind; a value of NaN becomes None."""
    value, low, high = (None if math.isnan(item) else round(item, 4) for item in estimate)
    return Figure(
        set=part_of_set[0],
        part=part_of_set[1],
        measure=measure,
        scorer=scorer[0],
        kind=scorer[1],
        value=value,
        low=low,
        high=high,
        items=items,
        unanswered=unanswered,
        chance=chance,
        note=note or ("" if value is not None else "not defined on these items"),
    )


def build_figures(
    part_of_set: tuple[str, str],
    scorer: tuple[str, Kind],
    measures: Iterable[tuple[str, Measure, float | None]],
    truth: Truth,
    runs: Sequence[Probabilities],
    rounds: int,
    seed: int = 0,
    note: str = "",
) -> Iterator[Figure]:
    """Yield figures for probabilities or decisions, with intervals from resampled items. `measures` holds names,
    functions and chance values."""
    unanswered = int(np.isnan(runs[0]).any(axis=1).sum())
    for name, measure, chance in measures:
        estimate = bootstrap(measure, truth, runs, rounds, seed)
        yield build_figure(part_of_set, name, scorer, estimate, len(truth), unanswered, chance, note)


def estimate_mean(values: NDArray[np.float64], rounds: int, seed: int = 0) -> Estimate:
    """Estimate the mean of one number per item by bootstrap over items; NaN counts as 0."""
    column = np.nan_to_num(values)[:, None]
    return bootstrap(lambda _, sample: float(sample.mean()), np.zeros(len(column), np.int16), [column], rounds, seed)


def format_table(figures: Sequence[Figure]) -> Iterator[str]:
    """Yield the results of one judged set as a table: a row per scorer and part, a column per measure. Rows with
    simulated answers are marked."""
    measures = list(dict.fromkeys(figure.measure for figure in figures))
    chances = {figure.measure: figure.chance for figure in figures if figure.chance is not None}
    heads = [f"{name} (chance {chances[name]:.2f})" if name in chances else name for name in measures]
    yield format_row("on", "scorer", "items", "unanswered", *heads)
    yield format_row(*["---"] * (len(measures) + 4))
    lines: dict[tuple[str, str], list[Figure]] = {}
    for figure in figures:
        lines.setdefault((figure.part, figure.scorer), []).append(figure)
    for (part, scorer), line_figures in lines.items():
        by_measure = {figure.measure: figure.formatted for figure in line_figures}
        name = f"SIMULATED: {scorer}" if any(figure.simulated for figure in line_figures) else scorer
        first = line_figures[0]
        cells = (by_measure.get(measure, "–") for measure in measures)
        yield format_row(part, name, str(first.items), str(first.unanswered), *cells)
