"""How many calls may be in flight: grows while the endpoint keeps up, backs off when it does not.

`CallLimit` decides (counts in, limit out; no clock, no asyncio) and may be shared by processes: its fields are plain.
`AdaptiveLimit` is that of one process alone, event by event. The limit is judged in rounds of half its size. A round
counts only calls that were sent since the limit last changed, so that one burst of trouble is answered once. Latencies
are compared with calls of the same kind only, so that calls whose answers are merely long say nothing about the
endpoint's health.
"""

import math
from collections.abc import Hashable
from dataclasses import dataclass, field

__all__ = ["AdaptiveLimit", "CallCounts", "CallLimit", "LatencyBaselines"]

TROUBLE_SHARE = 0.15
"""Of a round's calls turned away (429, 503, timeouts): above it the limit is halved. Below, they are noise
that the calls' own retries absorb; a limit that halved for each would never leave the ground."""
LEAST_TROUBLE = 4
"""Calls turned away in one round before it can be trouble."""
CALM_SHARE = 0.02
"""Above it, and more than one call, the quick start is over."""
SLOWER, MUCH_SLOWER = math.log(1.5), math.log(2.0)
"""Mean log ratio of latencies to their baselines: above the first growth stops, above the second the limit
shrinks."""
OVERLOAD_FACTOR, SLOW_FACTOR = 0.5, 0.75
SMALLEST_ROUND = 8
LEAST_RATED = 8
"""Latencies with a baseline that a round needs before they count."""
BLOCK = 16
"""Calls of one kind that give one estimate of its latency."""
FORGET_SECONDS = 600.0
"""Time constant with which a baseline follows latencies that have become longer for good."""


@dataclass
class _Baseline:
    """Mean log latency of one kind of call on an endpoint that keeps up."""

    value: float | None = None
    updated: float = 0.0
    _sum: float = 0.0
    _count: int = 0

    def add(self, log_seconds: float, now: float) -> None:
        self._sum += log_seconds
        self._count += 1
        if self._count < BLOCK:
            return
        mean, self._sum, self._count = self._sum / BLOCK, 0.0, 0
        if self.value is None:
            self.value = mean
        elif mean < self.value:
            self.value += (mean - self.value) / 2
        else:
            self.value += (mean - self.value) * -math.expm1(-(now - self.updated) / FORGET_SECONDS)
        self.updated = now


class LatencyBaselines:
    """What calls of each kind take on an endpoint that keeps up."""

    def __init__(self) -> None:
        self._of: dict[Hashable, _Baseline] = {}

    def compare(self, kind: Hashable, seconds: float, now: float) -> float | None:
        """The logarithm of how many times as long as usual the call took; None while nobody knows what is usual."""
        baseline = self._of.setdefault(kind, _Baseline())
        log_seconds = math.log(max(seconds, 1e-3))
        ratio = None if baseline.value is None else log_seconds - baseline.value
        baseline.add(log_seconds, now)
        return ratio


@dataclass
class CallCounts:
    """What came of calls that were sent under one limit."""

    calls: int = 0
    turned_away: int = 0
    retry_after: float | None = None
    """The longest that the endpoint asked to wait, in seconds."""
    rated: int = 0
    """Calls whose latency could be compared."""
    log_ratios: float = 0.0
    """The sum of how they compared."""

    @classmethod
    def answer(cls, log_ratio: float | None) -> "CallCounts":
        return cls(1) if log_ratio is None else cls(1, rated=1, log_ratios=log_ratio)

    @classmethod
    def refusal(cls, retry_after: float | None) -> "CallCounts":
        return cls(1, 1, retry_after)

    def add(self, other: "CallCounts") -> None:
        self.calls += other.calls
        self.turned_away += other.turned_away
        self.rated += other.rated
        self.log_ratios += other.log_ratios
        if other.retry_after is not None:
            self.retry_after = max(self.retry_after or 0.0, other.retry_after)

    @property
    def share(self) -> float:
        return self.turned_away / max(self.calls, 1)

    @property
    def slowness(self) -> float:
        return self.log_ratios / self.rated if self.rated >= LEAST_RATED else 0.0


@dataclass
class CallLimit:
    """Times are seconds of any one clock that is past zero. Its fields are stored where it is shared: they
    may be added to, not renamed."""

    start: int = 32
    maximum: int = 512
    value: int = 0
    """0: `start`."""
    epoch: int = 0
    """Grows with every change of the limit; a call carries the epoch it was sent in."""
    paused_until: float = 0.0
    quick: bool = True
    """Doubling, until the first trouble."""
    round: CallCounts = field(default_factory=CallCounts)
    peak: int = 0
    """Of the round: most calls that wanted to be in flight at once."""

    def __post_init__(self) -> None:
        self.value = self.value or self.start

    def absorb(self, epoch: int, now: float, counts: CallCounts, peak: int) -> None:
        """What came of calls that were sent in one epoch. `peak` is how many were in flight with them, and in the round
        of a limit that is shared those that waited, too."""
        if epoch != self.epoch:
            if counts.turned_away and now < self.paused_until:
                self._pause(now, counts.retry_after)
            return
        self.round.add(counts)
        self.peak = max(self.peak, peak)
        if counts.turned_away and self._in_trouble():
            self._pause(now, counts.retry_after)
            self._back_off(OVERLOAD_FACTOR)
        else:
            self._judge()

    def bound(self, maximum: int) -> None:
        """A new maximum, by which a limit above it falls."""
        self.maximum = maximum
        if self.value > maximum:
            self._change(maximum)

    def _in_trouble(self) -> bool:
        away = self.round.turned_away
        return away >= LEAST_TROUBLE and away >= TROUBLE_SHARE * max(self.round.calls, self._round_size())

    def _judge(self) -> None:
        this = self.round
        if this.calls < self._round_size():
            return
        if this.slowness > MUCH_SLOWER:
            self._back_off(SLOW_FACTOR)
            return
        self.quick = self.quick and (this.turned_away <= 1 or this.share <= CALM_SHARE)
        if self.peak >= self.value and this.slowness < SLOWER:
            step = self.value if self.quick else max(1, self.start // 4)
            self._change(min(self.maximum, self.value + step))
        else:
            self._begin_round()

    def _back_off(self, factor: float) -> None:
        """From what was really in flight: a limit far above it would take many cuts to bite."""
        self.quick = False
        self._change(max(1, math.floor(min(self.value, self.peak) * factor)))

    def _change(self, limit: int) -> None:
        self.epoch += limit != self.value
        self.value = limit
        self._begin_round()

    def _begin_round(self) -> None:
        self.round, self.peak = CallCounts(), 0

    def _pause(self, now: float, retry_after: float | None) -> None:
        if retry_after is not None:
            self.paused_until = max(self.paused_until, now + retry_after)

    def _round_size(self) -> int:
        return max(SMALLEST_ROUND, self.value // 2)


@dataclass
class AdaptiveLimit(CallLimit):
    """The limit of one process alone, told of one call after the other."""

    baselines: LatencyBaselines = field(default_factory=LatencyBaselines)

    def answered(self, epoch: int, now: float, kind: Hashable, seconds: float, in_flight: int) -> None:
        """A call came back. `kind` groups calls that should take equally long; `in_flight` includes it."""
        self.absorb(epoch, now, CallCounts.answer(self.baselines.compare(kind, seconds, now)), in_flight)

    def turned_away(self, epoch: int, now: float, retry_after: float | None, in_flight: int) -> None:
        """The endpoint had no room for a call. `retry_after` is in seconds, None when it did not say."""
        self.absorb(epoch, now, CallCounts.refusal(retry_after), in_flight)
