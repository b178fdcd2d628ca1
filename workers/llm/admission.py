"""Admission of calls to an endpoint: urgent ones first, as many at once as this process may have in flight.

`OwnAdmission` decides for a process that shares its endpoint with no other; `workers.llm.shared_admission` for those
that do.
"""

from collections.abc import Callable, Collection, Hashable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Protocol

from assayer.run.context_variables import Urgency
from workers.concurrency.priority_gate import PriorityGate
from workers.llm.limiter import AdaptiveLimit

__all__ = ["OTHERS", "URGENT", "AdmittedCall", "CallAdmission", "CallPriority", "OwnAdmission"]

URGENT, OTHERS = 0, 1
"""Priorities at the gate."""


class CallPriority:
    """Implements `workers.concurrency.priority_gate.RisingPriority`."""

    def __init__(self, urgency: Urgency) -> None:
        self._urgency = urgency

    @property
    def number(self) -> int:
        return URGENT if self._urgency.urgent else OTHERS

    def watched(self, told: Callable[[], None]) -> AbstractContextManager[None]:
        return self._urgency.watched(told)


class AdmittedCall(Protocol):
    """One call in flight. It reports how it went, or nothing when that says nothing about how much the endpoint can
    take."""

    def answered(self, kind: Hashable, seconds: float, tokens: int) -> None:
        """`kind` groups calls that should take equally long; `tokens` read and written."""
        ...

    def turned_away(self, retry_after: float | None, tokens: int = 0) -> None:
        """The endpoint had no room for it. `retry_after` in seconds, None when it did not say; `tokens` that it may
        have read all the same."""
        ...


class CallAdmission(Protocol):
    """Belongs to one event loop; close it there."""

    @property
    def most(self) -> int:
        """Calls that this process may have in flight now."""
        ...

    def admitted(self, urgency: Urgency) -> AbstractAsyncContextManager[AdmittedCall]:
        """Waits for a place, and leaves it. What becomes urgent while it waits passes what is not."""
        ...

    async def aclose(self) -> None: ...


class OwnAdmission:
    """Implements `CallAdmission` by a limit that adapts to what comes of the calls."""

    def __init__(self, limit: AdaptiveLimit, monotonic: Callable[[], float]) -> None:
        self.slots = _AdaptiveSlots(limit, monotonic)
        self._gate = PriorityGate(self.slots)

    @property
    def most(self) -> int:
        return self.slots.limit.value

    @property
    def peak(self) -> int:
        """Most calls ever in flight at once."""
        return self.slots.peak

    def admitted(self, urgency: Urgency) -> "AbstractAsyncContextManager[_Call]":
        return self._gate.slot(CallPriority(urgency))

    async def aclose(self) -> None:
        self._gate.close()


class _Call:
    """Implements `AdmittedCall`."""

    def __init__(self, slots: "_AdaptiveSlots", epoch: int) -> None:
        self._slots = slots
        self._epoch = epoch

    def answered(self, kind: Hashable, seconds: float, tokens: int) -> None:
        slots = self._slots
        slots.limit.answered(self._epoch, slots.monotonic(), kind, seconds, slots.in_flight)

    def turned_away(self, retry_after: float | None, tokens: int = 0) -> None:
        slots = self._slots
        slots.limit.turned_away(self._epoch, slots.monotonic(), retry_after, slots.in_flight)


class _AdaptiveSlots:
    """As many slots as the limit allows now, and none while it pauses. Implements
    `workers.concurrency.priority_gate.SlotSource`."""

    def __init__(self, limit: AdaptiveLimit, monotonic: Callable[[], float]) -> None:
        self.limit = limit
        self.monotonic = monotonic
        self.in_flight = 0
        self.peak = 0

    def acquire(self, avoid: Collection[_Call] = ()) -> _Call | None:
        if self.next_change() is not None or self.in_flight >= self.limit.value:
            return None
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        return _Call(self, self.limit.epoch)

    def release(self, slot: _Call) -> None:
        self.in_flight -= 1

    def next_change(self) -> float | None:
        pause = self.limit.paused_until - self.monotonic()
        return pause if pause > 0 else None
