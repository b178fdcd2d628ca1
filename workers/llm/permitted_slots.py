"""The permits that one process has, and what came of the calls that it made with them."""

import math
from collections.abc import Callable, Collection, Hashable

from workers.llm.limiter import LEAST_TROUBLE, CallCounts, LatencyBaselines
from workers.llm.permit_book import PermitGrant, PermitReport

__all__ = ["PermittedCall", "PermittedSlots"]

_FIRST_TOKENS = 4_000.0
"""Of a call, until some have been counted."""
_LATEST_WEIGHT = 0.1
"""Of the latest call in the mean of their tokens."""
_SPARE_PART = 8
"""While an exchange is under way, one part of so many more calls may begin than are in flight or wait."""


class PermittedSlots:
    """Implements `workers.concurrency.priority_gate.SlotSource`: as many slots as the process has permits, none after
    their lease, in a pause, or without tokens."""

    def __init__(
        self,
        holder: str,
        lease_seconds: float,
        budgeted: bool,
        monotonic: Callable[[], float],
        trouble: Callable[[], None],
    ) -> None:
        """`trouble` is called when the endpoint turns calls away, as the others must hear of it."""
        self.monotonic = monotonic
        self.in_flight = 0
        self.permits = 0
        self.epoch = 0
        self.baselines = LatencyBaselines()
        self._holder, self._lease_seconds, self._trouble = holder, lease_seconds, trouble
        self._ceiling = 0
        """Of calls in flight: the permits, or less while an exchange is under way."""
        self._until = self._paused_until = -math.inf
        self._tokens = 0.0 if budgeted else math.inf
        self._tokens_a_call = _FIRST_TOKENS
        self._counts = CallCounts()
        self._peak = 0
        self._number = 0
        self._told: PermitReport | None = None
        """Until it is known to have been heard."""
        self.defect: Exception | None = None
        """Why no permits will come any more."""

    @property
    def full(self) -> bool:
        """Whether a call that comes now waits."""
        return self.in_flight >= self._ceiling or self._tokens <= 0 or self.monotonic() >= self._until

    def acquire(self, avoid: Collection["PermittedCall"] = ()) -> "PermittedCall | None":
        if self.defect is not None:
            raise self.defect
        if self.full or self.next_change() is not None:
            return None
        self.in_flight += 1
        self._peak = max(self._peak, self.in_flight)
        self._tokens -= self._tokens_a_call
        return PermittedCall(self, self.epoch, self._tokens_a_call)

    def release(self, slot: "PermittedCall") -> None:
        self.in_flight -= 1

    def next_change(self) -> float | None:
        pause = self._paused_until - self.monotonic()
        return pause if pause > 0 else None

    def spent(self, call: "PermittedCall", tokens: int) -> None:
        self._tokens += call.tokens - tokens
        self._tokens_a_call += _LATEST_WEIGHT * (tokens - self._tokens_a_call)

    def spent_unanswered(self, call: "PermittedCall", tokens: int) -> None:
        """Says nothing of what calls take that are answered."""
        self._tokens += call.tokens - tokens

    def count(self, epoch: int, counts: CallCounts) -> None:
        """Of an epoch that is over nothing counts any more."""
        if epoch != self.epoch:
            return
        self._counts.add(counts)
        if counts.turned_away and self._counts.turned_away % LEAST_TROUBLE == 0:
            self._trouble()

    def report(self, waiting: int, urgent: int, leaving: bool) -> PermitReport:
        """What is to be told now. What may have been heard is not told as something new."""
        demand = self.in_flight + waiting
        self._ceiling = max(self.in_flight, min(self.permits, demand + 1 + demand // _SPARE_PART))
        if leaving:
            self._ceiling = 0
        if self._told is None:
            self._number += 1
            self._told = PermitReport(
                holder=self._holder,
                number=self._number,
                kept=0,
                wanted=0,
                urgent=0,
                demand=max(self._peak, demand),
                epoch=self.epoch,
                counts=self._counts,
                tokens_left=self._tokens if math.isfinite(self._tokens) else 0.0,
                tokens_wanted=(waiting + 1) * self._tokens_a_call,
            )
            self._counts, self._peak = CallCounts(), 0
        self._told = self._told._replace(kept=self._ceiling, wanted=demand - urgent, urgent=urgent, leaving=leaving)
        return self._told

    def take(self, grant: PermitGrant, asked: float) -> None:
        """The answer to the last report, which was sent at `asked`."""
        if self._told is not None:
            self._tokens += grant.tokens - self._told.tokens_left
        self._told = None
        if grant.epoch != self.epoch:
            self.epoch, self._counts = grant.epoch, CallCounts()
        self.permits = self._ceiling = grant.permits
        self._until = asked + self._lease_seconds
        self._paused_until = self.monotonic() + grant.paused_for


class PermittedCall:
    """Implements `workers.llm.admission.AdmittedCall`."""

    def __init__(self, slots: PermittedSlots, epoch: int, tokens: float) -> None:
        self._slots = slots
        self._epoch = epoch
        self.tokens = tokens
        """For which it was admitted, before anybody can know."""

    def answered(self, kind: Hashable, seconds: float, tokens: int) -> None:
        slots = self._slots
        slots.spent(self, tokens)
        slots.count(self._epoch, CallCounts.answer(slots.baselines.compare(kind, seconds, slots.monotonic())))

    def turned_away(self, retry_after: float | None, tokens: int = 0) -> None:
        self._slots.spent_unanswered(self, tokens)
        self._slots.count(self._epoch, CallCounts.refusal(retry_after))
