"""Admission of requests to an endpoint, urgent ones first. The limit on requests in flight grows while the endpoint
keeps up and shrinks when it does not.

`AdaptiveLimit` computes the limit from reported outcomes, without a clock or asyncio. It evaluates requests in rounds
of half the current limit. A round counts only requests sent since the limit last changed, so that one burst of refusals
changes the limit only once. Latencies are compared only with those of the same kind of request, because a long answer
takes long even when the endpoint is idle."""

import math
from collections.abc import AsyncIterator, Callable, Collection, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from assayer.run.context_variables import Urgency
from workers.llm.process_share import ProcessShare
from workers.outbound.priority_gate import Place, PriorityGate

MIN_OVERLOAD_SHARE = 0.15
"""Share of a round's requests turned away (429, 503, timeouts) at which the limit is halved. Retries absorb a smaller
share; if every refused request halved the limit, it would never grow."""
MIN_TURNED_AWAY = 4
"""Minimum number of requests turned away in one round for the limit to be halved."""
CALM_SHARE = 0.02
"""Share of requests turned away above which the initial doubling ends, if more than one request was turned away."""
SLOWER_LOG_RATIO, MUCH_SLOWER_LOG_RATIO = math.log(1.5), math.log(2.0)
"""Thresholds for the mean log ratio of latencies to their baselines. Above the first, the limit stops growing; above
the second, it shrinks."""
OVERLOAD_FACTOR, SLOW_FACTOR = 0.5, 0.75
MIN_ROUND_REQUESTS = 8
MIN_RATED = 8
"""Minimum number of latencies with a baseline in a round for slowness to affect the limit."""
BASELINE_REQUESTS = 16
"""Number of requests of one kind whose mean latency updates that kind's baseline."""
FORGET_SECONDS = 600.0
"""Time constant, in seconds, with which a baseline adapts to permanently longer latencies."""


@dataclass
class _Baseline:
    """Mean log latency of one kind of request when the endpoint is not overloaded."""

    value: float | None = None
    updated: float = 0.0
    _sum: float = 0.0
    _count: int = 0

    def add(self, log_seconds: float, now: float) -> None:
        self._sum += log_seconds
        self._count += 1
        if self._count < BASELINE_REQUESTS:
            return
        mean, self._sum, self._count = self._sum / BASELINE_REQUESTS, 0.0, 0
        if self.value is None:
            self.value = mean
        elif mean < self.value:
            self.value += (mean - self.value) / 2
        else:
            self.value += (mean - self.value) * -math.expm1(-(now - self.updated) / FORGET_SECONDS)
        self.updated = now


@dataclass
class _Round:
    """Outcomes of requests that were sent since the limit last changed."""

    requests: int = 0
    turned_away: int = 0
    rated_responses: int = 0
    log_ratios: float = 0.0
    peak: int = 0
    """Highest number of requests in flight."""

    @property
    def slowness(self) -> float:
        return self.log_ratios / self.rated_responses if self.rated_responses >= MIN_RATED else 0.0


@dataclass
class AdaptiveLimit:
    """Adaptive limit on requests in flight. Times are in seconds, from any one clock with positive values."""

    start: int = 32
    maximum: int = 512
    value: int = 0
    """Current limit; 0 means `start`."""
    epoch: int = 0
    """Counter that increases with every change of the limit. Each request records the epoch in which it was sent."""
    paused_until: float = 0.0
    _is_doubling: bool = True
    """Whether the limit still doubles each round, which it does until the first requests are turned away or slow."""
    _round: _Round = field(default_factory=_Round)
    _baselines: dict[Hashable, _Baseline] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.value = self.value or self.start

    def record_response(self, epoch: int, now: float, kind: Hashable, seconds: float, in_flight: int) -> None:
        """Record a response. `kind` groups requests that should take equally long; `in_flight` includes this one."""
        baseline = self._baselines.setdefault(kind, _Baseline())
        log_seconds = math.log(max(seconds, 1e-3))
        if epoch == self.epoch:
            current_round = self._round
            current_round.requests, current_round.peak = current_round.requests + 1, max(current_round.peak, in_flight)
            if baseline.value is not None:
                current_round.rated_responses, current_round.log_ratios = (
                    current_round.rated_responses + 1,
                    current_round.log_ratios + log_seconds - baseline.value,
                )
        baseline.add(log_seconds, now)
        if epoch == self.epoch:
            self._adjust()

    def record_turned_away(self, epoch: int, now: float, retry_after: float | None, in_flight: int) -> None:
        """Record a request refused for lack of capacity. `retry_after` is in seconds, None if the endpoint did not
        say."""
        if epoch != self.epoch:
            if now < self.paused_until:
                self._pause(now, retry_after)
            return
        current_round = self._round
        current_round.requests, current_round.turned_away = current_round.requests + 1, current_round.turned_away + 1
        current_round.peak = max(current_round.peak, in_flight)
        if current_round.turned_away >= MIN_TURNED_AWAY and current_round.turned_away >= MIN_OVERLOAD_SHARE * max(
            current_round.requests, self._compute_round_size()
        ):
            self._pause(now, retry_after)
            self._reduce(OVERLOAD_FACTOR)
        else:
            self._adjust()

    def _adjust(self) -> None:
        current_round = self._round
        if current_round.requests < self._compute_round_size():
            return
        if current_round.slowness > MUCH_SLOWER_LOG_RATIO:
            self._reduce(SLOW_FACTOR)
            return
        self._is_doubling = self._is_doubling and (
            current_round.turned_away <= 1 or current_round.turned_away <= CALM_SHARE * current_round.requests
        )
        if current_round.peak >= self.value and current_round.slowness < SLOWER_LOG_RATIO:
            step = self.value if self._is_doubling else max(1, self.start // 4)
            self._set_limit(min(self.maximum, self.value + step))
        else:
            self._round = _Round()

    def _reduce(self, factor: float) -> None:
        """Multiply the limit by `factor`. If the peak of requests in flight is lower than the limit, start from the
        peak, because reducing a limit far above it would have no effect."""
        self._is_doubling = False
        self._set_limit(max(1, math.floor(min(self.value, self._round.peak) * factor)))

    def _set_limit(self, limit: int) -> None:
        self.epoch += limit != self.value
        self.value = limit
        self._round = _Round()

    def _pause(self, now: float, retry_after: float | None) -> None:
        if retry_after is not None:
            self.paused_until = max(self.paused_until, now + retry_after)

    def _compute_round_size(self) -> int:
        return max(MIN_ROUND_REQUESTS, self.value // 2)


_FIRST_TOKENS = 4_000.0
"""Assumed tokens per request, until some have been counted."""
_LATEST_WEIGHT = 0.1
"""Weight of the latest request in the moving average of tokens per request."""
_MIN_WAIT_SECONDS = 0.001
_SAVED_SECONDS = 5.0
"""Maximum unused budget that accumulates, in seconds of the rate. Use in one minute can exceed the budget by this
much."""


@dataclass
class TokenBudget:
    """Budget for the tokens (prompt and completion) that requests may use per minute."""

    per_minute: float
    balance: float = 0.0
    updated: float | None = None
    mean_tokens: float = _FIRST_TOKENS

    def compute_wait(self, now: float, share: float) -> float:
        """Return the seconds until the next request may start; 0 if it may start now. `share` is the fraction of the
        budget that belongs to this process."""
        rate = self.per_minute * share / 60
        seconds = 0.0 if self.updated is None else now - self.updated
        self.balance = min(self.balance + rate * seconds, rate * _SAVED_SECONDS)
        self.updated = now
        return 0.0 if self.balance > 0 else -self.balance / rate + _MIN_WAIT_SECONDS

    def begin(self) -> float:
        """Deduct the mean tokens of earlier requests from the balance, and return that mean."""
        self.balance -= self.mean_tokens
        return self.mean_tokens

    def settle(self, spent: float, tokens: int, is_typical: bool) -> None:
        """Replace the deduction made by `begin` with the actual tokens. The mean is updated only if the request
        `is_typical`, that is, not refused."""
        self.balance += spent - tokens
        if is_typical:
            self.mean_tokens += _LATEST_WEIGHT * (tokens - self.mean_tokens)


_URGENT, _NOT_URGENT = 0, 1
"""Priorities at the gate."""


class AdmittedRequest:
    """Request in flight. Callers report its outcome if it is a response or a refusal for lack of capacity."""

    def __init__(self, admission: "Admission") -> None:
        self._admission = admission
        self._epoch = admission.limit.epoch
        self._tokens = admission.tokens.begin() if admission.tokens else 0.0

    def record_response(self, kind: Hashable, seconds: float, tokens: int) -> None:
        """Report a response. `kind` groups requests that should take equally long; `tokens` counts tokens read
        and written."""
        admission = self._admission
        admission.limit.record_response(self._epoch, admission.monotonic(), kind, seconds, admission.in_flight)
        if admission.tokens:
            admission.tokens.settle(self._tokens, tokens, is_typical=True)

    def record_turned_away(self, retry_after: float | None, tokens: int = 0) -> None:
        """Report a refusal for lack of capacity. `tokens` is nonzero if the endpoint read tokens nevertheless."""
        admission = self._admission
        admission.limit.record_turned_away(self._epoch, admission.monotonic(), retry_after, admission.in_flight)
        if admission.tokens:
            admission.tokens.settle(self._tokens, tokens, is_typical=False)


class Admission:
    """Grants slots for requests to one endpoint, within the limit and this process's share of it, and none during a
    pause. It is the `priority_gate.SlotSource` of its own gate. It belongs to one event loop, in which it must be
    closed."""

    def __init__(
        self,
        limit: AdaptiveLimit,
        monotonic: Callable[[], float],
        share: ProcessShare | None = None,
        tokens: TokenBudget | None = None,
    ) -> None:
        """Create an admission. Without a `share`, the limit is not shared with other processes."""
        self.limit, self.monotonic, self.tokens = limit, monotonic, tokens
        self.in_flight = self.peak = 0
        """Requests in flight now, and the highest number so far."""
        self._share = share
        self._has_started = False
        self._gate = PriorityGate(self)

    @property
    def max_in_flight(self) -> int:
        """Return the maximum number of requests that this process may have in flight now."""
        return self.limit.value if self._share is None else min(self.limit.value, self._share.value)

    @asynccontextmanager
    async def admit(self, urgency: Urgency) -> AsyncIterator[AdmittedRequest]:
        """Wait for a slot and hold it while the context is open. A request that becomes urgent while waiting moves
        ahead of those that are not."""
        if self._share is not None:
            self._share.request_share(
                lambda: self.in_flight, lambda: self._gate.has_waiting_callers, self._on_share_change
            )
        queue_place = Place[AdmittedRequest](_URGENT if urgency.urgent else _NOT_URGENT)
        with urgency.watch(lambda: queue_place.prioritise(_URGENT)):
            slot = await self._gate.acquire(queue_place)
        try:
            yield slot
        finally:
            self._gate.release(slot)

    def acquire(self, avoid: Collection[AdmittedRequest] = ()) -> AdmittedRequest | None:
        """Return a slot if one is free now, otherwise None. Called by the gate."""
        if self._share is not None:
            self._share.require()
        if self.in_flight >= self.max_in_flight or self.get_seconds_to_change() is not None:
            return None
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        return AdmittedRequest(self)

    def release(self, slot: AdmittedRequest) -> None:
        self.in_flight -= 1

    def get_seconds_to_change(self) -> float | None:
        now = self.monotonic()
        pause = self.limit.paused_until - now
        if self.tokens is not None:
            pause = max(pause, self.tokens.compute_wait(now, 1.0 if self._share is None else self._share.fraction))
        return pause if pause > 0 else None

    def _on_share_change(self) -> None:
        """Admit waiting requests within the new share. The first time, also scale the limit's start value by the
        share."""
        if not self._has_started and self._share is not None:
            self._has_started = True
            self.limit.start = self.limit.value = max(1, int(self.limit.start * self._share.fraction))
        self._gate.admit()

    async def aclose(self) -> None:
        self._gate.close()
        if self._share is not None:
            await self._share.aclose()
