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
def polling_without_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_POLL_SECONDS", 0.0)


@asynccontextmanager
async def open_keeper(claims: InMemoryClaims, seconds: float = SECONDS) -> AsyncIterator[ClaimKeeper]:
    opened = ClaimKeeper(claims, seconds)
    try:
        yield opened
    finally:
        await opened.aclose()


class ClaimedStore:
    """Store with one value that claims protect."""

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
    async with open_keeper(claims) as claim_keeper:
        waiting = asyncio.create_task(claim_keeper.find_or_claim("k", ClaimedStore(claims, "me").look))
        await asyncio.sleep(0.01)
        assert not waiting.done()
        await claims.release("k", "other")
        assert await waiting is None


async def test_waiter_gets_value_written_by_holder_despite_cancelled_waiter() -> None:
    claims = InMemoryClaims()
    await claims.claim("k", "other", SECONDS)
    work = ClaimedStore(claims, "me")
    async with open_keeper(claims) as claim_keeper:
        cancelled, waiting = (asyncio.create_task(claim_keeper.find_or_claim("k", work.look)) for _ in range(2))
        await asyncio.sleep(0.01)
        cancelled.cancel()
        work.value = "written"
        await claims.release("k", "other")
        assert await waiting == "written"


@pytest.mark.parametrize("error", [StorageError("No store."), ConfigurationError("No folder of the server.")])
async def test_store_failure_is_raised_to_every_waiter(error: AssayerError) -> None:
    class FailingClaims(InMemoryClaims):
        async def find_unclaimed(self, keys: Sequence[str]) -> list[str]:
            raise error

    claims = FailingClaims()
    await claims.claim("k", "other", SECONDS)
    async with open_keeper(claims) as claim_keeper:
        waiting = [
            asyncio.create_task(claim_keeper.find_or_claim("k", ClaimedStore(claims, name).look)) for name in "ab"
        ]
        for task in waiting:
            with pytest.raises(type(error)):
                await asyncio.wait_for(task, 10)


async def test_waiter_checks_the_store_when_the_poll_does_not_return() -> None:
    class HangingClaims(InMemoryClaims):
        async def find_unclaimed(self, keys: Sequence[str]) -> list[str]:
            await asyncio.Event().wait()
            return []

    claims = HangingClaims()
    await claims.claim("k", "dead", 0.1)
    async with open_keeper(claims, seconds=0.1) as claim_keeper:
        assert await asyncio.wait_for(claim_keeper.find_or_claim("k", ClaimedStore(claims, "next").look), 10) is None


async def test_claims_are_renewed_while_their_claimant_is_needed_and_expire_after() -> None:
    claims = InMemoryClaims()
    async with open_keeper(claims, seconds=0.3) as claim_keeper:
        with claim_keeper.create_claimant() as name:
            await claims.claim("k", name, claim_keeper.seconds)
            await asyncio.sleep(0.6)
            assert await claims.find_unclaimed(["k"]) == []
        await asyncio.sleep(0.6)
        assert await claims.find_unclaimed(["k"]) == ["k"]
