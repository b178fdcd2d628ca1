"""The progress of a job, as it is written into its events now and then."""

import datetime as dt
from collections.abc import Callable
from typing import Any, NamedTuple

from assayer.ports import ActivitySpan, ProgressEvent

__all__ = ["JobProgress"]


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


class _StageProgress(NamedTuple):
    done: int
    total: int
    began: dt.datetime
    """When it was first heard of: events are written later."""


class JobProgress:
    """Collects the progress that a job reports, for the events that are written now and then.

    Implements `assayer.ports.Progress`.
    """

    def __init__(self, now: Callable[[], dt.datetime] = _now) -> None:
        self._now = now
        self._stages: dict[str, _StageProgress] = {}
        self._activities: tuple[ActivitySpan, ...] = ()
        self._told: frozenset[ActivitySpan] = frozenset()
        self._saved: frozenset[ActivitySpan] = frozenset()
        self._changed = False

    def report(self, event: ProgressEvent) -> None:
        before, now = self._stages.get(event.stage), self._now()
        self._changed |= before is None or (before.done, before.total) != (event.done, event.total)
        self._stages[event.stage] = _StageProgress(event.done, event.total, now if before is None else before.began)
        self._activities = event.activities

    def take_changes(self) -> dict[str, Any] | None:
        """All stages so far, in the order in which they started, and activities that no call has told yet; None when
        nothing has changed since the last call."""
        if not self._changed:
            return None
        self._changed = False
        told: dict[str, Any] = {
            "stages": [
                {"stage": name, "done": one.done, "total": one.total, "began": one.began.isoformat()}
                for name, one in self._stages.items()
            ]
        }
        self._saved, news = self._told, [one for one in self._activities if one not in self._told]
        self._told |= set(news)
        if news:
            told["activities"] = [
                {"what": one.what, "start": one.start.isoformat(), "end": one.end.isoformat()} for one in news
            ]
        return told

    def mark_unsaved(self) -> None:
        """The changes taken last could not be stored."""
        self._changed, self._told = True, self._saved
