"""What one evaluation does beside asking language models, and when: so that somebody who looks at its timeline sees why
nothing was asked for a while."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager

from assayer.ports import Activity, ActivitySpan, Clock

__all__ = ["Activities"]

_LEAST = dt.timedelta(seconds=0.05)
_MOST = 60


class Activities:
    """Stretches of one kind that overlap are one; what nobody would notice is left out; of many the longest stay."""

    def __init__(self) -> None:
        self._spans: list[ActivitySpan] = []

    def add(self, what: Activity, start: dt.datetime, end: dt.datetime) -> None:
        if end - start < _LEAST:
            return
        for one in [one for one in self._spans if one.what == what and one.start <= end and start <= one.end]:
            self._spans.remove(one)
            start, end = min(start, one.start), max(end, one.end)
        self._spans.append(ActivitySpan(what, start, end))
        if len(self._spans) > _MOST:
            self._spans.remove(min(self._spans, key=lambda one: one.end - one.start))

    @contextmanager
    def during(self, what: Activity, clock: Clock) -> Iterator[None]:
        began = clock.now()
        try:
            yield
        finally:
            self.add(what, began, clock.now())

    def spans(self) -> tuple[ActivitySpan, ...]:
        """In order of start."""
        return tuple(sorted(self._spans, key=lambda one: (one.start, one.end)))
