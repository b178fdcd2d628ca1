"""Data for drawing a timeline: rows by name, and the number of language model calls running at once."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from assayer_client.reports import Span, SpanKind, Timeline

_ORDER: tuple[SpanKind, ...] = ("wait", "stage", "call")
Times = tuple[float, float]
"""Start and end, in seconds from the timeline's start."""


class ConcurrencyStep(NamedTuple):
    """Number of spans running from this time until the next step."""

    at: float
    running: int


@dataclass(frozen=True)
class TimelineRow:
    """All spans of one kind and name."""

    name: str
    kind: SpanKind
    spans: tuple[Times, ...]

    @cached_property
    def steps(self) -> tuple[ConcurrencyStep, ...]:
        return count_running(self.spans)

    @cached_property
    def most(self) -> int:
        """Maximum number of the row's spans running at once."""
        return count_max_running(self.spans)


@dataclass(frozen=True)
class TimelineChart:
    timeline: Timeline
    seconds: float
    """Total duration in seconds; always above zero, so that it can be used as a divisor."""
    rows: tuple[TimelineRow, ...]
    """Rows for waits, then stages, then calls, each group in order of first start."""
    calls: int
    asked: tuple[Times, ...]
    """Calls that were sent to a model, because the cache had no answer."""

    @property
    def waited_seconds(self) -> float:
        return sum(end - start for row in self.rows if row.kind == "wait" for start, end in row.spans)


def build_timeline_chart(timeline: Timeline) -> TimelineChart:
    by_row = defaultdict[tuple[SpanKind, str], list[Times]](list)
    for span in sorted(timeline.spans, key=lambda span: (span.start, span.end, span.name)):
        by_row[span.kind, span.name].append(_measure_seconds(timeline, span))
    rows = [TimelineRow(name, kind, tuple(times)) for (kind, name), times in by_row.items()]
    last = max((end for row in rows for _, end in row.spans), default=0.0)
    calls = [span for span in timeline.spans if span.kind == "call"]
    return TimelineChart(
        timeline,
        max((timeline.end - timeline.start).total_seconds(), last, 1e-3),
        tuple(sorted(rows, key=lambda row: _ORDER.index(row.kind))),
        len(calls),
        tuple(_measure_seconds(timeline, span) for span in calls if span.outcome != "cached"),
    )


def count_running(spans: Iterable[Times]) -> tuple[ConcurrencyStep, ...]:
    """Return each time at which the number of running spans changes, with the new number. The last number is 0."""
    changes: dict[float, int] = {}
    for start, end in spans:
        changes[start] = changes.get(start, 0) + 1
        changes[end] = changes.get(end, 0) - 1
    concurrency_steps, running_count = [], 0
    for moment in sorted(changes):
        if changes[moment]:
            running_count += changes[moment]
            concurrency_steps.append(ConcurrencyStep(moment, running_count))
    return tuple(concurrency_steps)


def count_max_running(spans: Iterable[Times]) -> int:
    return max((step.running for step in count_running(spans)), default=0)


def _measure_seconds(timeline: Timeline, span: Span) -> Times:
    """Return a span's start and end, in seconds from the timeline's start. Clocks of several machines may disagree, so
    the start is never before the timeline's, and the end is never before the start."""
    start = max(0.0, (span.start - timeline.start).total_seconds())
    return start, max(start, (span.end - timeline.start).total_seconds())
