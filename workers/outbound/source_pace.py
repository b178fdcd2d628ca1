"""Rate limiter for one service, shared by all processes: spacing, connections, pauses, daily budget.

`Pace` is the shared state, which uses times from a clock shared by all processes. `Pacer` connects one process to it:
callers queue at a gate, and only the first of them asks the shared state for a turn."""

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from pydantic import TypeAdapter

from assayer.errors import StorageError, error_text
from workers.outbound.priority_gate import FixedSlots, Place, PriorityGate
from workers.outbound.store import SharedState

_LOG = logging.getLogger(__name__)
_DAY_SECONDS = 86_400.0
_GRACE_SECONDS = 0.5
"""Seconds by which a process may be late before it loses its place in the queue."""
_MIN_LOOK_SECONDS, _MAX_LOOK_SECONDS = 0.02, 0.25
"""Minimum and maximum seconds between two checks while the wait depends only on another process."""
_MAX_SECONDS_FOR_QUEUE = 2.0
"""Maximum seconds added to a wait because of processes ahead in the queue, because these may have left."""
_MAX_WAIT_SECONDS = 5.0
"""Maximum seconds between two checks, because a turn may become available early."""
_CLOSING_SECONDS = 2.0


class PaceLimits(NamedTuple):
    """A service's limits for one API key, across all processes."""

    spacing: float
    """Minimum seconds between the starts of two requests; with one connection, between the end of a response and the
    next request."""
    connections: int
    answer_within: float
    """Seconds after which a request counts as answered, because the process that sent it must have died."""
    daily_budget: int | None = None
    """Units per UTC day; None means no limit."""


class Wait(NamedTuple):
    """Delay until a turn is available."""

    seconds: float
    """Seconds until the next check."""
    opening: float
    """Minimum seconds until any process can send a request."""
    reason: Literal["limit", "pause", "budget"]


@dataclass
class Pace:
    """The rate limiter's shared state. It is stored as JSON, so fields may be added but not renamed."""

    seen: float = 0.0
    """Latest time observed. The limiter never uses an earlier time, even if the clock goes backwards."""
    next_at: float = 0.0
    paused_until: float = 0.0
    day: int = 0
    spent: int = 0
    in_flight: dict[str, float] = field(default_factory=dict)
    """Requests in flight, by ticket, each with the time after which it counts as answered."""
    line: list[tuple[str, float]] = field(default_factory=list)
    """Queue of waiting processes, each with the time at which it loses its place. A process that gets a turn leaves the
    queue."""

    @classmethod
    def from_json(cls, text: str) -> "Pace":
        return _STATE.validate_json(text)

    def to_json(self) -> str:
        return _STATE.dump_json(self).decode()

    def take(self, ticket: str, process: str, price: int, now: float, limits: PaceLimits) -> Wait | None:
        """Take a turn and return None, or return how long to wait. Also returns None if the ticket already has a turn.
        `price` is in units of the daily budget."""
        now = self._pass_time(now)
        if ticket in self.in_flight:
            return None
        if limits.daily_budget is not None and self.spent + price > limits.daily_budget:
            midnight = (self.day + 1) * _DAY_SECONDS - now
            return Wait(midnight, midnight, "budget")
        position = self._join_line(process, now)
        seconds_until_start = max(self.next_at, self.paused_until, now) - now
        is_busy = len(self.in_flight) >= limits.connections
        if position or is_busy or seconds_until_start > 0:
            retry_seconds = min(max(limits.spacing / 8, _MIN_LOOK_SECONDS), _MAX_LOOK_SECONDS)
            seconds = max(seconds_until_start, retry_seconds if is_busy else 0.0) + min(
                position * max(limits.spacing, retry_seconds), _MAX_SECONDS_FOR_QUEUE
            )
            self.line[position] = (process, now + min(seconds, _MAX_WAIT_SECONDS) + _GRACE_SECONDS)
            return Wait(seconds, seconds_until_start, "pause" if self.paused_until >= self.next_at else "limit")
        del self.line[position]
        self.in_flight[ticket] = now + limits.answer_within
        self.next_at = now + limits.spacing
        self.spent += price
        return None

    def end_turn(self, ticket: str, pause: float, now: float, limits: PaceLimits) -> None:
        """End a turn. `pause` is the number of seconds during which the service asks not to receive requests."""
        now = self._pass_time(now)
        if self.in_flight.pop(ticket, None) is not None and limits.connections == 1:
            self.next_at = max(self.next_at, now + limits.spacing)
        if pause > 0:
            self.paused_until = max(self.paused_until, now + pause)

    def _join_line(self, process: str, now: float) -> int:
        """Return the process's position in the queue, after adding it at the end if it is new and removing processes
        that did not check again in time."""
        self.line = [(name, expiry) for name, expiry in self.line if expiry >= now or name == process]
        names = [name for name, _ in self.line]
        if process not in names:
            self.line.append((process, now))
            return len(names)
        return names.index(process)

    def _pass_time(self, now: float) -> float:
        self.seen = now = max(now, self.seen)
        if int(now // _DAY_SECONDS) != self.day:
            self.day, self.spent = int(now // _DAY_SECONDS), 0
        self.in_flight = {ticket: expiry for ticket, expiry in self.in_flight.items() if expiry >= now}
        return now


_STATE = TypeAdapter(Pace)


class Turn:
    """Permission to send one request now."""

    def __init__(self) -> None:
        self.ticket = uuid.uuid4().hex
        self.pause_seconds = 0.0

    def pause(self, seconds: float) -> None:
        """Pause requests from all processes for `seconds` after this turn."""
        self.pause_seconds = max(self.pause_seconds, seconds)


class Pacer:
    """Rate limiter for one process's requests to one service. It belongs to one event loop, in which it must be
    closed."""

    def __init__(self, state: SharedState, key: str, limits: PaceLimits) -> None:
        self._state = state
        self._key = key
        self._limits = limits
        self._process = uuid.uuid4().hex
        self._gate: PriorityGate[int] = PriorityGate(FixedSlots(1))
        self._end_tasks: set[asyncio.Task[None]] = set()

    def estimate_wait(self, place: Place[int]) -> float:
        """Return the minimum wait, in seconds, for a new place like this one."""
        return self._gate.count_ahead(place) * self._limits.spacing

    @asynccontextmanager
    async def take_turn(
        self, place: Place[int] | None = None, price: int = 1, check: Callable[[Wait | None], None] = lambda _: None
    ) -> AsyncIterator[Turn]:
        """Wait for a turn to send one request.

        Calls `check` with None when the request is first in line and after each wait, and with each `Wait` before it
        begins. An exception from `check` ends the wait. Raises StorageError if the shared state is unreachable."""
        turn, was_requested = Turn(), False
        try:
            async with self._gate.hold_slot(place or Place()):
                if self._end_tasks:
                    await asyncio.wait(self._end_tasks)
                check(None)
                was_requested = True
                while (wait := await self._request_turn(turn, price)) is not None:
                    check(wait)
                    await asyncio.sleep(min(wait.seconds, _MAX_WAIT_SECONDS))
                    check(None)
            yield turn
        finally:
            # Done in the background, so that the response does not wait for it. A turn that is not ended expires.
            if was_requested:
                task = asyncio.get_running_loop().create_task(self._end_turn(turn))
                self._end_tasks.add(task)
                task.add_done_callback(self._end_tasks.discard)

    async def aclose(self) -> None:
        self._gate.close()
        if self._end_tasks:
            await asyncio.wait(self._end_tasks, timeout=_CLOSING_SECONDS)

    async def _request_turn(self, turn: Turn, price: int) -> Wait | None:
        def take_turn(text: str, now: float) -> tuple[str, Wait | None]:
            pace = Pace.from_json(text)
            wait = pace.take(turn.ticket, self._process, price, now, self._limits)
            return pace.to_json(), wait

        return await self._state.change(self._key, take_turn)

    async def _end_turn(self, turn: Turn) -> None:
        def end_turn(text: str, now: float) -> tuple[str, None]:
            pace = Pace.from_json(text)
            pace.end_turn(turn.ticket, turn.pause_seconds, now, self._limits)
            return pace.to_json(), None

        try:
            await self._state.change(self._key, end_turn)
        except StorageError as error:
            _LOG.warning("the end of a request to %s could not be recorded: %s", self._key, error_text(error))
