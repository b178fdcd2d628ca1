"""Progress of a job, recorded periodically as an event."""

import datetime as dt
from collections.abc import Callable
from typing import Any, NamedTuple

from assayer.ports import ProgressEvent


def _get_time() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


class _StageProgress(NamedTuple):
    done: int
    total: int
    started_at: dt.datetime
    """Time at which progress of the stage was first reported, which is before it is written as an event."""


class JobProgress:
    """Progress that a job has reported and that is yet to be written as an event.

    Implements `assayer.ports.Progress`."""

    def __init__(self, get_time: Callable[[], dt.datetime] = _get_time) -> None:
        self._now = get_time
        self._stages: dict[str, _StageProgress] = {}
        self._changed = False

    def report(self, event: ProgressEvent) -> None:
        previous, now = self._stages.get(event.stage), self._now()
        self._changed |= previous is None or (previous.done, previous.total) != (event.done, event.total)
        self._stages[event.stage] = _StageProgress(
            event.done, event.total, now if previous is None else previous.started_at
        )

    def take_changes(self) -> dict[str, Any] | None:
        """Return the progress of all stages, in the order in which they started; None if nothing has changed since the
        last call."""
        if not self._changed:
            return None
        self._changed = False
        return {
            "stages": [
                {"stage": name, "done": stage.done, "total": stage.total, "began": stage.started_at.isoformat()}
                for name, stage in self._stages.items()
            ]
        }

    def mark_unsaved(self) -> None:
        """Mark the most recently returned changes as not stored, so that the next call of `take_changes` returns
        them."""
        self._changed = True
