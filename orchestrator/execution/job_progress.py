"""Progress of a job, as recorded in its events periodically."""

import datetime as dt
from collections.abc import Callable
from typing import Any, NamedTuple

from assayer.ports import ProgressEvent


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


class _StageProgress(NamedTuple):
    done: int
    total: int
    began: dt.datetime
    """Time at which the stage was first reported; events are written later."""


class JobProgress:
    """Collector of the progress that a job reports, for events that are written periodically.

    Implements `assayer.ports.Progress`."""

    def __init__(self, now: Callable[[], dt.datetime] = _now) -> None:
        self._now = now
        self._stages: dict[str, _StageProgress] = {}
        self._changed = False

    def report(self, event: ProgressEvent) -> None:
        before, now = self._stages.get(event.stage), self._now()
        self._changed |= before is None or (before.done, before.total) != (event.done, event.total)
        self._stages[event.stage] = _StageProgress(event.done, event.total, now if before is None else before.began)

    def take_changes(self) -> dict[str, Any] | None:
        """Return all stages so far, in the order in which they started; None when nothing has changed since the last
        call."""
        if not self._changed:
            return None
        self._changed = False
        return {
            "stages": [
                {"stage": name, "done": stage.done, "total": stage.total, "began": stage.began.isoformat()}
                for name, stage in self._stages.items()
            ]
        }

    def mark_unsaved(self) -> None:
        """Mark the changes taken last as not stored, so that they are returned again."""
        self._changed = True
