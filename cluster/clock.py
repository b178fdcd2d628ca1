"""System clock, in its own module so that processes that need only the clock do not import the engine."""

import datetime as dt
import time


class SystemClock:
    """Implementation of `assayer.ports.Clock` by the operating system's clocks."""

    def now(self) -> dt.datetime:
        return dt.datetime.now(dt.UTC)

    def monotonic(self) -> float:
        return time.monotonic()
