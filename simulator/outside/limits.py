"""Rate limits of a service for each caller, by the service's clock."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from simulator.outside.knobs import Knobs

_DAY = 86_400.0


class Refusal(NamedTuple):
    """Refusal of a request that exceeds a limit."""

    wait: float
    """Seconds after which the request would be accepted."""


@dataclass
class Allowance:
    """Use of the limits by one caller. Refused requests do not count."""

    due: float = -math.inf
    """Time at which the next request is due at the steady rate (generic cell rate algorithm)."""
    spent: int = 0
    in_flight: int = 0

    def take(self, knobs: Knobs, now: float, cost: int) -> Refusal | None:
        refusal = self._find_refusal(knobs, now, cost)
        if refusal is None:
            self.spent += cost
            if knobs.per_second is not None:
                self.due = max(now, self.due) + 1 / knobs.per_second
        return refusal

    def _find_refusal(self, knobs: Knobs, now: float, cost: int) -> Refusal | None:
        if knobs.per_day is not None and self.spent + cost > knobs.per_day:
            return Refusal(_DAY)
        if knobs.concurrent is not None and self.in_flight >= knobs.concurrent:
            return Refusal(1.0)
        if knobs.per_second is not None:
            seconds_early = self.due - (knobs.burst - 1) / knobs.per_second - now
            if seconds_early > 0:
                return Refusal(seconds_early)
        return None
