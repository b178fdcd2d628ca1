"""System clock, in a module of its own because nearly everything needs it and most processes need no engine."""

import datetime as dt
import time


class SystemClock:
    """Implementation of assayer.ports.Clock."""

    def now(self) -> dt.datetime:
        return dt.datetime.now(dt.UTC)

    def monotonic(self) -> float:
        return time.monotonic()
