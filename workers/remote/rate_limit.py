"""The rate limit of one source as all processes share it: who may send the next request, and when.

`RateBucket` is a synchronous state machine over times of one shared clock; `SharedRateLimit` carries it to the store
where the processes meet. A permit goes through: granted (nobody else is granted one meanwhile) → sent → answered. The
spacing is counted from when the request must have reached the source: from its answer, or where that is long in coming
from `transit` seconds after it was sent. So two requests that each keep their permit arrive no closer than the limit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from pydantic import TypeAdapter

from assayer.models.remote import VersionedText
from assayer.ports import Clock

__all__ = [
    "InMemoryRateLimitStore",
    "RateBucket",
    "RateLimitStore",
    "RateLimits",
    "SharedRateLimit",
    "TurnDeferred",
    "TurnEvent",
    "TurnGranted",
    "TurnRequest",
]

_DAY = 86_400.0
_GRACE = 0.5
"""Seconds that a process may come late for its place in the queue before it loses it."""
_MOST_AHEAD = 2.0
"""Seconds after which at the latest somebody who is not first looks again: those ahead may have gone."""
_SHORTEST_LOOK, _LONGEST_LOOK = 0.02, 0.25
"""Bounds of the seconds between two looks of the first in the queue when only another process can say how long."""


class RateLimits(NamedTuple):
    """In seconds where nothing else is said."""

    spacing: float
    transit: float
    connections: int
    daily_budget: int | None
    send_within: float
    """A turn that was not used for so long after it was granted must not be used any more."""
    answer_within: float
    """Longest time from sending to the end of the answer."""


class TurnRequest(NamedTuple):
    """A process asks for a turn to send one request."""

    claimant: str
    ticket: str
    """Names the turn, should it be granted; asking again with the same ticket is the same question."""
    price: int


class TurnGranted(NamedTuple):
    """The process may send now."""

    ticket: str


class TurnDeferred(NamedTuple):
    """The process must ask again."""

    seconds: float
    """When to ask again."""
    opening: float
    """Seconds until anybody may send, at the earliest."""
    reason: Literal["limit", "pushed_back", "budget"]


class TurnEvent(NamedTuple):
    """What became of a turn, and when."""

    kind: Literal["sent", "answered", "unused", "pushed_back", "left"]
    name: str
    """The ticket; for `left` the claimant, who waits for no turn any more."""
    at: float
    """`sent`: when the bytes had left. `answered`: when the source certainly had the request; the connection is free.
    `pushed_back`: the source wants to be left alone until then."""


@dataclass
class _Pending:
    """The one turn that is granted and not yet used."""

    ticket: str
    until: float
    """Whoever holds it has been silent for too long: it counts as used."""
    price: int


@dataclass
class _Place:
    claimant: str
    due: float
    """When that one will ask again."""


@dataclass
class RateBucket:
    """The state that processes share. Its fields are stored: they may be added to, not renamed."""

    seen: float = 0.0
    """Time never goes back, whatever the clock does."""
    ready_at: float = 0.0
    pushed_until: float = 0.0
    day: int = 0
    spent: int = 0
    last_sent: str = ""
    pending: _Pending | None = None
    flying: dict[str, float] = field(default_factory=dict)
    """Tickets that were sent and not answered, and when each counts as answered by whoever sent it having died."""
    queue: list[_Place] = field(default_factory=list)
    """Processes that wait, first come first served: one turn each, then to the end."""

    @classmethod
    def from_json(cls, text: str) -> "RateBucket":
        return _STATE.validate_json(text) if text else cls()

    def to_json(self) -> str:
        return _STATE.dump_json(self).decode()

    def apply(self, event: TurnEvent, now: float, limits: RateLimits) -> None:
        """The same event applied twice changes nothing more."""
        now = self._pass_time(now, limits)
        if event.kind == "sent":
            self._sent(event.name, min(event.at, now), limits)
        elif event.kind == "answered":
            self._answered(event.name, min(event.at, now), limits)
        elif event.kind == "unused":
            if self.pending is not None and self.pending.ticket == event.name:
                self.spent = max(0, self.spent - self.pending.price)
                self.pending = None
        elif event.kind == "pushed_back":
            self.pushed_until = max(self.pushed_until, event.at)
        else:
            self.queue = [place for place in self.queue if place.claimant != event.name]

    def request(self, turn: TurnRequest, now: float, limits: RateLimits) -> TurnGranted | TurnDeferred:
        now = self._pass_time(now, limits)
        if self.pending is not None and self.pending.ticket == turn.ticket:
            self.pending.until = now + 2 * limits.send_within
            return TurnGranted(turn.ticket)
        place, ahead = self._place(turn.claimant, now)
        if limits.daily_budget is not None and self.spent + turn.price > limits.daily_budget:
            midnight = (self.day + 1) * _DAY - now
            return self._deferred(place, now, TurnDeferred(midnight, midnight, "budget"))
        taken = self.pending is not None or len(self.flying) >= limits.connections
        if not ahead and not taken and max(self.ready_at, self.pushed_until) <= now:
            self.queue.remove(place)
            self.pending = _Pending(turn.ticket, now + 2 * limits.send_within, turn.price)
            self.spent += turn.price
            return TurnGranted(turn.ticket)
        opening = max(self._earliest(now, limits), self.pushed_until) - now
        look = min(max(limits.spacing / 8, _SHORTEST_LOOK), _LONGEST_LOOK)
        first = max(opening, look if taken else 0.0)
        seconds = first + min(ahead * max(limits.spacing, look), _MOST_AHEAD)
        reason: Literal["limit", "pushed_back"] = "pushed_back" if self.pushed_until - now >= opening > 0 else "limit"
        return self._deferred(place, now, TurnDeferred(seconds, max(opening, 0.0), reason))

    def _place(self, claimant: str, now: float) -> tuple[_Place, int]:
        """The claimant's place, at the end for a new one, and how many are ahead. Who is overdue has lost theirs."""
        self.queue = [place for place in self.queue if place.claimant == claimant or place.due >= now]
        for ahead, place in enumerate(self.queue):
            if place.claimant == claimant:
                return place, ahead
        place = _Place(claimant, now)
        self.queue.append(place)
        return place, len(self.queue) - 1

    def _earliest(self, now: float, limits: RateLimits) -> float:
        """When the spacing may have passed: while the last request is under way, its answer may come at any moment."""
        if self.last_sent not in self.flying:
            return self.ready_at
        return min(self.ready_at, now + max(limits.spacing, _SHORTEST_LOOK))

    def _deferred(self, place: _Place, now: float, deferred: TurnDeferred) -> TurnDeferred:
        place.due = now + deferred.seconds + _GRACE
        return deferred

    def _sent(self, ticket: str, at: float, limits: RateLimits) -> None:
        if ticket in self.flying:
            return
        if self.pending is not None and self.pending.ticket == ticket:
            self.pending = None
            self.last_sent = ticket
        # Else it was heard before, or its holder came late and others have sent since: their spacing must not shrink.
        self.flying[ticket] = at + limits.answer_within
        self.ready_at = max(self.ready_at, at + limits.transit + limits.spacing)

    def _answered(self, ticket: str, at: float, limits: RateLimits) -> None:
        if self.flying.pop(ticket, None) is None:
            return
        ready_at = at + limits.spacing
        if limits.connections == 1:
            self.ready_at = ready_at if ticket == self.last_sent else max(self.ready_at, ready_at)
        elif ticket == self.last_sent:
            self.ready_at = min(self.ready_at, ready_at)

    def _pass_time(self, now: float, limits: RateLimits) -> float:
        """Ends what nobody will end any more: turns of the dead, and the day."""
        self.seen = now = max(now, self.seen)
        today = int(now // _DAY)
        if today != self.day:
            self.day, self.spent = today, 0
        if self.pending is not None and self.pending.until < now:
            # It may have been sent; its connection died with its process.
            self.ready_at = max(self.ready_at, self.pending.until + limits.transit + limits.spacing)
            self.pending = None
        for ticket, until in list(self.flying.items()):
            if until < now:
                self._answered(ticket, until, limits)
        return now


_STATE = TypeAdapter(RateBucket)


class RateLimitStore(Protocol):
    """Where processes meet: one text a bucket, changed by whoever read it last. Raises StorageError when the store is
    out of reach."""

    async def read(self, bucket: str) -> VersionedText: ...

    async def compare_and_swap(self, bucket: str, version: int, text: str) -> bool:
        """Writes the text if the bucket still has the version; False when somebody else was quicker."""
        ...


class InMemoryRateLimitStore:
    """The in-memory twin: for one process that shares its limits with no other."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._texts: dict[str, tuple[int, str]] = {}

    async def read(self, bucket: str) -> VersionedText:
        return VersionedText(self._clock.now().timestamp(), *self._texts.get(bucket, (0, "")))

    async def compare_and_swap(self, bucket: str, version: int, text: str) -> bool:
        if self._texts.get(bucket, (0, ""))[0] != version:
            return False
        self._texts[bucket] = (version + 1, text)
        return True


@dataclass(frozen=True)
class SharedRateLimit:
    """One bucket in one process. Times of events are this process's monotonic ones."""

    store: RateLimitStore
    bucket: str
    limits: RateLimits
    clock: Clock

    async def exchange(
        self, events: Sequence[TurnEvent], request: TurnRequest | None
    ) -> TurnGranted | TurnDeferred | None:
        """Publishes what happened here, and asks for a turn; as if both were done at one moment."""
        while True:
            before = self.clock.monotonic()
            shared = await self.store.read(self.bucket)
            bucket = RateBucket.from_json(shared.text)
            for event in events:
                # The shared clock was read after `before`: what happened here is dated too late, never too early.
                bucket.apply(event._replace(at=shared.now + event.at - before), shared.now, self.limits)
            answer = bucket.request(request, shared.now, self.limits) if request else None
            if await self.store.compare_and_swap(self.bucket, shared.version, bucket.to_json()):
                return answer
