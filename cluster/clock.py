"""The machine's clock, apart from the engine, which most processes of the service do without."""

import datetime as dt
import time

__all__ = ["SystemClock"]


class SystemClock:
    """Implements assayer.ports.Clock."""

    def now(self) -> dt.datetime:
        return dt.datetime.now(dt.UTC)

    def monotonic(self) -> float:
        return time.monotonic()
