"""The machine's own clock, without the weight of the composition root."""

import datetime as dt
import time

__all__ = ["SystemClock"]


class SystemClock:
    def now(self) -> dt.datetime:
        return dt.datetime.now(dt.UTC)

    def monotonic(self) -> float:
        return time.monotonic()
