"""One source's limits as all processes see them: who may send the next request, and when.

A synchronous state machine over times of one shared clock; `workers.remote.turns` carries it to where the
processes meet. A turn goes through: granted (nobody else is granted one meanwhile) → sent → answered. The spacing is
counted from when the request must have reached the source: from its answer, or where that is long in coming from
`transit` seconds after it was sent. So two requests that each keep their turn arrive no closer than the limit.
"""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from pydantic import TypeAdapter

__all__ = ["Bucket", "Granted", "Later", "Limits", "News", "Want"]

_DAY = 86_400.0
_GRACE = 0.5
"""Seconds that a process may come late for its place in the queue before it loses it."""
_MOST_AHEAD = 2.0
"""Seconds after which at the latest somebody who is not first looks again: those ahead may have gone."""
_SHORTEST_LOOK, _LONGEST_LOOK = 0.02, 0.25
"""Bounds of the seconds between two looks of the first in the queue when only another process can say how long."""


class Limits(NamedTuple):
    """In seconds where nothing else is said."""

    spacing: float
    transit: float
    connections: int
    daily_budget: int | None
    send_within: float
    """A turn that was not used for so long after it was granted must not be used any more."""
    answer_within: float
    """Longest time from sending to the end of the answer."""


class Want(NamedTuple):
    """A process asks for a turn."""

    claimant: str
    ticket: str
    """Names the turn, should it be granted; asking again with the same ticket is the same question."""
    price: int


class Granted(NamedTuple):
    ticket: str


class Later(NamedTuple):
    seconds: float
    """When to ask again."""
    opening: float
    """Seconds until anybody may send, at the earliest."""
    reason: Literal["limit", "pushed_back", "budget"]


class News(NamedTuple):
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
class Bucket:
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
    def read(cls, text: str) -> "Bucket":
        return _STATE.validate_json(text) if text else cls()

    def text(self) -> str:
        return _STATE.dump_json(self).decode()

    def hear(self, news: News, now: float, limits: Limits) -> None:
        """The same news heard twice change nothing more."""
        now = self._pass_time(now, limits)
        if news.kind == "sent":
            self._sent(news.name, min(news.at, now), limits)
        elif news.kind == "answered":
            self._answered(news.name, min(news.at, now), limits)
        elif news.kind == "unused":
            if self.pending is not None and self.pending.ticket == news.name:
                self.spent = max(0, self.spent - self.pending.price)
                self.pending = None
        elif news.kind == "pushed_back":
            self.pushed_until = max(self.pushed_until, news.at)
        else:
            self.queue = [place for place in self.queue if place.claimant != news.name]

    def ask(self, want: Want, now: float, limits: Limits) -> Granted | Later:
        now = self._pass_time(now, limits)
        if self.pending is not None and self.pending.ticket == want.ticket:
            self.pending.until = now + 2 * limits.send_within
            return Granted(want.ticket)
        place, ahead = self._place(want.claimant, now)
        if limits.daily_budget is not None and self.spent + want.price > limits.daily_budget:
            midnight = (self.day + 1) * _DAY - now
            return self._later(place, now, Later(midnight, midnight, "budget"))
        taken = self.pending is not None or len(self.flying) >= limits.connections
        if not ahead and not taken and max(self.ready_at, self.pushed_until) <= now:
            self.queue.remove(place)
            self.pending = _Pending(want.ticket, now + 2 * limits.send_within, want.price)
            self.spent += want.price
            return Granted(want.ticket)
        opening = max(self._earliest(now, limits), self.pushed_until) - now
        look = min(max(limits.spacing / 8, _SHORTEST_LOOK), _LONGEST_LOOK)
        first = max(opening, look if taken else 0.0)
        seconds = first + min(ahead * max(limits.spacing, look), _MOST_AHEAD)
        reason: Literal["limit", "pushed_back"] = "pushed_back" if self.pushed_until - now >= opening > 0 else "limit"
        return self._later(place, now, Later(seconds, max(opening, 0.0), reason))

    def _place(self, claimant: str, now: float) -> tuple[_Place, int]:
        """The claimant's place, at the end for a new one, and how many are ahead. Who is overdue has lost theirs."""
        self.queue = [place for place in self.queue if place.claimant == claimant or place.due >= now]
        for ahead, place in enumerate(self.queue):
            if place.claimant == claimant:
                return place, ahead
        place = _Place(claimant, now)
        self.queue.append(place)
        return place, len(self.queue) - 1

    def _earliest(self, now: float, limits: Limits) -> float:
        """When the spacing may have passed: while the last request is under way, its answer may come at any moment."""
        if self.last_sent not in self.flying:
            return self.ready_at
        return min(self.ready_at, now + max(limits.spacing, _SHORTEST_LOOK))

    def _later(self, place: _Place, now: float, later: Later) -> Later:
        place.due = now + later.seconds + _GRACE
        return later

    def _sent(self, ticket: str, at: float, limits: Limits) -> None:
        if ticket in self.flying:
            return
        if self.pending is not None and self.pending.ticket == ticket:
            self.pending = None
            self.last_sent = ticket
        # Else it was heard before, or its holder came late and others have sent since: their spacing must not shrink.
        self.flying[ticket] = at + limits.answer_within
        self.ready_at = max(self.ready_at, at + limits.transit + limits.spacing)

    def _answered(self, ticket: str, at: float, limits: Limits) -> None:
        if self.flying.pop(ticket, None) is None:
            return
        ready_at = at + limits.spacing
        if limits.connections == 1:
            self.ready_at = ready_at if ticket == self.last_sent else max(self.ready_at, ready_at)
        elif ticket == self.last_sent:
            self.ready_at = min(self.ready_at, ready_at)

    def _pass_time(self, now: float, limits: Limits) -> float:
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


_STATE = TypeAdapter(Bucket)
