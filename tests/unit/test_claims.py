"""Claims: one process does the work, the others see the end of it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from assayer.errors import StorageError
from tests.unit.twins import FixedClock
from workers.concurrency.claims import ClaimPoller, InMemoryClaims


@asynccontextmanager
async def poller(claims: InMemoryClaims) -> AsyncIterator[ClaimPoller]:
    opened = ClaimPoller(claims, pause=0.0)
    running = asyncio.create_task(opened.run())
    try:
        yield opened
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_watch_ends_when_the_claim_does() -> None:
    claims = InMemoryClaims(FixedClock())
    await claims.claim("k", "other", 60)
    async with poller(claims) as opened:
        with opened.watching("k") as unclaimed, opened.watching("free") as free:
            await free
            assert not unclaimed.done()

            await claims.release("k", "other")

            await unclaimed


async def test_one_who_stops_watching_leaves_the_others_theirs() -> None:
    claims = InMemoryClaims(FixedClock())
    await claims.claim("k", "other", 60)
    async with poller(claims) as opened:
        with opened.watching("k") as unclaimed:
            with opened.watching("k"):
                pass
            assert not unclaimed.done()

            await claims.release("k", "other")

            await unclaimed


async def test_store_that_is_gone_is_told_to_all_who_watch() -> None:
    class Gone(InMemoryClaims):
        async def unclaimed(self, keys: Sequence[str]) -> list[str]:
            raise StorageError("No store.")

    async with poller(Gone(FixedClock())) as opened:
        with opened.watching("a") as first, opened.watching("b") as second:
            for unclaimed in (first, second):
                with pytest.raises(StorageError):
                    await unclaimed
