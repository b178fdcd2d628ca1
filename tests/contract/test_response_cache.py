"""Contract tests of response caches, for the in-memory twin and PostgreSQL alike."""

import asyncio
import datetime as dt
import os

import pytest

from assayer.models.remote import CachedResponse
from cluster.clock import SystemClock
from orchestrator.store import Database, PgResponseCache
from workers.outbound.store import InMemoryResponseCache, ResponseCache

WEEK = dt.timedelta(days=7)


@pytest.fixture(params=["memory", "postgres"])
def replies(request: pytest.FixtureRequest) -> ResponseCache:
    if request.param == "memory":
        return InMemoryResponseCache(SystemClock())
    database: Database = request.getfixturevalue("database")
    return PgResponseCache(database)


def build_reply(body: bytes = b"{}", age: dt.timedelta = dt.timedelta(0)) -> CachedResponse:
    # Whole microseconds: that is what the database keeps.
    return CachedResponse("arxiv", 200, body, dt.datetime.now(dt.UTC) - age)


async def test_claim_is_exclusive_until_released(replies: ResponseCache) -> None:
    assert await replies.claim("k", "a", 60)
    assert await replies.claim("k", "a", 60)
    assert not await replies.claim("k", "b", 60)
    await replies.release("k", "b")
    assert await replies.find_unclaimed(["k", "other"]) == ["other"]
    await replies.release("k", "a")
    assert await replies.claim("k", "b", 60)


async def test_expired_claim_can_be_claimed_by_another(replies: ResponseCache) -> None:
    assert await replies.claim("k", "a", 0.0)
    assert await replies.claim("k", "b", 60)


@pytest.mark.parametrize(
    "stored_reply",
    [build_reply(b""), build_reply(b"\0\xff"), build_reply(os.urandom(200_000)), build_reply()._replace(status=404)],
    ids=["empty", "odd", "large", "not found"],
)
async def test_cached_response_is_returned_byte_for_byte(replies: ResponseCache, stored_reply: CachedResponse) -> None:
    await replies.find_or_claim("k", WEEK, "a", 60)

    await replies.store("k", stored_reply, WEEK)

    assert await replies.find_or_claim("k", WEEK, "b", 60) == stored_reply


async def test_response_older_than_accepted_is_requested_again(replies: ResponseCache) -> None:
    old = build_reply(age=dt.timedelta(hours=2))
    await replies.store("k", old, WEEK)

    assert await replies.find_or_claim("k", dt.timedelta(hours=3), "a", 60) == old
    assert await replies.find_or_claim("k", dt.timedelta(hours=1), "a", 60) == "claimed"


async def test_newer_response_replaces_the_older(replies: ResponseCache) -> None:
    await replies.store("k", build_reply(b"old", dt.timedelta(days=1)), WEEK)
    new = build_reply(b"new")

    await replies.store("k", new, WEEK)

    assert await replies.find_or_claim("k", WEEK, "a", 60) == new


async def test_renewal_extends_only_claims_of_named_claimants(replies: ResponseCache) -> None:
    await replies.find_or_claim("mine", WEEK, "a", 0.0)
    await replies.find_or_claim("theirs", WEEK, "b", 0.0)

    await replies.renew(["a"], 60)

    assert await replies.find_unclaimed(["mine", "theirs"]) == ["theirs"]


async def test_unclaimed_returns_keys_without_pending_requests(replies: ResponseCache) -> None:
    for key in ("asked", "kept", "released"):
        await replies.find_or_claim(key, WEEK, "a", 60)
    await replies.store("kept", build_reply(), WEEK)
    await replies.release("released", "a")

    assert sorted(await replies.find_unclaimed(["asked", "kept", "released", "unknown"])) == [
        "kept",
        "released",
        "unknown",
    ]


async def test_purge_removes_expired_responses_in_batches(replies: ResponseCache) -> None:
    for number in range(5):
        await replies.store(f"old{number}", build_reply(age=dt.timedelta(days=2)), dt.timedelta(days=1))
    await replies.store("new", build_reply(), dt.timedelta(days=1))

    assert [await replies.purge(3) for _ in range(3)] == [3, 2, 0]
    assert await replies.find_or_claim("new", WEEK, "a", 60) != "claimed"


async def test_concurrent_claims_have_a_single_winner(replies: ResponseCache) -> None:
    outcomes = await asyncio.gather(*(replies.find_or_claim("k", WEEK, f"c{number}", 60) for number in range(50)))

    assert outcomes.count("claimed") == 1
    assert outcomes.count("elsewhere") == 49


async def test_concurrent_claims_and_stores_request_each_key_once(replies: ResponseCache) -> None:
    """The holder of a claim stores a reply at once; after that, no further claim may be granted."""

    async def ask(claimant: str, key: str) -> bool:
        while (claim := await replies.find_or_claim(key, WEEK, claimant, 60)) == "elsewhere":
            await replies.find_unclaimed([key])
        if claim != "claimed":
            return False
        await replies.store(key, build_reply(), WEEK)
        return True

    results = await asyncio.gather(*(ask(f"c{number}", f"k{number % 5}") for number in range(100)))

    assert sum(results) == 5
