"""The cache of responses that all processes share, with a claim on each that is being asked for."""

import datetime as dt
from typing import Literal, Protocol

from assayer.models.remote import CachedResponse
from assayer.ports import Clock
from workers.concurrency.claims import Claims, InMemoryClaims

__all__ = ["InMemoryResponseCache", "ResponseCache"]


class ResponseCache(Claims, Protocol):
    """Raises StorageError when the store is out of reach."""

    async def find_or_claim(
        self, key: str, freshness: dt.timedelta, claimant: str, seconds: float
    ) -> CachedResponse | Literal["claimed", "elsewhere"]:
        """The response, if there is one that is younger than `freshness`. Else it is the claimant's to ask for it, for
        so many seconds (`claimed`), or another one is doing so (`elsewhere`)."""
        ...

    async def keep(self, key: str, response: CachedResponse, lifetime: dt.timedelta) -> None:
        """Writes the response, in place of an older one, and ends the claim. After its lifetime it may be purged."""
        ...

    async def purge(self, most: int) -> int:
        """Deletes responses that have outlived their lifetime, and claims of the dead; at most so many of each. How
        many responses."""
        ...


class InMemoryResponseCache(InMemoryClaims):
    """The in-memory adapter: for one process that need not remember."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self._responses: dict[str, tuple[CachedResponse, dt.datetime]] = {}

    async def find_or_claim(
        self, key: str, freshness: dt.timedelta, claimant: str, seconds: float
    ) -> CachedResponse | Literal["claimed", "elsewhere"]:
        cached, _ = self._responses.get(key, (None, None))
        if cached is not None and cached.fetched_at + freshness > self._clock.now():
            return cached
        return "claimed" if await self.claim(key, claimant, seconds) else "elsewhere"

    async def keep(self, key: str, response: CachedResponse, lifetime: dt.timedelta) -> None:
        self._responses[key] = (response, response.fetched_at + lifetime)
        self._claims.pop(key, None)

    async def purge(self, most: int) -> int:
        now = self._clock.now()
        stale = [key for key, (_, until) in self._responses.items() if until <= now][:most]
        for key in stale:
            del self._responses[key]
        self.purge_claims(most)
        return len(stale)
