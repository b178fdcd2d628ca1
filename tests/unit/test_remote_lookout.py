"""Watching what other processes ask for."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from assayer.errors import StorageError
from tests.unit.twins import FixedClock
from workers.remote.lookout import Lookout
from workers.remote.replies import MemoryReplies

WEEK = dt.timedelta(days=7)


@asynccontextmanager
async def lookout(replies: MemoryReplies) -> AsyncIterator[Lookout]:
    opened = Lookout(replies, pause=0.0)
    running = asyncio.create_task(opened.run())
    try:
        yield opened
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_watch_ends_when_the_claim_does() -> None:
    replies = MemoryReplies(FixedClock())
    await replies.claim("k", WEEK, "other", 60)
    async with lookout(replies) as opened:
        with opened.watching("k") as settled, opened.watching("free") as free:
            await free
            assert not settled.done()

            await replies.release("k", "other")

            await settled


async def test_one_who_stops_watching_leaves_the_others_theirs() -> None:
    replies = MemoryReplies(FixedClock())
    await replies.claim("k", WEEK, "other", 60)
    async with lookout(replies) as opened:
        with opened.watching("k") as settled:
            with opened.watching("k"):
                pass
            assert not settled.done()

            await replies.release("k", "other")

            await settled


async def test_store_that_is_gone_is_told_to_all_who_watch() -> None:
    class Gone(MemoryReplies):
        async def settled(self, keys: Sequence[str]) -> list[str]:
            raise StorageError("No store.")

    async with lookout(Gone(FixedClock())) as opened:
        with opened.watching("a") as first, opened.watching("b") as second:
            for settled in (first, second):
                with pytest.raises(StorageError):
                    await settled
