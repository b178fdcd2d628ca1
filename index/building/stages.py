"""How long each part of a build or an update took."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from assayer.models import Frozen

__all__ = ["Stage", "Stopwatch"]


class Stage(Frozen):
    name: str
    seconds: float


class Stopwatch:
    """Adds up what stages of one name took; one that fails counts too."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` tells seconds from any moment on."""
        self._clock = clock
        self._started = clock()
        self._spent: dict[str, float] = {}

    @property
    def seconds(self) -> float:
        """Since it was made."""
        return round(self._clock() - self._started, 1)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """In the order in which they were first begun."""
        return tuple(Stage(name=name, seconds=round(spent, 2)) for name, spent in self._spent.items())

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self._spent.setdefault(name, 0.0)
        started = self._clock()
        try:
            yield
        finally:
            self._spent[name] += self._clock() - started
