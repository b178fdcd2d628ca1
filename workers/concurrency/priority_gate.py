"""Admission to a limited number of slots: by priority, then owner by owner in turn, then first come first served.

What a slot is and how many there are is decided by a `SlotSource`: a fixed number of places, a limit that adapts, or
servers with room for another document.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import Generic, Protocol, TypeVar

from workers.concurrency.fair_queue import FairQueue

__all__ = ["FixedSlots", "PriorityGate", "RisingPriority", "SlotSource"]

Slot = TypeVar("Slot")


class SlotSource(Protocol[Slot]):
    """Plain decisions, without waiting."""

    def acquire(self, avoid: Collection[Slot]) -> Slot | None:
        """A free slot, preferably none of `avoid`; None while there is none. What it raises refuses whoever is next."""
        ...

    def release(self, slot: Slot) -> None: ...

    def next_change(self) -> float | None:
        """Seconds until a slot may come free by itself; None when that takes a release."""
        ...


class RisingPriority(Protocol):
    """A priority that may become a better one while whoever has it waits."""

    @property
    def number(self) -> int: ...

    def watched(self, told: Callable[[], None]) -> AbstractContextManager[None]:
        """Calls `told` when the number has changed within."""
        ...


class FixedSlots:
    """So many slots, numbered."""

    def __init__(self, count: int) -> None:
        self._free = list(range(count))

    def acquire(self, avoid: Collection[int]) -> int | None:
        if not self._free:
            return None
        slot = next((one for one in self._free if one not in avoid), self._free[0])
        self._free.remove(slot)
        return slot

    def release(self, slot: int) -> None:
        self._free.append(slot)

    def next_change(self) -> float | None:
        return None


class _Waiter(Generic[Slot]):
    """Compared by identity."""

    def __init__(self, priority: int, owner: str, avoid: Collection[Slot]) -> None:
        self.priority = priority
        self.owner = owner
        self.avoid = avoid
        self.admitted: asyncio.Future[Slot] = asyncio.get_running_loop().create_future()


class PriorityGate(Generic[Slot]):
    """Belongs to one event loop. Whoever is next is never overtaken: while there is no slot for it, all others wait."""

    def __init__(self, slots: SlotSource[Slot]) -> None:
        self._slots = slots
        self._queues: dict[int, FairQueue[_Waiter[Slot]]] = {}
        """By priority; none is empty."""
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def __len__(self) -> int:
        """How many wait."""
        return sum(map(len, self._queues.values()))

    def waiting(self, priority: int) -> int:
        """How many wait with that priority."""
        queue = self._queues.get(priority)
        return len(queue) if queue is not None else 0

    @asynccontextmanager
    async def slot(
        self, priority: int | RisingPriority = 0, owner: str = "", avoid: Collection[Slot] = ()
    ) -> AsyncIterator[Slot]:
        slot = await self.acquire(priority, owner, avoid)
        try:
            yield slot
        finally:
            self.release(slot)

    async def acquire(self, priority: int | RisingPriority = 0, owner: str = "", avoid: Collection[Slot] = ()) -> Slot:
        """Waits for a slot; those of the lowest `priority` are next, of one that has risen meanwhile too."""
        waiter = _Waiter(priority if isinstance(priority, int) else priority.number, owner, avoid)
        self._push(waiter)
        self.admit()
        rising = nullcontext() if isinstance(priority, int) else priority.watched(lambda: self._move(waiter, priority))
        try:
            with rising:
                return await waiter.admitted
        except asyncio.CancelledError:
            self._leave(waiter)
            raise

    def release(self, slot: Slot) -> None:
        self._slots.release(slot)
        self.admit()

    def admit(self) -> None:
        """Hands out the slots that are free. To be called when some have come free otherwise than by `release`."""
        while self._queues:
            priority = min(self._queues)
            waiter = self._queues[priority].peek()
            assert waiter is not None, "an empty queue is dropped"  # noqa: S101 - for the type checker
            try:
                slot = self._slots.acquire(waiter.avoid)
            except Exception as error:  # noqa: BLE001 - it is told to whoever asked for the slot
                self._drop(waiter)
                waiter.admitted.set_exception(error)
                continue
            if slot is None:
                break
            self._queues[priority].pop()
            if not self._queues[priority]:
                del self._queues[priority]
            if waiter.admitted.done():  # cancelled, and not yet heard of it
                self._slots.release(slot)
            else:
                waiter.admitted.set_result(slot)
        self._set_timer()

    def close(self) -> None:
        """From now on slots come free by release alone, and not by time."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _push(self, waiter: _Waiter[Slot]) -> None:
        self._queues.setdefault(waiter.priority, FairQueue()).push(waiter)

    def _move(self, waiter: _Waiter[Slot], priority: RisingPriority) -> None:
        """To the end of the queue of its new priority, unless it has its slot by now."""
        if not waiter.admitted.done():
            self._drop(waiter)
            waiter.priority = priority.number
            self._push(waiter)
            self.admit()

    def _leave(self, waiter: _Waiter[Slot]) -> None:
        """Whoever was cancelled takes nobody's slot along, not even one that it was given just then."""
        self._drop(waiter)
        admitted = waiter.admitted
        if admitted.done() and not admitted.cancelled() and admitted.exception() is None:
            self._slots.release(admitted.result())
        self.admit()

    def _drop(self, waiter: _Waiter[Slot]) -> None:
        queue = self._queues.get(waiter.priority)
        if queue is not None:
            queue.discard(waiter)
            if not queue:
                del self._queues[waiter.priority]

    def _set_timer(self) -> None:
        seconds = self._slots.next_change() if self._queues and not self._closed else None
        if seconds is None:
            return
        loop = asyncio.get_running_loop()
        when = loop.time() + max(0.0, seconds)
        if self._timer is not None:
            if self._timer.when() <= when:
                return  # it looks again, and sets the next
            self._timer.cancel()
        self._timer = loop.call_at(when, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self.admit()
