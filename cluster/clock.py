"""System clock. It has its own module so that processes that need only the clock do not import the engine."""

import datetime as dt
import time


class SystemClock:
    """Implement `assayer.ports.Clock` with the clocks of the operating system."""

    def now(self) -> dt.datetime:
        return dt.datetime.now(dt.UTC)

    def monotonic(self) -> float:
        return time.monotonic()
