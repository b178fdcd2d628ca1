"""The shared cache of answers, and who is asking for one right now."""

import datetime as dt
from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

from assayer.models.remote import KeptReply
from assayer.ports import Clock

__all__ = ["MemoryReplies", "Replies"]


class Replies(Protocol):
    """Raises StorageError when the store is out of reach."""

    async def claim(
        self, key: str, freshness: dt.timedelta, claimant: str, seconds: float
    ) -> KeptReply | Literal["claimed", "elsewhere"]:
        """The reply, if there is one that is younger than `freshness`. Else it is the claimant's to ask for it, for so
        many seconds (`claimed`), or another one is doing so (`elsewhere`)."""
        ...

    async def keep(self, key: str, reply: KeptReply, lifetime: dt.timedelta) -> None:
        """Writes the reply, in place of an older one, and ends the claim. After its lifetime it may be purged."""
        ...

    async def release(self, key: str, claimant: str) -> None:
        """Ends the claimant's claim without a reply."""
        ...

    async def renew(self, claimants: Sequence[str], seconds: float) -> None:
        """Their claims hold for so many seconds from now."""
        ...

    async def settled(self, keys: Sequence[str]) -> list[str]:
        """Those of the keys that nobody is asking for (any more)."""
        ...

    async def purge(self, most: int) -> int:
        """Deletes replies that have outlived their lifetime, and claims of the dead; at most so many of each. How many
        replies."""
        ...


class _Claim(NamedTuple):
    claimant: str
    until: float


class MemoryReplies:
    """The in-memory twin: for one process that need not remember."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._replies: dict[str, tuple[KeptReply, dt.datetime]] = {}
        self._claims: dict[str, _Claim] = {}

    async def claim(
        self, key: str, freshness: dt.timedelta, claimant: str, seconds: float
    ) -> KeptReply | Literal["claimed", "elsewhere"]:
        kept, _ = self._replies.get(key, (None, None))
        if kept is not None and kept.fetched_at + freshness > self._clock.now():
            return kept
        held = self._claims.get(key)
        if held is not None and held.claimant != claimant and self._lives(held):
            return "elsewhere"
        self._claims[key] = _Claim(claimant, self._clock.monotonic() + seconds)
        return "claimed"

    async def keep(self, key: str, reply: KeptReply, lifetime: dt.timedelta) -> None:
        self._replies[key] = (reply, reply.fetched_at + lifetime)
        self._claims.pop(key, None)

    async def release(self, key: str, claimant: str) -> None:
        if key in self._claims and self._claims[key].claimant == claimant:
            del self._claims[key]

    async def renew(self, claimants: Sequence[str], seconds: float) -> None:
        until = self._clock.monotonic() + seconds
        renewed = set(claimants)
        self._claims |= {
            key: claim._replace(until=until) for key, claim in self._claims.items() if claim.claimant in renewed
        }

    async def settled(self, keys: Sequence[str]) -> list[str]:
        return [key for key in keys if key not in self._claims or not self._lives(self._claims[key])]

    async def purge(self, most: int) -> int:
        now = self._clock.now()
        stale = [key for key, (_, until) in self._replies.items() if until <= now][:most]
        for key in stale:
            del self._replies[key]
        for key in [key for key, claim in self._claims.items() if not self._lives(claim)][:most]:
            del self._claims[key]
        return len(stale)

    def _lives(self, claim: _Claim) -> bool:
        return claim.until > self._clock.monotonic()
