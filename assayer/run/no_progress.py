"""Progress reporting with no listener."""

from assayer.ports import ProgressEvent


class NoProgress:
    """Implementation of `assayer.ports.Progress` that discards every event."""

    def report(self, event: ProgressEvent) -> None:
        pass
