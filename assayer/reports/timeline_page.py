"""A timeline as one HTML file, by the means and under the policy of the reports."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from assayer.models.timeline import Timeline
from assayer.reports.html import render_page
from assayer.reports.timeline_chart import PlacedSpan, TimelineChart, TimelineRow, chart_of

__all__ = ["TimelineChart", "TimelinePage", "as_timeline_html", "chart_of"]


WIDTH = 1000.0
"""Of every drawing, in its own units; they are stretched to the page."""
_LANE = 7.0
_LEAST_LANE = 1.5
_TALLEST = 210.0
"""Height of a row that holds many lanes, in pixels."""
_CURVE = 64.0
_STEPS = (1.0, 2.0, 5.0)
_TICKS = 8


class Tick(NamedTuple):
    x: float
    seconds: float


class TimelineBar(NamedTuple):
    x: float
    y: float
    width: float
    height: float
    look: str
    """Class of the style sheet."""
    title: str


@dataclass(frozen=True)
class TimelinePage:
    chart: TimelineChart

    def x(self, seconds: float) -> float:
        return round(WIDTH * seconds / self.chart.seconds, 2)

    @cached_property
    def ticks(self) -> tuple[Tick, ...]:
        """At round numbers, at most `_TICKS` of them."""
        step = next(step for step in _round_numbers() if self.chart.seconds / step <= _TICKS)
        return tuple(Tick(self.x(step * number), step * number) for number in range(int(self.chart.seconds / step) + 1))

    @cached_property
    def curve(self) -> str:
        """The calls in flight as the corners of a polygon, `_CURVE` high."""
        corners, running = [(0.0, 0)], 0
        for step in self.chart.steps:
            x = self.x(step.at)
            corners += [(x, running), (x, step.running)]
            running = step.running
        most = max(self.chart.most, 1)
        return " ".join(f"{x:g},{_CURVE - (_CURVE - 2) * count / most:.1f}" for x, count in [*corners, (WIDTH, 0)])

    @property
    def curve_height(self) -> float:
        return _CURVE

    def height(self, row: TimelineRow) -> float:
        return round(row.lanes * self._lane(row), 1)

    def bars(self, row: TimelineRow) -> Iterator[TimelineBar]:
        lane = self._lane(row)
        gap = 1.0 if lane > 3 else 0.25
        for one in row.spans:
            width = max(self.x(one.end) - self.x(one.start), 1.2)
            yield TimelineBar(
                self.x(one.start), round(one.lane * lane, 2), width, round(lane - gap, 2), _look(one), _title(one)
            )

    def _lane(self, row: TimelineRow) -> float:
        return max(_LEAST_LANE, min(_LANE if row.kind == "call" else 2 * _LANE, _TALLEST / row.lanes))


def _look(one: PlacedSpan) -> str:
    if one.span.outcome == "done" and one.span.kind == "call":
        return "call even" if one.level % 2 == 0 else "call odd"
    return one.span.kind if one.span.outcome == "done" else f"{one.span.kind} {one.span.outcome}"


def _title(one: PlacedSpan) -> str:
    level = f", level {one.level}" if one.level else ""
    text = f"{one.span.name}: {one.start:.2f} s to {one.end:.2f} s ({one.end - one.start:.2f} s){level}"
    return f"{text}\n{one.span.detail}" if one.span.detail else text


def _round_numbers() -> Iterator[float]:
    power = 1e-3
    while True:
        yield from (step * power for step in _STEPS)
        power *= 10


def as_timeline_html(timeline: Timeline) -> str:
    chart = chart_of(timeline)
    values = {"page": TimelinePage(chart), "chart": chart, "timeline": timeline}
    return render_page("timeline.html", "report.css", "timeline.css", **values)
