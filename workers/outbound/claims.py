"""Claims on work that several processes could start. One process does it; the others wait until it is done.

A claim expires unless it is renewed, so that another process takes over if its process dies."""

import asyncio
import copy
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Literal, NamedTuple, Protocol, TypeVar

from assayer.errors import AssayerError, StorageError

_LOG = logging.getLogger(__name__)
_POLL_SECONDS = 0.25
"""Seconds between two checks of claims held by other processes."""
_RELEASE_SECONDS = 2.0

Claimed = Literal["claimed", "elsewhere"]
"""Outcome of a claim: the claimant now holds it, or another claimant does."""
Result = TypeVar("Result")


class Claims(Protocol):
    """Store for claims, implemented by `orchestrator.store.PgClaims` and, within one process, by `InMemoryClaims`.

    Raises StorageError if the store is unreachable."""

    async def claim(self, key: str, claimant: str, seconds: float) -> bool:
        """Claim the work for `seconds`. Returns False if another claimant holds it."""
        ...

    async def renew(self, claimants: Sequence[str], seconds: float) -> None:
        """Extend all the claimants' claims so that they last `seconds` from now."""
        ...

    async def release(self, key: str, claimant: str) -> None:
        """Release the claimant's claim. Does nothing if another claimant holds it now."""
        ...

    async def find_unclaimed(self, keys: Sequence[str]) -> list[str]:
        """Return the keys that have no claim."""
        ...


class _Claim(NamedTuple):
    claimant: str
    expires_at: float


class InMemoryClaims:
    """Claims within one process."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._claims: dict[str, _Claim] = {}

    async def claim(self, key: str, claimant: str, seconds: float) -> bool:
        claim = self._claims.get(key)
        if claim is not None and claim.claimant != claimant and self._is_held(claim):
            return False
        self._claims[key] = _Claim(claimant, self._monotonic() + seconds)
        return True

    async def renew(self, claimants: Sequence[str], seconds: float) -> None:
        until = self._monotonic() + seconds
        claimed_by = set(claimants)
        self._claims |= {
            key: claim._replace(expires_at=until) for key, claim in self._claims.items() if claim.claimant in claimed_by
        }

    async def release(self, key: str, claimant: str) -> None:
        if key in self._claims and self._claims[key].claimant == claimant:
            del self._claims[key]

    async def find_unclaimed(self, keys: Sequence[str]) -> list[str]:
        return [key for key in keys if key not in self._claims or not self._is_held(self._claims[key])]

    def purge_claims(self, limit: int) -> None:
        """Delete expired claims, at most `limit` of them."""
        for key in [key for key, claim in self._claims.items() if not self._is_held(claim)][:limit]:
            del self._claims[key]

    def _is_held(self, claim: _Claim) -> bool:
        return claim.expires_at > self._monotonic()


class ClaimKeeper:
    """Renews this process's claims while they are needed, and waits for claims that other processes hold.

    Its background tasks start with the first claim or wait. It belongs to one event loop, in which it must be
    closed."""

    def __init__(self, claims: Claims, seconds: float) -> None:
        """Create a keeper for claims that last `seconds`. If their process dies, other processes can then take over."""
        self._claims = claims
        self.seconds = seconds
        self._claimants: set[str] = set()
        self._waiters_by_key: dict[str, set[asyncio.Future[None]]] = {}
        self._some_wait = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    @contextmanager
    def create_claimant(self) -> Iterator[str]:
        """Yield a claimant name whose claims are renewed while the context is open."""
        name = uuid.uuid4().hex
        self._claimants.add(name)
        self._start()
        try:
            yield name
        finally:
            self._claimants.discard(name)

    async def find_or_claim(self, key: str, try_find: Callable[[], Awaitable[Result | Claimed]]) -> Result | None:
        """Call `look` until it returns a result or claims the key, waiting in between while another process holds the
        claim. Return the result, or None after claiming the key."""
        while True:
            answer = await try_find()
            if answer == "claimed":
                return None
            if answer != "elsewhere":
                return answer
            await self._wait_until_unclaimed(key)

    async def release(self, key: str, claimant: str) -> None:
        """Release a claim after its work has failed. If it cannot be released, it expires."""
        with suppress(TimeoutError, StorageError):
            async with asyncio.timeout(_RELEASE_SECONDS):
                await self._claims.release(key, claimant)

    async def aclose(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start(self) -> None:
        if not self._tasks:
            self._tasks = [asyncio.create_task(self._renew()), asyncio.create_task(self._poll())]

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self.seconds / 3)
            if self._claimants:
                try:
                    await self._claims.renew(list(self._claimants), self.seconds)
                except AssayerError as error:  # at worst a request is sent twice
                    _LOG.warning("claims on requests could not be renewed: %s", error)

    async def _wait_until_unclaimed(self, key: str) -> None:
        """Wait until no claimant holds the key, but no longer than a claim lasts, in case the poll does not return.
        Raises the poll's errors, such as StorageError if the store is unreachable."""
        self._start()
        unclaimed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters_by_key.setdefault(key, set()).add(unclaimed)
        self._some_wait.set()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.seconds):
                    await unclaimed
        finally:
            self._waiters_by_key[key].discard(unclaimed)
            if not self._waiters_by_key[key]:
                del self._waiters_by_key[key]

    async def _poll(self) -> None:
        """Poll other processes' claims, with one query for all keys."""
        while True:
            await self._some_wait.wait()
            await asyncio.sleep(_POLL_SECONDS)
            keys = tuple(self._waiters_by_key)
            if not keys:
                self._some_wait.clear()
                continue
            try:
                self._resolve_waiters(await self._claims.find_unclaimed(keys), None)
            except AssayerError as error:  # also a ConfigurationError, if an embedded server cannot start
                self._resolve_waiters(keys, error)

    def _resolve_waiters(self, keys: Sequence[str], error: AssayerError | None) -> None:
        for key in keys:
            for future in self._waiters_by_key.get(key, ()):
                if future.done():
                    continue
                if error is None:
                    future.set_result(None)
                else:
                    future.set_exception(copy.copy(error))
