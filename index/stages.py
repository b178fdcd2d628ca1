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
    """Notes stages as they end; one that fails is noted too."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` tells seconds from any moment on."""
        self.stages: list[Stage] = []
        self._clock = clock
        self._started = clock()

    @property
    def seconds(self) -> float:
        """Since it was made."""
        return round(self._clock() - self._started, 1)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = self._clock()
        try:
            yield
        finally:
            self.stages.append(Stage(name=name, seconds=round(self._clock() - started, 2)))
