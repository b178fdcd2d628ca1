"""The progress of a job, as it is written into its events now and then."""

from typing import Any

from assayer.ports import ProgressEvent

__all__ = ["JobProgress"]


class JobProgress:
    """Collects the progress that a job reports, for the events that are written now and then.

    Implements `assayer.ports.Progress`.
    """

    def __init__(self) -> None:
        self._stages: dict[str, tuple[int, int]] = {}
        self._changed = False

    def report(self, event: ProgressEvent) -> None:
        self._changed |= self._stages.get(event.stage) != (event.done, event.total)
        self._stages[event.stage] = (event.done, event.total)

    def take_changes(self) -> dict[str, Any] | None:
        """All stages so far, in the order in which they started; None when nothing has changed since the last call."""
        if not self._changed:
            return None
        self._changed = False
        return {"stages": [{"stage": name, "done": d, "total": t} for name, (d, t) in self._stages.items()]}

    def mark_unsaved(self) -> None:
        """The changes taken last could not be stored."""
        self._changed = True
