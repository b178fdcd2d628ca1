"""Claims on work that several processes might begin, so that one of them does it and the others wait for its end.

A claim expires unless it is renewed: what a process that died had claimed is done by another.
"""

import asyncio
import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol

from assayer.errors import StorageError
from assayer.ports import Clock

__all__ = ["ClaimPoller", "Claims", "InMemoryClaims"]


class Claims(Protocol):
    """`orchestrator.store.PgClaims`, or in one process `InMemoryClaims`. Raises StorageError when the store is out of
    reach."""

    async def claim(self, key: str, claimant: str, seconds: float) -> bool:
        """Whether the work is the claimant's now, for so many seconds; False while another one has it."""
        ...

    async def renew(self, claimants: Sequence[str], seconds: float) -> None:
        """Their claims hold for so many seconds from now."""
        ...

    async def release(self, key: str, claimant: str) -> None:
        """Ends the claimant's claim; does nothing where another one has it by now."""
        ...

    async def unclaimed(self, keys: Sequence[str]) -> list[str]:
        """Those of the keys that nobody has a claim on (any more)."""
        ...


class _Claim(NamedTuple):
    claimant: str
    until: float


class InMemoryClaims:
    """For one process that shares its work with no other."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._claims: dict[str, _Claim] = {}

    async def claim(self, key: str, claimant: str, seconds: float) -> bool:
        held = self._claims.get(key)
        if held is not None and held.claimant != claimant and self._holds(held):
            return False
        self._claims[key] = _Claim(claimant, self._clock.monotonic() + seconds)
        return True

    async def renew(self, claimants: Sequence[str], seconds: float) -> None:
        until = self._clock.monotonic() + seconds
        renewed = set(claimants)
        self._claims |= {
            key: claim._replace(until=until) for key, claim in self._claims.items() if claim.claimant in renewed
        }

    async def release(self, key: str, claimant: str) -> None:
        if key in self._claims and self._claims[key].claimant == claimant:
            del self._claims[key]

    async def unclaimed(self, keys: Sequence[str]) -> list[str]:
        return [key for key in keys if key not in self._claims or not self._holds(self._claims[key])]

    def purge_claims(self, most: int) -> None:
        """Deletes claims that have expired, at most so many."""
        for key in [key for key, claim in self._claims.items() if not self._holds(claim)][:most]:
            del self._claims[key]

    def _holds(self, claim: _Claim) -> bool:
        return claim.until > self._clock.monotonic()


class ClaimPoller:
    """Waits for the end of other processes' claims: one query for all keys at a time. `run` must be running."""

    def __init__(self, claims: Claims, pause: float) -> None:
        """`pause`: seconds between two queries."""
        self._claims = claims
        self._pause = pause
        self._waiting: dict[str, set[asyncio.Future[None]]] = {}
        self._some = asyncio.Event()

    @contextmanager
    def watching(self, key: str) -> Iterator["asyncio.Future[None]"]:
        """Done when nobody has a claim on the key any more; StorageError when the store is gone."""
        unclaimed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, set()).add(unclaimed)
        self._some.set()
        try:
            yield unclaimed
        finally:
            unclaimed.cancel()
            self._waiting[key].discard(unclaimed)
            if not self._waiting[key]:
                del self._waiting[key]
            if not self._waiting:
                self._some.clear()

    async def run(self) -> None:
        while True:
            await self._some.wait()
            await asyncio.sleep(self._pause)
            keys = tuple(self._waiting)
            try:
                unclaimed = await self._claims.unclaimed(keys)
            except StorageError as error:
                self._resolve(keys, error)
            else:
                self._resolve(unclaimed, None)

    def _resolve(self, keys: Sequence[str], error: StorageError | None) -> None:
        for key in keys:
            for waiting in self._waiting.get(key, ()):
                if waiting.done():
                    continue
                if error is None:
                    waiting.set_result(None)
                else:
                    waiting.set_exception(copy.copy(error))
