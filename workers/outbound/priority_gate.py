"""Admission to a limited number of slots: by priority, then round-robin among owners, then first come, first served.

A `SlotSource` determines the slots: for example, a fixed number, an adaptive limit, or servers with capacity for
another document."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Generic, Protocol, TypeVar

Slot = TypeVar("Slot")


class SlotSource(Protocol[Slot]):
    """Source of slots that answers immediately, without waiting."""

    def acquire(self, avoid: Collection[Slot]) -> Slot | None:
        """Return a free slot, preferably not one in `avoid`; None if no slot is free. If this raises an exception, the
        next caller in line receives it."""
        ...

    def release(self, slot: Slot) -> None: ...

    def get_seconds_to_change(self) -> float | None:
        """Return the seconds until a slot may become free without a release; None if only a release can free one."""
        ...


class FixedSlots:
    """Fixed number of numbered slots."""

    def __init__(self, count: int) -> None:
        self._free_slots = list(range(count))

    def acquire(self, avoid: Collection[int]) -> int | None:
        if not self._free_slots:
            return None
        slot = next((number for number in self._free_slots if number not in avoid), self._free_slots[0])
        self._free_slots.remove(slot)
        return slot

    def release(self, slot: int) -> None:
        self._free_slots.append(slot)

    def get_seconds_to_change(self) -> float | None:
        return None


class Place(Generic[Slot]):
    """A caller's place in the queue, compared by identity. Its priority and owners may change during the wait."""

    def __init__(self, priority: int = 0, owner: str = "", avoid: Collection[Slot] = ()) -> None:
        """Create a place in the queue. The lowest `priority` is served first."""
        self.priority = priority
        self.owners = [owner]
        self.avoid = avoid
        self._gate: PriorityGate[Slot] | None = None
        self._slot_future: asyncio.Future[Slot] | None = None

    def prioritise(self, priority: int) -> None:
        """Move to the end of the line for another priority, unless already admitted."""
        gate = self._leave_line()
        self.priority = priority
        if gate is not None:
            gate._enter_line(self)

    def add_owner(self, owner: str) -> None:
        """Also wait in another owner's line, and be admitted from whichever line moves faster."""
        if owner not in self.owners:
            self.owners.append(owner)
            if self._gate is not None:
                self._gate._enter_line(self)

    def _leave_line(self) -> "PriorityGate[Slot] | None":
        gate, self._gate = self._gate, None
        if gate is not None:
            gate._lines[self.priority].remove(self)
            if not gate._lines[self.priority]:
                del gate._lines[self.priority]
        return gate


class _Line(Generic[Slot]):
    """Waiting places with the same priority. Owners take turns; each owner's places are served first come, first
    served."""

    def __init__(self) -> None:
        self._owners: OrderedDict[str, dict[Place[Slot], None]] = OrderedDict()

    def __len__(self) -> int:
        return len({place for places in self._owners.values() for place in places})

    def __bool__(self) -> bool:
        return bool(self._owners)

    def add(self, place: Place[Slot]) -> None:
        for owner in place.owners:
            self._owners.setdefault(owner, {})[place] = None

    def remove(self, place: Place[Slot]) -> None:
        for owner in place.owners:
            places = self._owners.get(owner, {})
            places.pop(place, None)
            if not places:
                self._owners.pop(owner, None)

    def get_first(self) -> Place[Slot]:
        return next(iter(next(iter(self._owners.values()))))

    def rotate(self) -> None:
        """Move the first owner behind all others."""
        self._owners.move_to_end(next(iter(self._owners)))

    def count_ahead(self, owner: str) -> int:
        """Return how many places would be served before a new place for this owner."""
        owner_places = len(self._owners.get(owner, ()))
        return owner_places + sum(
            min(len(places), owner_places + 1) for name, places in self._owners.items() if name != owner
        )


class PriorityGate(Generic[Slot]):
    """Gate that admits callers strictly in order: while no slot is available for the next caller, all others wait. It
    belongs to one event loop."""

    def __init__(self, slots: SlotSource[Slot]) -> None:
        self._slots = slots
        self._lines: dict[int, _Line[Slot]] = {}
        """Non-empty queues, keyed by priority."""
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False

    def __len__(self) -> int:
        """Return the number of waiting callers."""
        return sum(map(len, self._lines.values()))

    @property
    def has_waiting_callers(self) -> bool:
        return bool(self._lines)

    def count_ahead(self, place: Place[Slot]) -> int:
        """Return how many of the waiting callers would be served before a new place like this one."""
        higher_priority_callers = sum(len(line) for priority, line in self._lines.items() if priority < place.priority)
        line = self._lines.get(place.priority)
        return higher_priority_callers + (min(map(line.count_ahead, place.owners)) if line else 0)

    @asynccontextmanager
    async def hold_slot(self, place: Place[Slot]) -> AsyncIterator[Slot]:
        slot = await self.acquire(place)
        try:
            yield slot
        finally:
            self.release(slot)

    async def acquire(self, place: Place[Slot]) -> Slot:
        """Wait for a slot. Each place can be used only once."""
        slot_future: asyncio.Future[Slot] = asyncio.get_running_loop().create_future()
        place._slot_future = slot_future
        self._enter_line(place)
        try:
            return await slot_future
        except asyncio.CancelledError:
            place._leave_line()
            if slot_future.done() and not slot_future.cancelled() and slot_future.exception() is None:
                self._slots.release(slot_future.result())
            self.admit()
            raise

    def release(self, slot: Slot) -> None:
        self._slots.release(slot)
        self.admit()

    def admit(self) -> None:
        """Admit callers to all free slots. Call this when slots become free other than through `release`."""
        while self._lines:
            line = self._lines[min(self._lines)]
            place = line.get_first()
            slot_future = place._slot_future
            assert slot_future is not None, "set before the place is added"  # noqa: S101 - for the type checker
            try:
                slot = self._slots.acquire(place.avoid)
            except Exception as error:  # noqa: BLE001 - passed on to the waiting caller
                place._leave_line()
                slot_future.set_exception(error)
                continue
            if slot is None:
                break
            line.rotate()
            place._leave_line()
            if slot_future.done():  # cancelled, but its task has not run yet
                self._slots.release(slot)
            else:
                slot_future.set_result(slot)
        self._set_timer()

    def close(self) -> None:
        """Stop the timer: from now on, callers are admitted only when a slot is released."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _enter_line(self, place: Place[Slot]) -> None:
        if place._slot_future is not None and not place._slot_future.done():
            place._gate = self
            self._lines.setdefault(place.priority, _Line()).add(place)
            self.admit()

    def _set_timer(self) -> None:
        seconds = self._slots.get_seconds_to_change() if self._lines and not self._is_closed else None
        if seconds is None:
            return
        loop = asyncio.get_running_loop()
        when = loop.time() + max(0.0, seconds)
        if self._timer is not None:
            if self._timer.when() <= when:
                return  # the earlier timer sets the next one
            self._timer.cancel()
        self._timer = loop.call_at(when, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self.admit()
