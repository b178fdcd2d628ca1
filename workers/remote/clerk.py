"""Hands out one bucket's turns inside one process: a single voice towards the other processes, a fair line inside."""

import asyncio
import logging
import math
from collections.abc import Callable

from assayer.errors import AssayerError, SourceBusy, StorageError
from assayer.ports import Clock
from workers.remote.bucket import Granted, Later, News, Want
from workers.remote.flight import Flight, Seat
from workers.remote.line import Line
from workers.remote.turn import Turn
from workers.remote.turns import TurnKeeper

__all__ = ["Clerk"]

_LOG = logging.getLogger(__name__)
_PACE_MEMORY = 0.8
"""Weight of the past in the running mean of the seconds between two turns."""
_FAREWELL_SECONDS = 2.0
_LEAST_BETWEEN_SCANS = 0.1
"""Seconds between two looks at everybody's patience."""


class Clerk:
    """`run` must be running; then every flight that asks has a turn, or its seats are refused."""

    def __init__(self, keeper: TurnKeeper, source: str, claimant: str, new_ticket: Callable[[], str]) -> None:
        self._keeper = keeper
        self._clock: Clock = keeper.clock
        self._source = source
        self._claimant = claimant
        self._new_ticket = new_ticket
        self._line: Line[Seat] = Line()
        self._calls: dict[Flight, asyncio.Future[Turn]] = {}
        self._news: list[News] = []
        self._wake = asyncio.Event()
        self._ticket = new_ticket()
        """Of the turn that is asked for."""
        self._unused: Turn | None = None
        """Granted, and neither sent nor given back."""
        self._asking = False
        """Whether it may have been granted without our knowing."""
        self._queued = False
        """Whether the other processes expect us to ask again."""
        self._verdict = Later(0.0, 0.0, "limit")
        self._heard_at = self._clock.monotonic()
        self._pace = keeper.limits.spacing
        self._granted_at: float | None = None
        """When the last turn came, if there has been somebody in the line ever since."""
        self._earliest = math.inf
        """No deadline in the line is before."""
        self._scan_at = -math.inf

    async def turn(self, flight: Flight, again: bool) -> Turn:
        """Waits for it, and must be cancelled when the flight has no seats left. `again`: it had a turn before."""
        call: asyncio.Future[Turn] = asyncio.get_running_loop().create_future()
        self._calls[flight] = call
        try:
            for seat in flight:
                self.sit(seat, again)
            return await call
        except asyncio.CancelledError:
            if call.done() and not call.cancelled():
                call.result().done()
            raise
        finally:
            del self._calls[flight]
            for seat in flight:
                self._line.leave(seat)

    def sit(self, seat: Seat, again: bool = False) -> None:
        """Puts the seat into the line if its flight wants a turn; refuses it when its patience will not do."""
        if seat.flight not in self._calls:
            return
        now = self._clock.monotonic()
        seat.deadline = now + seat.patience
        away = max(0.0, self._opens_at - now) + (0 if again else self._line.ahead(seat.asker)) * self._pace
        if away > seat.patience:
            seat.refuse(self._busy(away, seat.patience))
            return
        self._line.join(seat, first=again)
        self._earliest = min(self._earliest, seat.deadline)
        self._wake.set()

    def rise(self, seat: Seat) -> None:
        self._line.leave(seat)
        self._wake.set()

    def refuse_all(self, error: AssayerError) -> None:
        """Everybody in the line."""
        for seat in tuple(self._line):
            self._line.leave(seat)
            seat.refuse(error)

    async def run(self) -> None:
        while True:
            await self._idle()
            self._wake.clear()
            now = self._clock.monotonic()
            self._refuse_impatient(now)
            want = self._want(now)
            news, self._news = self._news, []
            if not news and want is None:
                continue
            self._asking = want is not None
            try:
                verdict = await self._keeper.exchange(news, want)
            except BaseException as error:
                self._news = [*news, *self._news]  # they may or may not have been heard
                if not isinstance(error, StorageError):
                    raise
                self.refuse_all(error)
                continue
            self._asking = False
            if isinstance(verdict, Granted):
                self._hand_over(now, want.price if want else 0)
            elif verdict is not None:
                self._queued, self._verdict, self._heard_at = True, verdict, self._clock.monotonic()
                self._refuse_impatient(self._heard_at)

    async def farewell(self) -> None:
        """The last news, once `run` has ended. What does not get through expires."""
        news = self._news
        if self._asking:
            news = [*news, News("unused", self._ticket, 0.0)]  # it may have been granted
        if self._asking or self._queued:
            news = [*news, News("left", self._claimant, 0.0)]
        if not news:
            return
        try:
            async with asyncio.timeout(_FAREWELL_SECONDS):
                await self._keeper.exchange(news, None)
        except (TimeoutError, StorageError) as error:
            _LOG.warning("the last news of turns at %s did not get through: %s", self._source, error)

    @property
    def _opens_at(self) -> float:
        return self._heard_at + self._verdict.opening

    async def _idle(self) -> None:
        """Until something happens, the bucket is worth asking again, or somebody's patience ends."""
        until = math.inf
        if self._line:
            until = max(self._earliest, self._scan_at)
            if self._unused is None:
                until = min(until, self._heard_at + self._verdict.seconds)
        pause = None if until == math.inf else max(0.0, until - self._clock.monotonic())
        try:
            async with asyncio.timeout(pause):
                await self._wake.wait()
        except TimeoutError:
            return

    def _want(self, now: float) -> Want | None:
        first = self._line.first()
        if first is None:
            self._granted_at = None
            if self._queued:
                self._queued = False
                self._news.append(News("left", self._claimant, now))
            return None
        due = now >= self._heard_at + self._verdict.seconds
        if self._unused is not None or not (due or self._news):
            return None
        return Want(self._claimant, self._ticket, first.flight.price)

    def _hand_over(self, asked_at: float, price: int) -> None:
        now = self._clock.monotonic()
        until = asked_at + self._keeper.limits.send_within
        turn = Turn(self._ticket, until, self._clock, self._tell)
        self._ticket, self._queued, self._unused = self._new_ticket(), False, turn
        self._verdict, self._heard_at = Later(0.0, 0.0, "limit"), now
        flight = self._next(price)
        if flight is None:
            turn.done()
            return
        self._calls[flight].set_result(turn)
        if self._granted_at is not None:
            self._pace = _PACE_MEMORY * self._pace + (1 - _PACE_MEMORY) * (now - self._granted_at)
        self._granted_at = now if self._line else None

    def _next(self, price: int) -> Flight | None:
        """Takes the next one out of the line. None if it has become empty meanwhile, or the next one takes more of the
        day's budget than was asked for."""
        while (seat := self._line.first()) is not None:
            flight = seat.flight
            wanting = not self._calls[flight].done()
            if wanting and flight.price > price:
                return None
            self._line.serve()
            for other in flight:
                self._line.leave(other)
            if wanting:
                return flight
        return None

    def _tell(self, turn: Turn, news: News) -> None:
        if turn is self._unused and news.kind in {"sent", "unused"}:
            self._unused = None
        self._news.append(news)
        self._wake.set()

    def _refuse_impatient(self, now: float) -> None:
        """Those who will have no turn before their deadline."""
        horizon = max(now, self._opens_at)
        if self._earliest > horizon or now < self._scan_at:
            return
        self._scan_at = now + _LEAST_BETWEEN_SCANS
        self._earliest = math.inf
        for seat in tuple(self._line):
            if seat.deadline <= horizon:
                self._line.leave(seat)
                seat.refuse(self._busy(self._opens_at - now, seat.patience))
            else:
                self._earliest = min(self._earliest, seat.deadline)

    def _busy(self, away: float, patience: float) -> SourceBusy:
        if self._verdict.reason == "budget":
            return SourceBusy(
                f"Today's budget of requests to {self._source} is spent.", "It begins anew at midnight UTC."
            )
        if self._verdict.reason == "pushed_back" and away > 0:
            return SourceBusy(f"{self._source} asked to be left alone for another {away:.0f} s.", "Try again later.")
        turn = f"the next turn is {away:.0f} s away" if away > patience else "no turn came"
        return SourceBusy(
            f"{self._source} is busy: {turn}, and this evaluation waits {patience:.0f} s.",
            "Evaluate fewer ideas at once, or give them more time.",
        )
