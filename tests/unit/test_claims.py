"""Claims: one process does the work, the others wait for its end."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from assayer.errors import AssayerError, ConfigurationError, StorageError
from workers.outbound import claims as module
from workers.outbound.claims import Claimed, ClaimKeeper, InMemoryClaims

SECONDS = 60.0


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_POLL_SECONDS", 0.0)


@asynccontextmanager
async def keeper(claims: InMemoryClaims, seconds: float = SECONDS) -> AsyncIterator[ClaimKeeper]:
    opened = ClaimKeeper(claims, seconds)
    try:
        yield opened
    finally:
        await opened.aclose()


class Work:
    """A store with one value, and claims on it."""

    def __init__(self, claims: InMemoryClaims, claimant: str) -> None:
        self.claims, self.claimant = claims, claimant
        self.value: str | None = None

    async def look(self) -> str | Claimed:
        if self.value is not None:
            return self.value
        return "claimed" if await self.claims.claim("k", self.claimant, SECONDS) else "elsewhere"


async def test_claim_is_waited_for_until_its_holder_releases_it() -> None:
    claims = InMemoryClaims()
    await claims.claim("k", "other", SECONDS)
    async with keeper(claims) as mine:
        waiting = asyncio.create_task(mine.find_or_claim("k", Work(claims, "me").look))
        await asyncio.sleep(0.01)
        assert not waiting.done()
        await claims.release("k", "other")
        assert await waiting is None


async def test_waiter_gets_value_written_by_holder_despite_cancelled_waiter() -> None:
    claims = InMemoryClaims()
    await claims.claim("k", "other", SECONDS)
    work = Work(claims, "me")
    async with keeper(claims) as mine:
        gone, waiting = (asyncio.create_task(mine.find_or_claim("k", work.look)) for _ in range(2))
        await asyncio.sleep(0.01)
        gone.cancel()
        work.value = "written"
        await claims.release("k", "other")
        assert await waiting == "written"


@pytest.mark.parametrize("error", [StorageError("No store."), ConfigurationError("No folder of the server.")])
async def test_store_failure_is_raised_to_every_waiter(error: AssayerError) -> None:
    class Gone(InMemoryClaims):
        async def find_unclaimed(self, keys: Sequence[str]) -> list[str]:
            raise error

    claims = Gone()
    await claims.claim("k", "other", SECONDS)
    async with keeper(claims) as mine:
        waiting = [asyncio.create_task(mine.find_or_claim("k", Work(claims, name).look)) for name in "ab"]
        for each in waiting:
            with pytest.raises(type(error)):
                await asyncio.wait_for(each, 10)


async def test_waiter_looks_for_itself_when_the_poll_does_not_return() -> None:
    class Stuck(InMemoryClaims):
        async def find_unclaimed(self, keys: Sequence[str]) -> list[str]:
            await asyncio.Event().wait()
            return []

    claims = Stuck()
    await claims.claim("k", "dead", 0.1)
    async with keeper(claims, seconds=0.1) as mine:
        assert await asyncio.wait_for(mine.find_or_claim("k", Work(claims, "next").look), 10) is None


async def test_claims_are_renewed_while_their_claimant_is_needed_and_expire_after() -> None:
    claims = InMemoryClaims()
    async with keeper(claims, seconds=0.3) as mine:
        with mine.create_claimant() as name:
            await claims.claim("k", name, mine.seconds)
            await asyncio.sleep(0.6)
            assert await claims.find_unclaimed(["k"]) == []
        await asyncio.sleep(0.6)
        assert await claims.find_unclaimed(["k"]) == ["k"]
