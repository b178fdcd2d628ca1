"""What one evaluation may still ask of one source, so that one idea cannot eat the day of all."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from assayer.models import Operation
from assayer.ports import Clock

__all__ = ["Allowance"]


class Allowance:
    """Questions by kind, and seconds of waiting in which at least one was on its way."""

    def __init__(self, questions: int, seconds: float, clock: Clock) -> None:
        self._questions = questions
        self._seconds = seconds
        self._clock = clock
        self._asked: Counter[Operation] = Counter()
        self._in_flight = 0
        self._since = 0.0

    def take(self, operation: Operation, wanted: int) -> int:
        """How many of the wanted questions may be asked; they are taken."""
        granted = min(wanted, self._questions - self._asked[operation])
        self._asked[operation] += granted
        return granted

    @property
    def patience(self) -> float:
        """Seconds of waiting left."""
        running = self._clock.monotonic() - self._since if self._in_flight else 0.0
        return max(0.0, self._seconds - running)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While this is open time counts, once however many questions are on their way."""
        if not self._in_flight:
            self._since = self._clock.monotonic()
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self._seconds -= self._clock.monotonic() - self._since
