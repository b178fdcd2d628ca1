"""Counters of a simulated service since it started or was last reset."""

import time
from collections import Counter
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict


class Stats(BaseModel):
    """Counters as returned by the control endpoint. Times are from the server's monotonic clock, recorded before a
    request is processed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    requests: int
    """Number of requests received, including refused ones."""
    by_status: dict[str, int]
    """Number of completely sent responses by status."""
    by_operation: dict[str, int]
    """Number of requests by the service's name of the operation; `unknown` for paths that it does not have."""
    injected: dict[str, int]
    """Number of injected faults by kind: `rate_limited`, `server_error`, `dropped`, `malformed`, `down`."""
    over_limit: int
    """Number of requests that exceeded a limit, whether they were refused or not."""
    abandoned: int
    """Number of requests whose client disconnected before the response."""
    peak_concurrency: int
    in_flight: int
    arrivals: tuple[float, ...]
    """Arrival times of all requests in seconds, in order."""
    least_spacing: float | None
    """Shortest time in seconds between two requests of the same caller, whatever their outcome; None for fewer than
    two."""
    repeated: int
    """Number of successful responses to requests (method, address, body) that had already been answered
    successfully."""


@dataclass
class Counters:
    requests: int = 0
    over_limit: int = 0
    abandoned: int = 0
    repeated: int = 0
    in_flight: int = 0
    peak_concurrency: int = 0
    least_spacing: float | None = None
    by_status: Counter[int] = field(default_factory=Counter)
    by_operation: Counter[str] = field(default_factory=Counter)
    injected: Counter[str] = field(default_factory=Counter)
    arrivals: list[float] = field(default_factory=list)
    _answered_keys: set[bytes] = field(default_factory=set)
    _last_arrivals: dict[str, float] = field(default_factory=dict)
    _began: float = field(default_factory=time.monotonic)

    def arrive(self, moment: float, caller: str) -> None:
        self.requests += 1
        self.arrivals.append(moment - self._began)
        last = self._last_arrivals.get(caller)
        self._last_arrivals[caller] = moment
        if last is not None and (self.least_spacing is None or moment - last < self.least_spacing):
            self.least_spacing = moment - last

    def enter(self) -> None:
        self.in_flight += 1
        self.peak_concurrency = max(self.peak_concurrency, self.in_flight)

    def leave(self) -> None:
        self.in_flight -= 1

    def count_response(self, status: int, key: bytes) -> None:
        self.by_status[status] += 1
        if status == 200:
            self.repeated += key in self._answered_keys
            self._answered_keys.add(key)

    def build_stats(self) -> Stats:
        counter_values = {name: getattr(self, name) for name in Stats.model_fields}
        derived_values = {
            "by_status": {str(status): count for status, count in sorted(self.by_status.items())},
            "by_operation": dict(sorted(self.by_operation.items())),
            "injected": dict(sorted(self.injected.items())),
            "arrivals": tuple(round(moment, 6) for moment in self.arrivals),
        }
        return Stats.model_validate(counter_values | derived_values)
