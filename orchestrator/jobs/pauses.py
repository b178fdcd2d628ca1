"""Stretches of a job in which no language model was being asked, and what it did instead, as far as it told."""

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import NamedTuple, get_args

from assayer.models import LedgerRow
from assayer.ports import Activity, ActivitySpan
from orchestrator.jobs.models import Job, JobEvent
from orchestrator.jobs.timeline import ENDS_ATTEMPT, ledger_rows_of_job

__all__ = ["Pause", "pauses_of"]

_LEAST_SECONDS, _LEAST_SHARE = 0.5, 0.02
"""Shorter ones are no pauses; the second is of the whole."""
_LEAST_TOLD = 0.05
_KNOWN = frozenset(get_args(Activity))

Stretch = tuple[dt.datetime, dt.datetime]


class Pause(NamedTuple):
    start: dt.datetime
    end: dt.datetime
    why: tuple[tuple[Activity, float], ...]
    """Seconds of it in which each was done, the longest first; several may go on at once. Empty: nothing was told."""


def pauses_of(job: Job, events: Sequence[JobEvent], rows: Sequence[LedgerRow], now: dt.datetime) -> list[Pause]:
    """In order; while the job was in the queue it did not pause. `rows` of the job's run."""
    end = job.finished_at or now
    attempts = list(_attempts(events, end))
    least = max(_LEAST_SECONDS, _LEAST_SHARE * sum(_seconds(one) for one in attempts))
    asked = [
        (row.at - dt.timedelta(seconds=row.record.latency_seconds), row.at)
        for row in ledger_rows_of_job(job, events, rows, end)
        if not row.record.cached
    ]
    told = [span for event in events if event.kind == "progress" for span in _activities(event)]
    pauses = [stretch for attempt in attempts for stretch in _uncovered(attempt, asked) if _seconds(stretch) >= least]
    return [Pause(*stretch, _why(stretch, told)) for stretch in pauses]


def _attempts(events: Sequence[JobEvent], end: dt.datetime) -> Iterator[Stretch]:
    began: dt.datetime | None = None
    for event in events:
        if event.kind == "started":
            began = event.at
        elif event.kind in ENDS_ATTEMPT and began is not None:
            yield began, event.at
            began = None
    if began is not None:
        yield began, end


def _uncovered(whole: Stretch, asked: Sequence[Stretch]) -> Iterator[Stretch]:
    free = whole[0]
    for start, end in sorted(asked):
        if start > free:
            yield free, min(start, whole[1])
        free = max(free, end)
        if free >= whole[1]:
            return
    yield free, whole[1]


def _why(pause: Stretch, told: Sequence[ActivitySpan]) -> tuple[tuple[Activity, float], ...]:
    found: dict[Activity, float] = {}
    for what in dict.fromkeys(span.what for span in told):
        spans = [(span.start, span.end) for span in told if span.what == what]
        busy = _seconds(pause) - sum(map(_seconds, _uncovered(pause, _inside(pause, spans))))
        if busy >= _LEAST_TOLD:
            found[what] = round(busy, 3)
    return tuple(sorted(found.items(), key=lambda pair: -pair[1]))


def _inside(whole: Stretch, spans: Sequence[Stretch]) -> list[Stretch]:
    cut = [(max(start, whole[0]), min(end, whole[1])) for start, end in spans]
    return [(start, end) for start, end in cut if start < end]


def _activities(event: JobEvent) -> Iterator[ActivitySpan]:
    """What another version told otherwise is passed over."""
    for one in event.data.get("activities", ()):
        if one["what"] in _KNOWN:
            yield ActivitySpan(
                one["what"], dt.datetime.fromisoformat(one["start"]), dt.datetime.fromisoformat(one["end"])
            )


def _seconds(stretch: Stretch) -> float:
    return (stretch[1] - stretch[0]).total_seconds()
