"""Counters of a simulated service since it started or was last reset."""

import time
from collections import Counter
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict


class Stats(BaseModel):
    """Times are of the service's own monotonic clock, stamped before anything else is done with a request."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    requests: int
    """All that arrived, refused ones included."""
    by_status: dict[str, int]
    """Answers sent whole."""
    by_operation: dict[str, int]
    """The twin's name for what was asked; `unknown` where it has no such path."""
    injected: dict[str, int]
    """Faults that had an effect: `rate_limited`, `server_error`, `dropped`, `malformed`, `down`."""
    over_limit: int
    """Requests that broke a limit, whether they were refused or not."""
    abandoned: int
    """Requests whose client went away before the answer."""
    peak_concurrency: int
    in_flight: int
    arrivals: tuple[float, ...]
    """Seconds, of every request in order."""
    least_spacing: float | None
    """Seconds between two arrivals of the same caller, whatever became of them; None below two."""
    repeated: int
    """Successful answers to a request (method, address, body) that had already had one: somebody asked twice."""


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
    _answered: set[bytes] = field(default_factory=set)
    _last: dict[str, float] = field(default_factory=dict)
    _began: float = field(default_factory=time.monotonic)

    def arrive(self, moment: float, caller: str) -> None:
        self.requests += 1
        self.arrivals.append(moment - self._began)
        last = self._last.get(caller)
        self._last[caller] = moment
        if last is not None and (self.least_spacing is None or moment - last < self.least_spacing):
            self.least_spacing = moment - last

    def enter(self) -> None:
        self.in_flight += 1
        self.peak_concurrency = max(self.peak_concurrency, self.in_flight)

    def leave(self) -> None:
        self.in_flight -= 1

    def answered(self, status: int, key: bytes) -> None:
        self.by_status[status] += 1
        if status == 200:
            self.repeated += key in self._answered
            self._answered.add(key)

    def stats(self) -> Stats:
        counted = {name: getattr(self, name) for name in Stats.model_fields}
        derived = {
            "by_status": {str(status): count for status, count in sorted(self.by_status.items())},
            "by_operation": dict(sorted(self.by_operation.items())),
            "injected": dict(sorted(self.injected.items())),
            "arrivals": tuple(round(moment, 6) for moment in self.arrivals),
        }
        return Stats.model_validate(counted | derived)
