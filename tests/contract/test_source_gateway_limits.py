"""Limits of a source kept by the source gateway: requested pauses, turns and patience, daily budget, circuit
breaker."""

import asyncio
import datetime as dt
from email.utils import format_datetime
from typing import Literal

import pytest
from aiohttp import web

from assayer.errors import SourceBusy, SourceUnavailable
from assayer.models.remote import CachedResponse
from cluster.clock import SystemClock
from tests.contract.small_source import ReceivedRequest, SmallSource, answer_in_order
from tests.contract.small_source_gateway import CLOCK, QUICK, HeldRequests, fetch, open_source_gateway
from workers.outbound.source_gateway import SourceGateway
from workers.outbound.source_settings import OpenAlexSettings, SourceSettings
from workers.outbound.store import InMemoryResponseCache, InMemorySharedState


class HastyClock(SystemClock):
    """Jumps ahead when a test says so."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead


@pytest.mark.parametrize("form", ["seconds", "date"])
async def test_retry_after_delays_all_requests_to_the_source(source: SmallSource, form: str) -> None:
    async def behave(request: ReceivedRequest) -> web.StreamResponse:
        if request.number > 0:
            return await answer_in_order()(request)
        # A date has whole seconds: two ahead are more than one.
        retry_after = "1" if form == "seconds" else format_datetime(CLOCK.now() + dt.timedelta(seconds=2), usegmt=True)
        return web.Response(status=429, headers={"Retry-After": retry_after})

    source.behaviour = behave
    async with open_source_gateway(
        source, connections=1
    ) as gateway:  # nothing else is under way when the source says so
        await asyncio.gather(*(fetch(gateway, f"papers/{number}") for number in range(4)))

    assert len(source.arrivals) == 5
    assert source.arrivals[1] - source.arrivals[0] >= 0.95


async def test_retry_after_is_capped_by_the_setting(source: SmallSource) -> None:
    source.behaviour = answer_in_order((429, {"Retry-After": "86400"}))
    async with open_source_gateway(source, retry_after_max_seconds=0.2) as gateway:
        assert (await fetch(gateway)).status == 200


async def test_rate_limit_without_retry_after_backs_off_and_retries(source: SmallSource) -> None:
    source.behaviour = answer_in_order((429, {}), (403, {"X-RateLimit-Remaining": "0"}))
    async with open_source_gateway(source) as gateway:
        assert (await fetch(gateway)).status == 200


async def test_repeated_rate_limiting_raises_source_busy(source: SmallSource) -> None:
    source.behaviour = answer_in_order(*[(429, {"Retry-After": "0"})] * 10)
    async with open_source_gateway(source, attempts=2) as gateway:
        with pytest.raises(SourceBusy, match="2 tries"):
            await fetch(gateway)


async def test_pause_beyond_callers_patience_is_rejected_immediately(source: SmallSource) -> None:
    source.behaviour = answer_in_order((429, {"Retry-After": "600"}))
    async with open_source_gateway(source) as gateway:
        with pytest.raises(SourceBusy, match=r"no requests are allowed for another (600|5\d\d) s"):
            await fetch(gateway, patience=5.0)
        with pytest.raises(SourceBusy, match="no requests"):
            await fetch(gateway, "papers/2", patience=5.0)

    assert len(source.paths) == 1


async def test_distant_turn_is_rejected_for_impatient_callers_only(source: SmallSource) -> None:
    held_requests = source.behaviour = HeldRequests()
    async with open_source_gateway(source, connections=1, spacing_seconds=0.5) as gateway:
        tasks = [asyncio.create_task(fetch(gateway, f"papers/{n}", owner=f"p{n}")) for n in range(5)]
        await source.has_been_asked(1)

        with pytest.raises(SourceBusy, match="next request can start in"):
            await fetch(gateway, "papers/x", owner="hasty", patience=0.2)

        held_requests.opened.set()
        await asyncio.gather(*tasks)
    assert "papers/x" not in source.paths


async def test_exhausted_daily_budget_raises_source_busy(source: SmallSource) -> None:
    async with open_source_gateway(source, OpenAlexSettings, daily_budget=25) as gateway:
        for number in range(2):
            await fetch(gateway, f"papers/{number}")  # a search takes 10
        with pytest.raises(SourceBusy, match="budget"):
            await fetch(gateway, "papers/2")

    assert len(source.paths) == 2


class CountedResponses(InMemoryResponseCache):
    """Tells when so many claims have been made."""

    def __init__(self, claims: int) -> None:
        super().__init__(CLOCK)
        self._left = claims
        self.all_claimed = asyncio.Event()

    async def find_or_claim(
        self, key: str, freshness: dt.timedelta, claimant: str, seconds: float
    ) -> CachedResponse | Literal["claimed", "elsewhere"]:
        self._left -= 1
        if not self._left:
            self.all_claimed.set()
        return await super().find_or_claim(key, freshness, claimant, seconds)


async def test_turns_rotate_fairly_between_callers(source: SmallSource) -> None:
    held_requests = source.behaviour = HeldRequests()
    settings, replies = SourceSettings(base_url=source.url, connections=1, **QUICK), CountedResponses(9)
    async with SourceGateway({"small": settings}, replies, InMemorySharedState(CLOCK), CLOCK) as gateway:
        first = asyncio.create_task(fetch(gateway, "first"))
        await source.has_been_asked(1)
        many = [asyncio.create_task(fetch(gateway, f"a{n}", owner="a")) for n in range(6)]
        few = [asyncio.create_task(fetch(gateway, f"b{n}", owner="b")) for n in range(2)]
        await replies.all_claimed.wait()
        held_requests.opened.set()
        await asyncio.gather(first, *many, *few)

    order = source.paths[1:]
    assert order.index("b1") <= 4
    assert [path for path in order if path.startswith("a")] == [f"a{n}" for n in range(6)]


async def test_circuit_breaker_opens_and_later_allows_a_single_probe(source: SmallSource) -> None:
    source.behaviour = answer_in_order(*[(500, {})] * 3)
    clock = HastyClock()
    async with open_source_gateway(
        source, clock=clock, attempts=1, breaker_failures=3, breaker_seconds=600.0
    ) as gateway:
        for number in range(3):
            with pytest.raises(SourceUnavailable):
                await fetch(gateway, f"papers/{number}")
        with pytest.raises(SourceUnavailable, match="are suspended"):
            await fetch(gateway, "papers/4")
        assert len(source.paths) == 3

        held_requests = source.behaviour = HeldRequests()
        clock.ahead += 600.0
        probe = asyncio.create_task(fetch(gateway, "papers/4"))
        await source.has_been_asked(4)
        with pytest.raises(SourceUnavailable, match="are suspended"):
            await fetch(gateway, "papers/5")
        held_requests.opened.set()

        assert (await probe).status == 200
        assert (await fetch(gateway, "papers/5")).status == 200


async def test_queued_requests_fail_when_the_circuit_breaker_opens(source: SmallSource) -> None:
    source.behaviour = answer_in_order(*[(500, {})] * 50)
    async with open_source_gateway(
        source, connections=1, spacing_seconds=0.05, attempts=1, breaker_failures=2
    ) as gateway:
        outcomes = await asyncio.gather(*(fetch(gateway, f"papers/{n}") for n in range(30)), return_exceptions=True)

    assert all(isinstance(outcome, SourceUnavailable) for outcome in outcomes)
    assert len(source.paths) == 2


@pytest.mark.parametrize("responds", [True, False])
async def test_caller_patience_ends_retries_before_attempts_run_out(source: SmallSource, responds: bool) -> None:
    source.behaviour = answer_in_order(*[(500, {})] * 100_000) if responds else HeldRequests()
    async with open_source_gateway(source, answer_seconds=0.3, attempts=100_000, breaker_failures=100_000) as gateway:
        with pytest.raises(SourceBusy, match="did not answer within 1 s"):
            await fetch(gateway, patience=1.0)
    assert len(source.paths) > 1
