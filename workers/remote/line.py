"""A fair queue: askers go round, and each asker's own seats are served first come first served."""

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from typing import Generic, Protocol, TypeVar

__all__ = ["Line", "Waiting"]


class Waiting(Hashable, Protocol):
    @property
    def asker(self) -> str: ...


W = TypeVar("W", bound=Waiting)


class Line(Generic[W]):
    """All operations take constant time, but for `ahead`, which grows with the asker's own seats."""

    def __init__(self) -> None:
        self._askers: OrderedDict[str, OrderedDict[W, None]] = OrderedDict()
        self._length = 0
        self._with_seats: list[int] = [0]
        """At n: askers with at least n seats."""

    def __len__(self) -> int:
        return self._length

    def __contains__(self, seat: W) -> bool:
        return seat in self._askers.get(seat.asker, ())

    def __iter__(self) -> Iterator[W]:
        for seats in self._askers.values():
            yield from seats

    def join(self, seat: W, first: bool = False) -> None:
        """`first` of its asker's own seats: for one that had its turn already and needs another."""
        seats = self._askers.setdefault(seat.asker, OrderedDict())
        if seat in seats:
            return
        seats[seat] = None
        if first:
            seats.move_to_end(seat, last=False)
        self._length += 1
        if len(seats) == len(self._with_seats):
            self._with_seats.append(0)
        self._with_seats[len(seats)] += 1

    def leave(self, seat: W) -> None:
        """Does nothing for a seat that is not in the line."""
        seats = self._askers.get(seat.asker)
        if seats is None or seat not in seats:
            return
        self._with_seats[len(seats)] -= 1
        self._length -= 1
        del seats[seat]
        if not seats:
            del self._askers[seat.asker]

    def first(self) -> W | None:
        """Who is next; stays in the line."""
        for seats in self._askers.values():
            return next(iter(seats))
        return None

    def serve(self) -> W | None:
        """Takes out who is next; that asker's other seats wait until all other askers had their turn."""
        seat = self.first()
        if seat is not None:
            self.leave(seat)
            if seat.asker in self._askers:
                self._askers.move_to_end(seat.asker)
        return seat

    def ahead(self, asker: str) -> int:
        """Seats that will be served before one that the asker would add now."""
        own = len(self._askers.get(asker, ()))
        return sum(self._with_seats[1 : own + 2])
