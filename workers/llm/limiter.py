"""How many calls may be in flight: grows while the endpoint keeps up, backs off when it does not.

`AdaptiveLimit` decides (events in, limit out; no clock, no asyncio); `AdaptiveSlots` are what a `PriorityGate` hands
out by it. The limit is judged in
rounds of half its size. A round counts only calls that were sent since the limit last changed, so that one
burst of trouble is answered once. Latencies are compared with calls of the same kind only, so that calls
whose answers are merely long say nothing about the endpoint's health.
"""

import math
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field

__all__ = ["AdaptiveLimit", "AdaptiveSlots", "AdmittedCall"]

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


@dataclass
class _Round:
    size: int
    calls: int = 0
    turned_away: int = 0
    peak: int = 0
    """Most calls in flight."""
    rated: int = 0
    log_ratios: float = 0.0

    @property
    def share(self) -> float:
        return self.turned_away / max(self.calls, 1)

    @property
    def slowness(self) -> float:
        return self.log_ratios / self.rated if self.rated >= LEAST_RATED else 0.0


@dataclass
class AdaptiveLimit:
    """Times are seconds of any monotonic clock."""

    start: int = 32
    maximum: int = 512
    value: int = field(init=False)
    epoch: int = field(default=0, init=False)
    """Grows with every change of the limit; a call carries the epoch it was sent in."""
    paused_until: float = field(default=-math.inf, init=False)
    quick: bool = field(default=True, init=False)
    """Doubling, until the first trouble."""
    _round: _Round = field(init=False)
    _baselines: dict[Hashable, _Baseline] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.value = self.start
        self._round = _Round(self._round_size())

    def answered(self, epoch: int, now: float, kind: Hashable, seconds: float, in_flight: int) -> None:
        """A call came back. `kind` groups calls that should take equally long; `in_flight` includes it."""
        baseline = self._baselines.setdefault(kind, _Baseline())
        log_seconds = math.log(max(seconds, 1e-3))
        if epoch == self.epoch:
            if baseline.value is not None:
                self._round.rated += 1
                self._round.log_ratios += log_seconds - baseline.value
            self._count(in_flight)
        baseline.add(log_seconds, now)
        self._judge()

    def turned_away(self, epoch: int, now: float, retry_after: float | None, in_flight: int) -> None:
        """The endpoint had no room for a call. `retry_after` is in seconds, None when it did not say."""
        if epoch != self.epoch:
            if now < self.paused_until:
                self._pause(now, retry_after)
            return
        self._round.turned_away += 1
        self._count(in_flight)
        if self._in_trouble():
            self._pause(now, retry_after)
            self._back_off(OVERLOAD_FACTOR)
        else:
            self._judge()

    def _count(self, in_flight: int) -> None:
        self._round.calls += 1
        self._round.peak = max(self._round.peak, in_flight)

    def _in_trouble(self) -> bool:
        away = self._round.turned_away
        return away >= LEAST_TROUBLE and away >= TROUBLE_SHARE * max(self._round.calls, self._round.size)

    def _judge(self) -> None:
        this = self._round
        if this.calls < this.size:
            return
        if this.slowness > MUCH_SLOWER:
            self._back_off(SLOW_FACTOR)
            return
        self.quick = self.quick and (this.turned_away <= 1 or this.share <= CALM_SHARE)
        if this.peak >= self.value and this.slowness < SLOWER:
            step = self.value if self.quick else max(1, self.start // 4)
            self._change(min(self.maximum, self.value + step))
        else:
            self._round = _Round(self._round_size())

    def _back_off(self, factor: float) -> None:
        """From what was really in flight: a limit far above it would take many cuts to bite."""
        self.quick = False
        self._change(max(1, math.floor(min(self.value, self._round.peak) * factor)))

    def _change(self, limit: int) -> None:
        self.epoch += limit != self.value
        self.value = limit
        self._round = _Round(self._round_size())

    def _pause(self, now: float, retry_after: float | None) -> None:
        if retry_after is not None:
            self.paused_until = max(self.paused_until, now + retry_after)

    def _round_size(self) -> int:
        return max(SMALLEST_ROUND, self.value // 2)


class AdmittedCall:
    """One call in flight. It reports how it went, or nothing when that says nothing about how much the endpoint can
    take."""

    def __init__(self, slots: "AdaptiveSlots", epoch: int) -> None:
        self._slots = slots
        self._epoch = epoch

    def answered(self, kind: Hashable, seconds: float) -> None:
        slots = self._slots
        slots.limit.answered(self._epoch, slots.monotonic(), kind, seconds, slots.in_flight)

    def turned_away(self, retry_after: float | None) -> None:
        slots = self._slots
        slots.limit.turned_away(self._epoch, slots.monotonic(), retry_after, slots.in_flight)


class AdaptiveSlots:
    """As many slots as the limit allows now, and none while it pauses. Implements
    `workers.concurrency.priority_gate.SlotSource`."""

    def __init__(self, limit: AdaptiveLimit, monotonic: Callable[[], float]) -> None:
        self.limit = limit
        self.monotonic = monotonic
        self.in_flight = 0
        self.peak = 0
        """Most calls ever in flight at once."""

    def acquire(self, avoid: Collection[AdmittedCall] = ()) -> AdmittedCall | None:
        if self.next_change() is not None or self.in_flight >= self.limit.value:
            return None
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        return AdmittedCall(self, self.limit.epoch)

    def release(self, slot: AdmittedCall) -> None:
        self.in_flight -= 1

    def next_change(self) -> float | None:
        pause = self.limit.paused_until - self.monotonic()
        return pause if pause > 0 else None
