"""Limit concurrent requests per host, and respect robots.txt (RFC 9309)."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from protego import Protego
from yarl import URL

from assayer.errors import DownloadFailed, DownloadRefused
from assayer.ports import Clock
from workers.fetching.ssrf_guard import make_loggable


@dataclass
class _HostQueue:
    slots: asyncio.Semaphore
    users: int = field(default=0)


class HostSlots:
    """Limit on concurrent requests to each host, first come, first served. Idle hosts are forgotten."""

    def __init__(self, per_host: int) -> None:
        self._per_host = per_host
        self._hosts: dict[str, _HostQueue] = {}

    @asynccontextmanager
    async def hold_slot(self, host: str) -> AsyncIterator[None]:
        queue = self._hosts.setdefault(host, _HostQueue(asyncio.Semaphore(self._per_host)))
        queue.users += 1
        try:
            async with queue.slots:
                yield
        finally:
            queue.users -= 1
            if not queue.users:
                del self._hosts[host]


ReadRobots = Callable[[URL], Awaitable[str | None]]
"""Function that returns a robots.txt file's text, or None if there is none (status 4xx). Raises FullTextError if it
cannot be read."""

_MAX_HOSTS = 2_000


class _CachedRules(NamedTuple):
    rules: Protego | None
    """Parsed rules; None if they cannot be read, in which case everything is disallowed (RFC 9309, 2.3.1.4)."""
    expires_at: float


class Robots:
    """Each origin's robots.txt rules, read once and cached for a while."""

    def __init__(self, read: ReadRobots, agent: str, hours: float, clock: Clock) -> None:
        self._read = read
        self._agent = agent.split("/", maxsplit=1)[0]
        self._seconds = hours * 3600
        self._clock = clock
        self._reading = HostSlots(1)
        self._rules_by_site: OrderedDict[URL, _CachedRules] = OrderedDict()

    async def check_allowed(self, url: URL) -> None:
        """Raise DownloadRefused if robots.txt disallows the page, AddressRefused if the host is not allowed."""
        origin = url.origin()
        async with self._reading.hold_slot(str(origin)):
            cached_rules = self._rules_by_site.get(origin)
            if cached_rules is None or cached_rules.expires_at <= self._clock.monotonic():
                cached_rules = await self._read_rules(origin)
        if cached_rules.rules is None:
            raise DownloadRefused(
                f"{make_loggable(url)} was not fetched because its host's robots.txt could not be read."
            )
        if not cached_rules.rules.can_fetch(str(url), self._agent):
            raise DownloadRefused(f"{make_loggable(url)} was not fetched because its host's robots.txt disallows it.")

    async def _read_rules(self, origin: URL) -> _CachedRules:
        try:
            text = await self._read(origin / "robots.txt")
        except (DownloadFailed, DownloadRefused):
            rules = None
        else:
            rules = Protego.parse(text or "")
        # Rules that could not be read are requested again soon, because the host may only have been slow.
        seconds = self._seconds if rules is not None else min(self._seconds, 600.0)
        cached_rules = _CachedRules(rules, self._clock.monotonic() + seconds)
        self._rules_by_site[origin] = cached_rules
        self._rules_by_site.move_to_end(origin)
        while len(self._rules_by_site) > _MAX_HOSTS:
            self._rules_by_site.popitem(last=False)
        return cached_rules
