"""Progress that nobody watches."""

from assayer.ports import ProgressEvent


class NoProgress:
    """Implements `assayer.ports.Progress` by ignoring every event."""

    def report(self, event: ProgressEvent) -> None:
        pass
