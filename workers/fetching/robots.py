"""robots.txt (RFC 9309): which pages a host closes to us."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from protego import Protego
from yarl import URL

from assayer.errors import DownloadFailed, DownloadRefused
from assayer.ports import Clock
from workers.fetching.addresses import shown
from workers.fetching.pacing import HostTurns

__all__ = ["ReadRobots", "Robots"]

ReadRobots = Callable[[URL], Awaitable[str | None]]
"""The text of a robots.txt, None where there is none (4xx). Raises FullTextError when nobody can tell."""

_MOST_HOSTS = 2_000


class _Rules(NamedTuple):
    rules: Protego | None
    """None: closed, because its rules cannot be read (RFC 9309, 2.3.1.4)."""
    until: float


class Robots:
    """Rules by origin, read once and kept for a while."""

    def __init__(self, read: ReadRobots, agent: str, hours: float, clock: Clock) -> None:
        self._read = read
        self._agent = agent.split("/", maxsplit=1)[0]
        self._seconds = hours * 3600
        self._clock = clock
        self._asking = HostTurns(1)
        self._known: OrderedDict[URL, _Rules] = OrderedDict()

    async def check(self, url: URL) -> None:
        """Raises DownloadRefused when the page is closed to us, AddressRefused when the host may not be visited."""
        origin = url.origin()
        async with self._asking.turn(str(origin)):
            known = self._known.get(origin)
            if known is None or known.until <= self._clock.monotonic():
                known = await self._ask(origin)
        if known.rules is None:
            raise DownloadRefused(f"{shown(url)} is not read: the robots.txt of its host cannot be had.")
        if not known.rules.can_fetch(str(url), self._agent):
            raise DownloadRefused(f"{shown(url)} is closed to robots by its host's robots.txt.")

    async def _ask(self, origin: URL) -> _Rules:
        try:
            text = await self._read(origin / "robots.txt")
        except (DownloadFailed, DownloadRefused):
            rules = None
        else:
            rules = Protego.parse(text or "")
        # Unknown rules are asked for again soon: the host may only have been slow.
        seconds = self._seconds if rules is not None else min(self._seconds, 600.0)
        answer = _Rules(rules, self._clock.monotonic() + seconds)
        self._known[origin] = answer
        self._known.move_to_end(origin)
        while len(self._known) > _MOST_HOSTS:
            self._known.popitem(last=False)
        return answer
