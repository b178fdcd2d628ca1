"""Leave to send one request now."""

from collections.abc import Callable

from assayer.ports import Clock
from workers.remote.bucket import News

__all__ = ["Turn", "TurnLapsed"]


class TurnLapsed(Exception):
    """The turn was not used in time, or was used already: the next one may be somebody else's."""


class Turn:
    """Whoever has it calls `check` and `sent` around the sending, and ends with `done`, whatever happened."""

    def __init__(self, ticket: str, until: float, clock: Clock, tell: Callable[["Turn", News], None]) -> None:
        self._ticket = ticket
        self._until = until
        self._clock = clock
        self._tell = tell
        self._checked = False
        self._sent = False
        self._reached_at: float | None = None

    def check(self) -> None:
        """Right before the bytes leave; raises TurnLapsed."""
        if self._checked or self._clock.monotonic() >= self._until:
            raise TurnLapsed
        self._checked = True

    def sent(self) -> None:
        """Right after the bytes left."""
        if not self._sent:
            self._sent = True
            self._tell(self, News("sent", self._ticket, self._clock.monotonic()))

    def reached(self) -> None:
        """The source has begun to answer, so it has had the request."""
        self._reached_at = self._clock.monotonic()

    def push_back(self, seconds: float) -> None:
        """The source wants to be left alone, by everybody."""
        self._tell(self, News("pushed_back", self._ticket, self._clock.monotonic() + seconds))

    def done(self) -> None:
        if not self._checked:
            self._tell(self, News("unused", self._ticket, self._clock.monotonic()))
            return
        self.sent()  # when it broke off in between, who knows
        at = self._clock.monotonic() if self._reached_at is None else self._reached_at
        self._tell(self, News("answered", self._ticket, at))
