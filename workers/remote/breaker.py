"""Leaves a source alone that keeps failing: after so many failures in a row nobody asks it for a while, then one
request finds out whether it is back."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["Breaker", "Permit"]


@dataclass(eq=False)
class Permit:
    """Leave to send one request; ends with one of its methods."""

    _breaker: "Breaker"
    _probe: bool
    _open: bool = True

    def succeeded(self) -> None:
        if self._end():
            self._breaker.failures = 0
            self._breaker.opened_at = None

    def failed(self, now: float) -> None:
        if self._end():
            self._breaker.count_failure(now, self._probe)

    def dropped(self) -> None:
        """Nothing was learnt. Does nothing after one of the others."""
        self._end()

    def _end(self) -> bool:
        open_, self._open = self._open, False
        if open_ and self._probe:
            self._breaker.probing = False
        return open_


class Breaker:
    """A synchronous state machine; times are seconds of any clock."""

    def __init__(self, threshold: int, pause: float) -> None:
        self._threshold = threshold
        self._pause = pause
        self.failures = 0
        """In a row."""
        self.opened_at: float | None = None
        self.probing = False

    def state(self, now: float) -> Literal["closed", "open", "half_open"]:
        if self.opened_at is None:
            return "closed"
        return "open" if now < self.opened_at + self._pause else "half_open"

    def admit(self, now: float) -> Permit | None:
        """None: the source is to be left alone."""
        state = self.state(now)
        if state == "open" or (state == "half_open" and self.probing):
            return None
        self.probing = self.probing or state == "half_open"
        return Permit(self, state == "half_open")

    def remaining(self, now: float) -> float:
        """Seconds until the next probe may go."""
        return 0.0 if self.opened_at is None else max(0.0, self.opened_at + self._pause - now)

    def count_failure(self, now: float, probe: bool) -> None:
        self.failures += 1
        if probe or (self.opened_at is None and self.failures >= self._threshold):
            self.opened_at = now
