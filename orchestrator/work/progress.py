"""How far a job is: every report is heard, and the latest of each stage is written down now and then."""

from typing import Any

from assayer.ports import ProgressEvent

__all__ = ["Steps"]


class Steps:
    """Implements `assayer.ports.Progress`."""

    def __init__(self) -> None:
        self._stages: dict[str, tuple[int, int]] = {}
        self._news = False

    def report(self, event: ProgressEvent) -> None:
        self._news |= self._stages.get(event.stage) != (event.done, event.total)
        self._stages[event.stage] = (event.done, event.total)

    def take(self) -> dict[str, Any] | None:
        """Every stage so far, in the order in which they began; None when nothing has changed since the last time."""
        if not self._news:
            return None
        self._news = False
        return {"stages": [{"stage": name, "done": d, "total": t} for name, (d, t) in self._stages.items()]}

    def untold(self) -> None:
        """What was taken did not get through."""
        self._news = True
