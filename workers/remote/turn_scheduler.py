"""Schedules one source's permits inside one process: one claimant towards the other processes, a fair queue inside."""

import asyncio
import logging
import math
from collections.abc import Callable

from assayer.errors import AssayerError, SourceBusy, StorageError, said_by
from assayer.ports import Clock
from workers.concurrency.fair_queue import FairQueue
from workers.concurrency.single_flight import InFlight
from workers.remote.rate_limit import SharedRateLimit, TurnDeferred, TurnEvent, TurnGranted, TurnRequest
from workers.remote.request import RequestWaiter, out_of_time

__all__ = ["PermitExpired", "SendPermit", "TurnScheduler"]

_LOG = logging.getLogger(__name__)

_PACE_MEMORY = 0.8
"""Weight of the past in the running mean of the seconds between two turns."""
_CLOSING_SECONDS = 2.0
_SCAN_SECONDS = 0.1
"""At least so many between two looks at everybody's patience."""


class PermitExpired(Exception):
    """The permit was not used in time, or was used already: the next turn may be another process's."""


class SendPermit:
    """To send one request now. Whoever has it calls `check` and `sent` around the sending, and ends with `done`,
    whatever happened."""

    def __init__(
        self, ticket: str, until: float, clock: Clock, report: Callable[["SendPermit", TurnEvent], None]
    ) -> None:
        self._ticket = ticket
        self._until = until
        self._clock = clock
        self._report = report
        self._checked = False
        self._sent = False
        self._reached_at: float | None = None

    def check(self) -> None:
        """Right before the bytes leave; raises PermitExpired."""
        if self._checked or self._clock.monotonic() >= self._until:
            raise PermitExpired
        self._checked = True

    def sent(self) -> None:
        """Right after the bytes left."""
        if not self._sent:
            self._sent = True
            self._report(self, TurnEvent("sent", self._ticket, self._clock.monotonic()))

    def reached(self) -> None:
        """The source has begun to answer, so it has had the request."""
        self._reached_at = self._clock.monotonic()

    def push_back(self, seconds: float) -> None:
        """The source wants no requests from anybody for so long."""
        self._report(self, TurnEvent("pushed_back", self._ticket, self._clock.monotonic() + seconds))

    def done(self) -> None:
        if not self._checked:
            self._report(self, TurnEvent("unused", self._ticket, self._clock.monotonic()))
            return
        self.sent()  # when it broke off in between, who knows
        at = self._clock.monotonic() if self._reached_at is None else self._reached_at
        self._report(self, TurnEvent("answered", self._ticket, at))


class TurnScheduler:
    """While `run` is running, every call that asks for a permit is given one, or its waiters are refused."""

    def __init__(self, rate_limit: SharedRateLimit, source: str, claimant: str, new_ticket: Callable[[], str]) -> None:
        self._rate_limit = rate_limit
        self._clock: Clock = rate_limit.clock
        self._source = source
        self._claimant = claimant
        self._new_ticket = new_ticket
        self._queue: FairQueue[RequestWaiter] = FairQueue()
        self._permits: dict[InFlight[RequestWaiter], asyncio.Future[SendPermit]] = {}
        self._events: list[TurnEvent] = []
        self._wake = asyncio.Event()
        self._ticket = new_ticket()
        """Of the turn that is asked for."""
        self._unused: SendPermit | None = None
        """Granted, and neither sent nor given back."""
        self._asking = False
        """Whether a turn may have been granted of which we do not know yet."""
        self._queued = False
        """Whether the other processes expect us to ask again."""
        self._answer = TurnDeferred(0.0, 0.0, "limit")
        self._answered_at = self._clock.monotonic()
        self._pace = rate_limit.limits.spacing
        self._granted_at: float | None = None
        """When the last turn came, if somebody has been in the queue ever since."""
        self._earliest = math.inf
        """No deadline in the queue is before."""
        self._scan_at = -math.inf

    async def permit(self, call: InFlight[RequestWaiter], again: bool) -> SendPermit:
        """Waits for it, and must be cancelled when nobody waits for the call any more. `again`: it had one before."""
        permit: asyncio.Future[SendPermit] = asyncio.get_running_loop().create_future()
        self._permits[call] = permit
        try:
            for waiter in call:
                self.enqueue(waiter, again)
            return await permit
        except asyncio.CancelledError:
            if permit.done() and not permit.cancelled():
                permit.result().done()
            raise
        finally:
            del self._permits[call]
            for waiter in call:
                self._queue.discard(waiter)

    def enqueue(self, waiter: RequestWaiter, again: bool = False) -> None:
        """If its call wants a permit; refuses it when it would have to wait for longer than it is willing to."""
        if waiter.call not in self._permits or waiter.result.done():
            return
        now = self._clock.monotonic()
        if not again:
            waiter.deadline = now + waiter.patience
        elif now > waiter.deadline:
            waiter.refuse(out_of_time(self._source, waiter.patience))
            return
        away = max(0.0, self._opens_at - now) + (0 if again else self._queue.ahead(waiter.owner)) * self._pace
        if away > waiter.deadline - now:
            waiter.refuse(self._busy(away, waiter.patience))
            return
        self._queue.push(waiter, first=again)
        self._earliest = min(self._earliest, waiter.deadline)
        self._wake.set()

    def remove(self, waiter: RequestWaiter) -> None:
        self._queue.discard(waiter)
        self._wake.set()

    def refuse_all(self, error: AssayerError) -> None:
        """Everybody in the queue."""
        for waiter in tuple(self._queue):
            self._queue.discard(waiter)
            waiter.refuse(error)

    async def run(self) -> None:
        while True:
            await self._idle()
            self._wake.clear()
            now = self._clock.monotonic()
            self._refuse_impatient(now)
            request = self._request(now)
            events, self._events = self._events, []
            if not events and request is None:
                continue
            self._asking = request is not None
            try:
                answer = await self._rate_limit.exchange(events, request)
            except BaseException as error:
                self._events = [*events, *self._events]  # they may or may not have been stored
                if not isinstance(error, StorageError):
                    raise
                self.refuse_all(error)
                continue
            self._asking = False
            if isinstance(answer, TurnGranted):
                self._hand_over(now, request.price if request else 0)
            elif answer is not None:
                self._queued, self._answer, self._answered_at = True, answer, self._clock.monotonic()
                self._refuse_impatient(self._answered_at)

    async def aclose(self) -> None:
        """Publishes the last events, once `run` has ended. What does not get through expires."""
        events = self._events
        if self._asking:
            events = [*events, TurnEvent("unused", self._ticket, 0.0)]  # it may have been granted
        if self._asking or self._queued:
            events = [*events, TurnEvent("left", self._claimant, 0.0)]
        if not events:
            return
        try:
            async with asyncio.timeout(_CLOSING_SECONDS):
                await self._rate_limit.exchange(events, None)
        except (TimeoutError, StorageError) as error:
            _LOG.warning("the last events of turns at %s were not published: %s", self._source, said_by(error))

    @property
    def _opens_at(self) -> float:
        return self._answered_at + self._answer.opening

    async def _idle(self) -> None:
        """Until something happens, the bucket is worth asking again, or somebody's patience ends."""
        until = math.inf
        if self._queue:
            until = max(self._earliest, self._scan_at)
            if self._unused is None:
                until = min(until, self._answered_at + self._answer.seconds)
        pause = None if until == math.inf else max(0.0, until - self._clock.monotonic())
        try:
            async with asyncio.timeout(pause):
                await self._wake.wait()
        except TimeoutError:
            return

    def _request(self, now: float) -> TurnRequest | None:
        first = self._queue.peek()
        if first is None:
            self._granted_at = None
            if self._queued:
                self._queued = False
                self._events.append(TurnEvent("left", self._claimant, now))
            return None
        due = now >= self._answered_at + self._answer.seconds
        if self._unused is not None or not (due or self._events):
            return None
        return TurnRequest(self._claimant, self._ticket, first.price)

    def _hand_over(self, asked_at: float, price: int) -> None:
        now = self._clock.monotonic()
        until = asked_at + self._rate_limit.limits.send_within
        permit = SendPermit(self._ticket, until, self._clock, self._on_event)
        self._ticket, self._queued, self._unused = self._new_ticket(), False, permit
        self._answer, self._answered_at = TurnDeferred(0.0, 0.0, "limit"), now
        call = self._next(price)
        if call is None:
            permit.done()
            return
        self._permits[call].set_result(permit)
        if self._granted_at is not None:
            self._pace = _PACE_MEMORY * self._pace + (1 - _PACE_MEMORY) * (now - self._granted_at)
        self._granted_at = now if self._queue else None

    def _next(self, price: int) -> InFlight[RequestWaiter] | None:
        """Takes the next call out of the queue. None if it has become empty meanwhile, or the next one takes more of
        the day's budget than was asked for."""
        while (first := self._queue.peek()) is not None:
            call = first.call
            wanting = not self._permits[call].done()
            if wanting and first.price > price:
                return None
            self._queue.pop()
            for other in call:
                self._queue.discard(other)
            if wanting:
                return call
        return None

    def _on_event(self, permit: SendPermit, event: TurnEvent) -> None:
        if permit is self._unused and event.kind in {"sent", "unused"}:
            self._unused = None
        self._events.append(event)
        self._wake.set()

    def _refuse_impatient(self, now: float) -> None:
        """Those who will have no turn before their deadline."""
        horizon = max(now, self._opens_at)
        if self._earliest > horizon or now < self._scan_at:
            return
        self._scan_at = now + _SCAN_SECONDS
        self._earliest = math.inf
        for waiter in tuple(self._queue):
            if waiter.deadline <= horizon:
                self._queue.discard(waiter)
                waiter.refuse(self._busy(self._opens_at - now, waiter.patience))
            else:
                self._earliest = min(self._earliest, waiter.deadline)

    def _busy(self, away: float, patience: float) -> SourceBusy:
        if self._answer.reason == "budget":
            return SourceBusy(
                f"Today's budget of requests to {self._source} is spent.", "It begins anew at midnight UTC."
            )
        if self._answer.reason == "pushed_back" and away > 0:
            return SourceBusy(f"{self._source} asked to be left alone for another {away:.0f} s.", "Try again later.")
        turn = f"the next turn is {away:.0f} s away" if away > patience else "no turn came"
        return SourceBusy(
            f"{self._source} is busy: {turn}, and this evaluation waits {patience:.0f} s.",
            "Evaluate fewer ideas at once, or give them more time.",
        )
