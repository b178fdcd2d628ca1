"""Which GROBID server gets the next document. Decides only; whoever sends tells it what came of it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

__all__ = ["Roster"]


@dataclass
class _Server:
    url: str
    up: bool = True
    busy: int = 0
    served: int = 0
    rests: list[float] = field(default_factory=list)
    """Moments at which its resting slots may be used again."""
    refusals: int = 0
    """503s in a row."""


class Roster:
    """Servers with slots: free, busy with a document, or resting after a 503. Times are of one monotonic clock."""

    def __init__(self, urls: Sequence[str], slots: int, rest: float, longest_rest: float) -> None:
        self._servers = {url: _Server(url) for url in urls}
        self._slots = slots
        self._rest = rest
        self._longest_rest = longest_rest

    @property
    def any_up(self) -> bool:
        return any(server.up for server in self._servers.values())

    @property
    def up(self) -> tuple[str, ...]:
        return tuple(server.url for server in self._servers.values() if server.up)

    def take(self, now: float, avoid: Collection[str] = ()) -> str | None:
        """The least loaded server with a free slot, one of `avoid` only if no other has; None when none has."""
        free = [server for server in self._servers.values() if server.up and self._load(server, now) < self._slots]
        if not free:
            return None
        best = min(free, key=lambda server: (server.url in avoid, self._load(server, now), server.served))
        best.busy += 1
        best.served += 1
        return best.url

    def next_change(self, now: float) -> float | None:
        """When the first resting slot of a server that is up may be used again."""
        rests = (end for server in self._servers.values() if server.up for end in server.rests)
        return min((end for end in rests if end > now), default=None)

    def released(self, url: str) -> None:
        """The document was taken back."""
        self._servers[url].busy -= 1

    def answered(self, url: str) -> None:
        self._servers[url].busy -= 1
        self._servers[url].refusals = 0

    def refused(self, url: str, now: float) -> None:
        """503: somebody else uses the server too. One slot rests, twice as long each time in a row."""
        server = self._servers[url]
        server.busy -= 1
        server.rests.append(now + min(self._longest_rest, self._rest * 2 ** min(server.refusals, 30)))
        server.refusals += 1

    def broke(self, url: str) -> bool:
        """Out of the pool until `revived`; whether it was in it. Slots are given back apart."""
        server = self._servers[url]
        was_up, server.up = server.up, False
        return was_up

    def revived(self, url: str) -> None:
        server = self._servers[url]
        server.up = True
        server.rests.clear()
        server.refusals = 0

    def _load(self, server: _Server, now: float) -> int:
        server.rests = [end for end in server.rests if end > now]
        return server.busy + len(server.rests)
