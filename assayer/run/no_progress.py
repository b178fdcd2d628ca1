"""Progress without an observer."""

from assayer.ports import ProgressEvent


class NoProgress:
    """Implementation of `assayer.ports.Progress` that ignores every event."""

    def report(self, event: ProgressEvent) -> None:
        pass
