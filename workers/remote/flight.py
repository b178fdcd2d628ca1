"""One request in the making, and everybody who waits for its answer."""

import asyncio
import copy
from collections.abc import Callable, Iterator

from assayer.errors import AssayerError
from workers.remote.call import Ask, Call, Reply

__all__ = ["Flight", "Seat"]


class Seat:
    """One asker's wait for one answer. Compared by identity."""

    def __init__(self, flight: "Flight", ask: Ask, since: float) -> None:
        self.flight = flight
        self.asker = ask.asker
        self.patience = ask.patience
        self.since = since
        self.deadline = since + ask.patience
        """Until when a turn must have come."""
        self.answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

    def refuse(self, error: AssayerError) -> None:
        """Ends this wait; the others' go on."""
        if not self.answer.done():
            self.answer.set_exception(copy.copy(error))  # of its own: askers add their tracebacks
        self.flight.leave(self)


class Flight:
    """Lives while somebody waits for it; `abandon` is called when nobody does any more."""

    def __init__(self, key: str, call: Call, price: int, abandon: Callable[[], object]) -> None:
        self.key = key
        self.call = call
        self.price = price
        self._abandon = abandon
        self._seats: dict[Seat, None] = {}

    def __iter__(self) -> Iterator[Seat]:
        """Seats in the order in which they were taken."""
        return iter(tuple(self._seats))

    def board(self, ask: Ask, now: float) -> Seat:
        seat = Seat(self, ask, now)
        self._seats[seat] = None
        return seat

    def leave(self, seat: Seat) -> None:
        if self._seats.pop(seat, seat) is None and not self._seats:
            self._abandon()

    def deliver(self, reply: Reply) -> None:
        """The first seat has the reply as it came, the others have it from the first."""
        for seat in self:
            if not seat.answer.done():
                seat.answer.set_result(reply)
                reply = reply._replace(cached=True)
        self._seats.clear()

    def fail(self, error: AssayerError) -> None:
        for seat in self:
            if not seat.answer.done():
                seat.answer.set_exception(copy.copy(error))
        self._seats.clear()
