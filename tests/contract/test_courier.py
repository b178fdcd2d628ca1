"""The door to remote sources, over real HTTP: cache, single flight, retries, limits, breaker, discretion."""

import asyncio
import datetime as dt
import gc
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.utils import format_datetime
from itertools import pairwise
from typing import Any, Literal

import pytest
from aiohttp import web
from pydantic import SecretStr

from assayer.errors import SourceBusy, SourceRefused, SourceUnavailable, StorageError
from assayer.models.remote import KeptReply, SharedText
from assayer.ports import Clock
from orchestrator.store import Database, PgReplies, PgTurns
from tests.contract.small_source import Asked, SmallSource, answers
from tests.contract.system_clock import SystemClock
from workers.remote import Ask, Call, Courier, MemoryReplies, MemoryTurns, Reply, SourceSettings
from workers.remote.settings import OpenAlexSettings, SemanticScholarSettings

CLOCK = SystemClock()
QUICK: dict[str, Any] = {"spacing_seconds": 0.0, "backoff_initial_seconds": 0.01, "backoff_max_seconds": 0.02}


@pytest.fixture
async def source() -> AsyncIterator[SmallSource]:
    async with SmallSource() as started:
        yield started


@asynccontextmanager
async def courier(
    source: SmallSource, kind: type[SourceSettings] = SourceSettings, clock: Clock = CLOCK, **fields: Any
) -> AsyncIterator[Courier]:
    settings = kind(**{"base_url": source.url, **QUICK, **fields})
    async with Courier({"small": settings}, MemoryReplies(CLOCK), MemoryTurns(CLOCK), clock) as opened:
        yield opened


def call(path: str = "papers/1", **fields: Any) -> Call:
    return Call(**{"source": "small", "operation": "search", "path": path, **fields})


async def fetch(courier: Courier, path: str = "papers/1", asker: str = "ev", patience: float = 60.0) -> Reply:
    return await courier.fetch(call(path), Ask(asker, patience))


class HastyClock(SystemClock):
    """Jumps ahead when a test says so."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead


class Held:
    """Answers nobody until it is opened."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()

    async def __call__(self, asked: Asked) -> web.StreamResponse:
        await self.opened.wait()
        return web.Response(text=f"about {asked.path}")


async def test_fetch_brings_the_answer_and_the_second_time_from_the_cache(source: SmallSource) -> None:
    async with courier(source) as door:
        first = await fetch(door)
        second = await fetch(door)

    assert (first.status, first.body, first.cached) == (200, b"about papers/1", False)
    assert second == first._replace(cached=True)
    assert source.paths == ["papers/1"]


async def test_fetch_after_the_answers_lifetime_asks_again(source: SmallSource) -> None:
    async with courier(source) as door:
        for _ in range(2):
            await door.fetch(call(lifetime=dt.timedelta(0)), Ask("ev", 60))

    assert len(source.paths) == 2


async def test_fetch_carries_parameters_body_and_name(source: SmallSource) -> None:
    async with courier(source) as door:
        await door.fetch(call(params=(("q", "ä&b"), ("q", "c"))), Ask("ev", 60))
        await door.fetch(call(body='{"ids": []}'), Ask("ev", 60))

    get, post = source.asked
    assert (get.method, get.request.query.getall("q")) == ("GET", ["ä&b", "c"])
    assert (post.method, json.loads(post.body), post.headers["Content-Type"]) == (
        "POST",
        {"ids": []},
        "application/json",
    )
    assert get.headers["User-Agent"].startswith("assayer/")


async def test_not_found_is_a_reply_and_is_cached(source: SmallSource) -> None:
    source.behaviour = answers((404, {}))
    async with courier(source) as door:
        replies = [await fetch(door), await fetch(door)]

    assert [reply.status for reply in replies] == [404, 404]
    assert len(source.paths) == 1


async def test_many_who_ask_the_same_share_one_request(source: SmallSource) -> None:
    async with courier(source) as door:
        replies = await asyncio.gather(*(fetch(door, asker=f"ev{number}") for number in range(200)))

    assert len(source.paths) == 1
    assert {reply.body for reply in replies} == {b"about papers/1"}
    assert sum(not reply.cached for reply in replies) == 1


async def test_asker_who_gives_up_leaves_the_others_their_answer(source: SmallSource) -> None:
    held = source.behaviour = Held()
    async with courier(source) as door:
        first, second = (asyncio.create_task(fetch(door, asker=name)) for name in ("a", "b"))
        await source.has_been_asked(1)
        first.cancel()
        held.opened.set()

        assert (await second).body == b"about papers/1"
    assert first.cancelled()
    assert len(source.paths) == 1


async def test_request_that_nobody_waits_for_any_more_is_broken_off(source: SmallSource) -> None:
    source.behaviour = Held()
    async with courier(source, connections=1) as door:
        asked = asyncio.create_task(fetch(door))
        await source.has_been_asked(1)
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        source.behaviour = answers()

        # The connection and the claim are free again.
        assert (await fetch(door)).body == b"about papers/1"


@pytest.mark.parametrize("status", [408, 500, 502, 503])
async def test_failure_that_passes_is_tried_again(source: SmallSource, status: int) -> None:
    source.behaviour = answers((status, {}), (status, {}))
    async with courier(source) as door:
        assert (await fetch(door)).status == 200

    assert len(source.paths) == 3


async def test_connection_that_breaks_is_tried_again(source: SmallSource) -> None:
    async def behave(asked: Asked) -> web.StreamResponse:
        if asked.number == 0 and asked.request.transport is not None:
            asked.request.transport.abort()
        return await answers()(asked)

    source.behaviour = behave
    async with courier(source) as door:
        assert (await fetch(door)).status == 200

    assert len(source.paths) == 2


async def test_source_that_keeps_failing_is_unavailable_and_its_last_words_are_told(source: SmallSource) -> None:
    source.behaviour = answers(*[(500, {})] * 10)
    async with courier(source, attempts=3) as door:
        with pytest.raises(SourceUnavailable, match=r"no answer in 3 tries.*status 500 it is"):
            await fetch(door)

    assert len(source.paths) == 3


async def test_source_that_does_not_answer_in_time_is_unavailable(source: SmallSource) -> None:
    source.behaviour = Held()
    async with courier(source, attempts=1, answer_seconds=0.2) as door:
        with pytest.raises(SourceUnavailable, match=r"no answer within 0\.2 s"):
            await fetch(door)


async def test_source_that_is_not_there_is_unavailable(source: SmallSource) -> None:
    async with courier(source, base_url="http://127.0.0.1:1", attempts=2) as door:
        with pytest.raises(SourceUnavailable, match="no connection"):
            await fetch(door)


async def test_source_that_is_off_is_unavailable() -> None:
    async with Courier({"small": SourceSettings()}, MemoryReplies(CLOCK), MemoryTurns(CLOCK), CLOCK) as door:
        with pytest.raises(SourceUnavailable, match="small is off"):
            await fetch(door)


async def test_failure_is_not_cached(source: SmallSource) -> None:
    source.behaviour = answers((500, {}))
    async with courier(source, attempts=1) as door:
        with pytest.raises(SourceUnavailable):
            await fetch(door)

        assert (await fetch(door)).status == 200


async def test_refused_request_is_not_tried_again(source: SmallSource) -> None:
    source.behaviour = answers((400, {}))
    async with courier(source) as door:
        with pytest.raises(SourceRefused, match="status 400"):
            await fetch(door)

    assert len(source.paths) == 1


@pytest.mark.parametrize(("key", "words"), [("", "Set ASSAYER_S2__API_KEY"), ("k", "Check ASSAYER_S2__API_KEY")])
async def test_wrong_or_missing_key_says_which_setting_to_look_at(source: SmallSource, key: str, words: str) -> None:
    source.behaviour = answers((401, {}))
    async with courier(source, SemanticScholarSettings, api_key=SecretStr(key)) as door:
        with pytest.raises(SourceRefused, match=words):
            await fetch(door)


@pytest.mark.parametrize("form", ["seconds", "date"])
async def test_too_many_requests_holds_everybody_back_for_as_long_as_the_source_says(
    source: SmallSource, form: str
) -> None:
    async def behave(asked: Asked) -> web.StreamResponse:
        if asked.number > 0:
            return await answers()(asked)
        # A date has whole seconds: two ahead are more than one.
        said = "1" if form == "seconds" else format_datetime(CLOCK.now() + dt.timedelta(seconds=2), usegmt=True)
        return web.Response(status=429, headers={"Retry-After": said})

    source.behaviour = behave
    async with courier(source, connections=1) as door:  # nothing else is under way when the source says so
        await asyncio.gather(*(fetch(door, f"papers/{number}") for number in range(4)))

    assert len(source.arrivals) == 5
    assert source.arrivals[1] - source.arrivals[0] >= 0.95


async def test_retry_after_is_capped_by_the_setting(source: SmallSource) -> None:
    source.behaviour = answers((429, {"Retry-After": "86400"}))
    async with courier(source, retry_after_max_seconds=0.2) as door:
        assert (await fetch(door)).status == 200


async def test_too_many_requests_without_a_word_backs_off_by_itself(source: SmallSource) -> None:
    source.behaviour = answers((429, {}), (403, {"X-RateLimit-Remaining": "0"}))
    async with courier(source) as door:
        assert (await fetch(door)).status == 200


async def test_too_many_requests_every_time_is_busy(source: SmallSource) -> None:
    source.behaviour = answers(*[(429, {"Retry-After": "0"})] * 10)
    async with courier(source, attempts=2) as door:
        with pytest.raises(SourceBusy, match="2 times"):
            await fetch(door)


async def test_longer_pause_than_anybodys_patience_is_busy_at_once(source: SmallSource) -> None:
    source.behaviour = answers((429, {"Retry-After": "600"}))
    async with courier(source) as door:
        with pytest.raises(SourceBusy, match=r"left alone for another (600|5\d\d) s"):
            await fetch(door, patience=5.0)
        with pytest.raises(SourceBusy, match="left alone"):
            await fetch(door, "papers/2", patience=5.0)

    assert len(source.paths) == 1


async def test_turn_farther_away_than_the_patience_is_busy_at_once_and_the_patient_wait(source: SmallSource) -> None:
    held = source.behaviour = Held()
    async with courier(source, connections=1, spacing_seconds=0.5) as door:
        patient = [asyncio.create_task(fetch(door, f"papers/{n}", asker=f"p{n}")) for n in range(5)]
        await source.has_been_asked(1)

        with pytest.raises(SourceBusy, match="turn"):
            await fetch(door, "papers/x", asker="hasty", patience=0.2)

        held.opened.set()
        await asyncio.gather(*patient)
    assert "papers/x" not in source.paths


async def test_daily_budget_that_is_spent_is_busy_until_midnight(source: SmallSource) -> None:
    async with courier(source, OpenAlexSettings, daily_budget=25) as door:
        for number in range(2):
            await fetch(door, f"papers/{number}")  # a search takes 10
        with pytest.raises(SourceBusy, match="budget"):
            await fetch(door, "papers/2")

    assert len(source.paths) == 2


class CountedReplies(MemoryReplies):
    """Tells when so many claims have been made."""

    def __init__(self, claims: int) -> None:
        super().__init__(CLOCK)
        self._left = claims
        self.all_claimed = asyncio.Event()

    async def claim(
        self, key: str, freshness: dt.timedelta, claimant: str, seconds: float
    ) -> KeptReply | Literal["claimed", "elsewhere"]:
        self._left -= 1
        if not self._left:
            self.all_claimed.set()
        return await super().claim(key, freshness, claimant, seconds)


async def test_turns_go_round_between_askers(source: SmallSource) -> None:
    held = source.behaviour = Held()
    settings, replies = SourceSettings(base_url=source.url, connections=1, **QUICK), CountedReplies(9)
    async with Courier({"small": settings}, replies, MemoryTurns(CLOCK), CLOCK) as door:
        first = asyncio.create_task(fetch(door, "first"))
        await source.has_been_asked(1)
        many = [asyncio.create_task(fetch(door, f"a{n}", asker="a")) for n in range(6)]
        few = [asyncio.create_task(fetch(door, f"b{n}", asker="b")) for n in range(2)]
        await replies.all_claimed.wait()
        held.opened.set()
        await asyncio.gather(first, *many, *few)

    order = source.paths[1:]
    assert order.index("b1") <= 4
    assert [path for path in order if path.startswith("a")] == [f"a{n}" for n in range(6)]


@pytest.mark.parametrize(("connections", "spacing", "transit"), [(1, 0.1, 0.0), (4, 0.1, 10.0)])
async def test_spacing_and_connections_are_kept_by_the_sources_own_clock(
    source: SmallSource, connections: int, spacing: float, transit: float
) -> None:
    fields: dict[str, Any] = {"connections": connections, "spacing_seconds": spacing, "transit_seconds": transit}
    async with courier(source, **fields) as door:
        await asyncio.gather(*(fetch(door, f"papers/{number}") for number in range(12)))

    assert all(later - sooner >= spacing for sooner, later in pairwise(source.arrivals))
    assert source.peak <= connections


async def test_source_that_keeps_failing_is_left_alone_and_later_tried_by_one(source: SmallSource) -> None:
    source.behaviour = answers(*[(500, {})] * 3)
    clock = HastyClock()
    async with courier(source, clock=clock, attempts=1, breaker_failures=3, breaker_seconds=600.0) as door:
        for number in range(3):
            with pytest.raises(SourceUnavailable):
                await fetch(door, f"papers/{number}")
        with pytest.raises(SourceUnavailable, match="left alone"):
            await fetch(door, "papers/4")
        assert len(source.paths) == 3

        held = source.behaviour = Held()
        clock.ahead += 600.0
        probe = asyncio.create_task(fetch(door, "papers/4"))
        await source.has_been_asked(4)
        with pytest.raises(SourceUnavailable, match="left alone"):
            await fetch(door, "papers/5")
        held.opened.set()

        assert (await probe).status == 200
        assert (await fetch(door, "papers/5")).status == 200


async def test_those_in_the_line_do_not_wait_for_a_source_that_is_left_alone(source: SmallSource) -> None:
    source.behaviour = answers(*[(500, {})] * 50)
    async with courier(source, connections=1, spacing_seconds=0.05, attempts=1, breaker_failures=2) as door:
        outcomes = await asyncio.gather(*(fetch(door, f"papers/{n}") for n in range(30)), return_exceptions=True)

    assert all(isinstance(outcome, SourceUnavailable) for outcome in outcomes)
    assert len(source.paths) == 2


async def test_redirect_on_the_same_host_is_followed_in_a_turn_of_its_own(source: SmallSource) -> None:
    source.behaviour = answers((301, {"Location": "/api/papers/merged"}))
    async with courier(source, connections=1, spacing_seconds=0.1) as door:
        assert (await fetch(door)).body == b"about papers/merged"

    assert source.arrivals[1] - source.arrivals[0] >= 0.1


async def test_redirect_elsewhere_is_refused_and_not_visited(source: SmallSource) -> None:
    async with SmallSource() as other:
        source.behaviour = answers((302, {"Location": f"{other.url}/papers/1"}))
        async with courier(source) as door:
            with pytest.raises(SourceRefused, match="redirects"):
                await fetch(door)
        assert other.paths == []


async def test_redirect_without_end_is_refused(source: SmallSource) -> None:
    source.behaviour = answers(*[(302, {"Location": "/api/papers/1"})] * 50)
    async with courier(source) as door:
        with pytest.raises(SourceRefused, match="more than 3 times"):
            await fetch(door)

    assert len(source.paths) == 4


async def test_answer_that_is_too_large_is_refused(source: SmallSource) -> None:
    async def behave(_: Asked) -> web.StreamResponse:
        response = web.Response(body=b"0" * 3_000_000)
        response.enable_compression()
        return response

    source.behaviour = behave
    async with courier(source) as door:
        with pytest.raises(SourceRefused, match="more than 1,000,000 bytes"):
            await door.fetch(call(max_bytes=1_000_000), Ask("ev", 60))
        assert len((await door.fetch(call(max_bytes=3_000_000), Ask("ev", 60))).body) == 3_000_000


async def test_key_and_address_are_sent_and_shown_to_nobody_else(
    source: SmallSource, caplog: pytest.LogCaptureFixture
) -> None:
    async def behave(asked: Asked) -> web.StreamResponse:
        if asked.path == "echo":
            return web.Response(status=400, text=f"bad request: {asked.request.path_qs}")
        return web.Response(status=500, text=f"{asked.query}")

    source.behaviour = behave
    caplog.set_level(logging.DEBUG)
    who = {"api_key": SecretStr("s3cret"), "email": "me@example.org"}
    errors = []
    async with courier(source, OpenAlexSettings, **who, attempts=5, breaker_failures=5) as door:
        for path in ("echo", "fails"):
            with pytest.raises((SourceRefused, SourceUnavailable)) as caught:
                await fetch(door, path)
            errors.append(caught.value)
        told = [str(error) for error in errors] + [repr(error.__cause__) for error in errors]

    assert source.asked[0].query == {"api_key": "s3cret", "mailto": "me@example.org"}
    assert "echo" in told[0]
    shown = " ".join(told) + caplog.text
    assert "s3cret" not in shown
    assert "example.org" not in shown


async def test_store_that_is_gone_fails_with_its_own_error(source: SmallSource) -> None:
    class Gone(MemoryTurns):
        async def look(self, bucket: str) -> SharedText:
            raise StorageError(f"No {bucket}.")

    settings = SourceSettings(base_url=source.url)
    async with Courier({"small": settings}, MemoryReplies(CLOCK), Gone(CLOCK), CLOCK) as door:
        with pytest.raises(StorageError):
            await fetch(door)


async def test_leaving_ends_everything_that_is_under_way(source: SmallSource) -> None:
    source.behaviour = Held()
    async with courier(source, connections=1) as door:
        waiting = [asyncio.create_task(fetch(door, f"papers/{number}")) for number in range(5)]
        await source.has_been_asked(1)

    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(outcome, SourceUnavailable) for outcome in outcomes)


async def test_leaving_ends_what_has_only_just_been_asked(source: SmallSource) -> None:
    async with courier(source) as door:
        just = asyncio.create_task(fetch(door))
        await asyncio.sleep(0)

    with pytest.raises(SourceUnavailable, match="stopping"):
        await just


async def test_bodies_are_not_kept_after_delivery(source: SmallSource, database: Database) -> None:
    async def behave(asked: Asked) -> web.StreamResponse:
        return web.Response(body=asked.path.encode() * 10_000)

    source.behaviour = behave
    settings = SourceSettings(base_url=source.url, **QUICK)
    async with Courier({"small": settings}, PgReplies(database), PgTurns(database), CLOCK) as door:

        async def length(number: int) -> int:
            return len((await fetch(door, f"p{number % 4}", asker=f"e{number}", patience=900)).body)

        assert await asyncio.gather(*(length(number) for number in range(20))) == [20_000] * 20
        gc.collect()
        kept = [one for one in gc.get_objects() if isinstance(one, Reply) and len(one.body) == 20_000]

    assert kept == []
