"""Interfaces for the state that processes share, with in-memory implementations: LLM answers and their ledger, source
responses, claims on both, and small JSON objects."""

import asyncio
import datetime as dt
from collections import defaultdict
from collections.abc import Callable
from typing import Protocol, TypeVar

from assayer.models import CachedAnswer, LedgerRow
from assayer.models.remote import CachedResponse
from assayer.ports import Clock
from workers.outbound.claims import Claimed, Claims, InMemoryClaims


class AnswerStore(Claims, Protocol):
    """Cache of LLM answers, and the ledger of LLM requests. Raises StorageError if it is unreachable."""

    async def find(self, key: str) -> CachedAnswer | None: ...

    async def find_or_claim(self, key: str, claimant: str, seconds: float) -> CachedAnswer | Claimed:
        """Return the answer. If there is none, claim the request for `seconds` and return the outcome of the claim."""
        ...

    async def record(
        self,
        row: LedgerRow,
        answer: CachedAnswer | None,
        replaced: CachedAnswer | None = None,
        claimant: str | None = None,
    ) -> None:
        """Write the ledger row and the answer, if any, and release the claimant's claim, all in one transaction.

        An answer that is already stored is kept, so that all callers get the same one, unless its value equals that of
        `replaced`, an answer that was found unusable."""
        ...


class InMemoryAnswerStore(InMemoryClaims):
    """Answer store in memory, for a single process that needs no persistence."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, CachedAnswer] = {}
        self.ledger: list[LedgerRow] = []

    async def find(self, key: str) -> CachedAnswer | None:
        return self.answers.get(key)

    async def find_or_claim(self, key: str, claimant: str, seconds: float) -> CachedAnswer | Claimed:
        answer = await self.find(key)
        if answer is not None:
            return answer
        return "claimed" if await self.claim(key, claimant, seconds) else "elsewhere"

    async def record(
        self,
        row: LedgerRow,
        answer: CachedAnswer | None,
        replaced: CachedAnswer | None = None,
        claimant: str | None = None,
    ) -> None:
        self.ledger.append(row)
        if claimant is not None:
            await self.release(row.key, claimant)
        if answer is None:
            return
        existing = self.answers.get(answer.key)
        if existing is None or (replaced is not None and existing.value == replaced.value):
            self.answers[answer.key] = answer


class ResponseCache(Claims, Protocol):
    """Cache of source responses. Raises StorageError if it is unreachable."""

    async def find_or_claim(
        self, key: str, freshness: dt.timedelta, claimant: str, seconds: float
    ) -> CachedResponse | Claimed:
        """Return the response if it is younger than `freshness`; otherwise claim the request for `seconds` and return
        the outcome of the claim."""
        ...

    async def store(self, key: str, response: CachedResponse, lifetime: dt.timedelta) -> None:
        """Store the response, replacing any older one, and release the claim. The response may be purged after its
        lifetime."""
        ...

    async def purge(self, limit: int) -> int:
        """Delete expired responses and claims, at most `limit` of each; return the number of deleted responses."""
        ...


class InMemoryResponseCache(InMemoryClaims):
    """Response cache in memory, for a single process that needs no persistence."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock.monotonic)
        self._clock = clock
        self._responses: dict[str, tuple[CachedResponse, dt.datetime]] = {}

    async def find_or_claim(
        self, key: str, freshness: dt.timedelta, claimant: str, seconds: float
    ) -> CachedResponse | Claimed:
        cached, _ = self._responses.get(key, (None, None))
        if cached is not None and cached.fetched_at + freshness > self._clock.now():
            return cached
        return "claimed" if await self.claim(key, claimant, seconds) else "elsewhere"

    async def store(self, key: str, response: CachedResponse, lifetime: dt.timedelta) -> None:
        self._responses[key] = (response, response.fetched_at + lifetime)
        self._claims.pop(key, None)

    async def purge(self, limit: int) -> int:
        now = self._clock.now()
        expired_keys = [key for key, (_, expiry) in self._responses.items() if expiry <= now][:limit]
        for key in expired_keys:
            del self._responses[key]
        self.purge_claims(limit)
        return len(expired_keys)


Result = TypeVar("Result")


class SharedState(Protocol):
    """Small JSON objects, each changed by one process at a time. Raises StorageError if they are unreachable."""

    async def change(self, key: str, update: Callable[[str, float], tuple[str, Result]]) -> Result:
        """Call `update` with the stored text, initially `{}`, and the shared clock's Unix time. Store the text that it
        returns, and return its result.

        No other process changes the text in the meantime. If the connection is lost, `update` may be called again with
        the text that it returned."""
        ...


class InMemorySharedState:
    """Shared state in memory, for a single process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.texts: dict[str, str] = defaultdict(lambda: "{}")

    async def change(self, key: str, update: Callable[[str, float], tuple[str, Result]]) -> Result:
        await asyncio.sleep(0)
        self.texts[key], result = update(self.texts[key], self._clock.now().timestamp())
        return result
