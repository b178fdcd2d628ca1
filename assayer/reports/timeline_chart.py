"""A timeline laid out for drawing: rows of lanes, how much ran at once, and how deep the calls depend on each other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappush, heapreplace
from itertools import groupby
from typing import NamedTuple

from assayer.models.timeline import Span, SpanKind, Timeline

__all__ = ["ConcurrencyStep", "PlacedSpan", "TimelineChart", "TimelineRow", "chart_of", "levels", "steps"]

_ORDER: tuple[SpanKind, ...] = ("wait", "stage", "call")


class PlacedSpan(NamedTuple):
    """A span at its place. Times are seconds from the timeline's start."""

    span: Span
    start: float
    end: float
    lane: int
    """Spans of one lane do not overlap; from 0."""
    level: int
    """Of a call: how many calls, itself included, are known to have followed one another up to it. 0 for others."""


@dataclass(frozen=True)
class TimelineRow:
    """All spans of one kind and name."""

    name: str
    kind: SpanKind
    spans: tuple[PlacedSpan, ...]

    @cached_property
    def lanes(self) -> int:
        return 1 + max(one.lane for one in self.spans)

    @cached_property
    def start(self) -> float:
        return min(one.start for one in self.spans)

    @cached_property
    def end(self) -> float:
        return max(one.end for one in self.spans)

    @cached_property
    def steps(self) -> "tuple[ConcurrencyStep, ...]":
        return steps((one.start, one.end) for one in self.spans)

    @cached_property
    def most(self) -> int:
        """Of its spans at once."""
        return max((step.running for step in self.steps), default=0)


class ConcurrencyStep(NamedTuple):
    """From here to the next step so much runs."""

    at: float
    running: int


@dataclass(frozen=True)
class TimelineChart:
    timeline: Timeline
    seconds: float
    """Of the whole; more than zero, so that it can be divided by."""
    rows: tuple[TimelineRow, ...]
    """Waits, then stages, then tasks, each in order of start."""

    @cached_property
    def calls(self) -> tuple[PlacedSpan, ...]:
        return tuple(one for row in self.rows if row.kind == "call" for one in row.spans)

    @cached_property
    def asked(self) -> tuple[PlacedSpan, ...]:
        """Calls that were sent: an answer from the cache takes no time worth drawing."""
        return tuple(one for one in self.calls if one.span.outcome != "cached")

    @cached_property
    def steps(self) -> tuple[ConcurrencyStep, ...]:
        """Calls in flight."""
        return steps((one.start, one.end) for one in self.asked)

    @cached_property
    def most(self) -> int:
        return max((step.running for step in self.steps), default=0)

    @cached_property
    def depth(self) -> int:
        return max((one.level for one in self.asked), default=0)

    @cached_property
    def busy_seconds(self) -> float:
        """In which at least one call was in flight."""
        ends = [step.at for step in self.steps[1:]]
        return sum(end - step.at for step, end in zip(self.steps, ends, strict=False) if step.running)

    @cached_property
    def waited_seconds(self) -> float:
        return sum(one.end - one.start for row in self.rows if row.kind == "wait" for one in row.spans)


def chart_of(timeline: Timeline) -> TimelineChart:
    spans = sorted(timeline.spans, key=lambda span: (span.start, span.end, span.name))
    asked = [span for span in spans if span.kind == "call" and span.outcome != "cached"]
    times = [(_seconds(timeline, span)) for span in asked]
    depth = {id(span): level for span, level in zip(asked, levels(times), strict=True)}
    rows = []
    keyed = sorted(spans, key=lambda span: (_ORDER.index(span.kind), span.name))
    for (_, name), group in groupby(keyed, key=lambda span: (_ORDER.index(span.kind), span.name)):
        members = list(group)
        lanes = _lanes([_seconds(timeline, span) for span in members])
        placed = (
            PlacedSpan(span, *_seconds(timeline, span), lane, depth.get(id(span), 0))
            for span, lane in zip(members, lanes, strict=True)
        )
        rows.append(TimelineRow(name, members[0].kind, tuple(placed)))
    rows.sort(key=lambda row: (_ORDER.index(row.kind), row.start, row.end))
    whole = (timeline.end - timeline.start).total_seconds()
    last = max((row.end for row in rows), default=0.0)
    return TimelineChart(timeline, max(whole, last, 1e-3), tuple(rows))


def levels(calls: Sequence[tuple[float, float]]) -> list[int]:
    """For each (start, end): one more than the highest level of all that had ended when it started.

    A call can only depend on what had ended before, so no chain of dependent calls is longer than the highest level;
    where calls of very different length run side by side it may be shorter.
    """
    result = [0] * len(calls)
    ends = sorted(range(len(calls)), key=lambda index: calls[index][1])
    reached, ended = 0, 0
    for index in sorted(range(len(calls)), key=lambda index: calls[index]):
        while ended < len(ends) and calls[ends[ended]][1] <= calls[index][0] and result[ends[ended]]:
            reached = max(reached, result[ends[ended]])
            ended += 1
        result[index] = reached + 1
    return result


def steps(spans: Iterable[tuple[float, float]]) -> tuple[ConcurrencyStep, ...]:
    """How many run from each moment at which that changes; the last is 0."""
    changes: dict[float, int] = {}
    for start, end in spans:
        changes[start] = changes.get(start, 0) + 1
        changes[end] = changes.get(end, 0) - 1
    found, running = [], 0
    for at in sorted(changes):
        if changes[at]:
            running += changes[at]
            found.append(ConcurrencyStep(at, running))
    return tuple(found)


def _seconds(timeline: Timeline, span: Span) -> tuple[float, float]:
    """Clocks of several machines wrote these: nothing starts before the whole, and nothing ends before it starts."""
    start = max(0.0, (span.start - timeline.start).total_seconds())
    return start, max(start, (span.end - timeline.start).total_seconds())


def _lanes(spans: Sequence[tuple[float, float]]) -> list[int]:
    """The lowest number of lanes; spans come in order of start."""
    free: list[tuple[float, int]] = []
    lanes = []
    for start, end in spans:
        if free and free[0][0] <= start:
            lane = heapreplace(free, (end, free[0][1]))[1]
        else:
            lane = len(free)
            heappush(free, (end, lane))
        lanes.append(lane)
    return lanes
