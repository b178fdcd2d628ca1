"""The source gateway over real HTTP: cache, single flight, retries, redaction, and how it is closed."""

import asyncio
import datetime as dt
import gc
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr

from assayer.errors import SourceRefused, SourceUnavailable, StorageError
from orchestrator.store import Database, PgResponseCache, PgSharedState
from tests.contract.small_source import ReceivedRequest, SmallSource, answer_in_order
from tests.contract.small_source_gateway import (
    CLOCK,
    QUICK,
    HeldRequests,
    call,
    create_in_memory_gateway,
    fetch,
    open_source_gateway,
)
from workers.outbound.source_gateway import SourceGateway
from workers.outbound.source_requests import RequestContext, SourceResponse
from workers.outbound.source_settings import OpenAlexSettings, SemanticScholarSettings, SourceSettings
from workers.outbound.store import InMemoryResponseCache, InMemorySharedState


async def test_second_fetch_is_served_from_the_cache(source: SmallSource) -> None:
    async with open_source_gateway(source) as gateway:
        first = await fetch(gateway)
        second = await fetch(gateway)

    assert (first.status, first.body, first.cached) == (200, b"about papers/1", False)
    assert second == first._replace(cached=True)
    assert source.paths == ["papers/1"]


async def test_expired_cached_response_is_requested_again(source: SmallSource) -> None:
    async with open_source_gateway(source) as gateway:
        for _ in range(2):
            await gateway.fetch(call(lifetime=dt.timedelta(0)), RequestContext("ev", 60))

    assert len(source.paths) == 2


async def test_fetch_sends_parameters_body_and_user_agent(source: SmallSource) -> None:
    async with open_source_gateway(source) as gateway:
        await gateway.fetch(call(params=(("q", "ä&b"), ("q", "c"))), RequestContext("ev", 60))
        await gateway.fetch(call(body='{"ids": []}'), RequestContext("ev", 60))

    get, post = source.asked
    assert (get.method, get.request.query.getall("q")) == ("GET", ["ä&b", "c"])
    assert (post.method, json.loads(post.body), post.headers["Content-Type"]) == (
        "POST",
        {"ids": []},
        "application/json",
    )
    assert get.headers["User-Agent"].startswith("assayer/")


async def test_not_found_response_is_cached(source: SmallSource) -> None:
    source.behaviour = answer_in_order((404, {}))
    async with open_source_gateway(source) as gateway:
        replies = [await fetch(gateway), await fetch(gateway)]

    assert [reply.status for reply in replies] == [404, 404]
    assert len(source.paths) == 1


async def test_identical_concurrent_fetches_share_a_request(source: SmallSource) -> None:
    async with open_source_gateway(source) as gateway:
        replies = await asyncio.gather(*(fetch(gateway, owner=f"ev{number}") for number in range(200)))

    assert len(source.paths) == 1
    assert {reply.body for reply in replies} == {b"about papers/1"}
    assert sum(not reply.cached for reply in replies) == 1


async def test_abandoned_request_is_cancelled_and_releases_its_connection(source: SmallSource) -> None:
    source.behaviour = HeldRequests()
    async with open_source_gateway(source, connections=1) as gateway:
        task = asyncio.create_task(fetch(gateway))
        await source.has_been_asked(1)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        source.behaviour = answer_in_order()

        # The connection and the claim are free again.
        assert (await fetch(gateway)).body == b"about papers/1"


@pytest.mark.parametrize("status", [408, 503])
async def test_transient_failure_is_retried(source: SmallSource, status: int) -> None:
    source.behaviour = answer_in_order((status, {}), (status, {}))
    async with open_source_gateway(source) as gateway:
        assert (await fetch(gateway)).status == 200

    assert len(source.paths) == 3


async def test_broken_connection_is_retried(source: SmallSource) -> None:
    async def behave(request: ReceivedRequest) -> web.StreamResponse:
        if request.number == 0 and request.request.transport is not None:
            request.request.transport.abort()
        return await answer_in_order()(request)

    source.behaviour = behave
    async with open_source_gateway(source) as gateway:
        assert (await fetch(gateway)).status == 200

    assert len(source.paths) == 2


async def test_persistently_failing_source_is_unavailable_with_its_last_error(source: SmallSource) -> None:
    source.behaviour = answer_in_order(*[(500, {})] * 10)
    async with open_source_gateway(source, attempts=3) as gateway:
        with pytest.raises(SourceUnavailable, match=r"did not answer in 3 tries.*status 500 it is"):
            await fetch(gateway)

    assert len(source.paths) == 3


async def test_source_that_does_not_answer_in_time_is_unavailable(source: SmallSource) -> None:
    source.behaviour = HeldRequests()
    async with open_source_gateway(source, attempts=1, answer_seconds=0.2) as gateway:
        with pytest.raises(SourceUnavailable, match=r"no response within 0\.2 s"):
            await fetch(gateway)


async def test_unreachable_source_is_unavailable(source: SmallSource) -> None:
    async with open_source_gateway(source, base_url="http://127.0.0.1:1", attempts=2) as gateway:
        with pytest.raises(SourceUnavailable, match="no connection"):
            await fetch(gateway)


async def test_disabled_source_is_unavailable() -> None:
    async with create_in_memory_gateway({"small": SourceSettings()}) as gateway:
        with pytest.raises(SourceUnavailable, match="small is disabled"):
            await fetch(gateway)


async def test_failure_is_not_cached(source: SmallSource) -> None:
    source.behaviour = answer_in_order((500, {}))
    async with open_source_gateway(source, attempts=1) as gateway:
        with pytest.raises(SourceUnavailable):
            await fetch(gateway)

        assert (await fetch(gateway)).status == 200


@pytest.mark.parametrize(
    ("answer", "words", "request_number"),
    [((400, {}), "status 400", 1), ((302, {"Location": "/api/papers/1"}), "more than 3 times", 4)],
)
async def test_rejected_requests_and_endless_redirects_are_not_retried(
    source: SmallSource, answer: tuple[int, dict[str, str]], words: str, request_number: int
) -> None:
    source.behaviour = answer_in_order(*[answer] * 50)
    async with open_source_gateway(source) as gateway:
        with pytest.raises(SourceRefused, match=words):
            await fetch(gateway)

    assert len(source.paths) == request_number


@pytest.mark.parametrize(("key", "words"), [("", "Set ASSAYER_S2__API_KEY"), ("k", "Check ASSAYER_S2__API_KEY")])
async def test_missing_or_wrong_key_error_names_its_setting(source: SmallSource, key: str, words: str) -> None:
    source.behaviour = answer_in_order((401, {}))
    async with open_source_gateway(source, SemanticScholarSettings, api_key=SecretStr(key)) as gateway:
        with pytest.raises(SourceRefused, match=words):
            await fetch(gateway)


async def test_same_host_redirect_is_followed_after_the_request_spacing(source: SmallSource) -> None:
    source.behaviour = answer_in_order((301, {"Location": "/api/papers/merged"}))
    async with open_source_gateway(source, connections=1, spacing_seconds=0.1) as gateway:
        assert (await fetch(gateway)).body == b"about papers/merged"

    assert source.arrivals[1] - source.arrivals[0] >= 0.1


async def test_redirect_to_another_host_is_rejected(source: SmallSource) -> None:
    async with SmallSource() as other_source:
        source.behaviour = answer_in_order((302, {"Location": f"{other_source.url}/papers/1"}))
        async with open_source_gateway(source) as gateway:
            with pytest.raises(SourceRefused, match="redirected from"):
                await fetch(gateway)
        assert other_source.paths == []


async def test_failures_behind_a_redirect_count_for_the_circuit_breaker(source: SmallSource) -> None:
    async def behave(request: ReceivedRequest) -> web.StreamResponse:
        if request.path == "behind":
            return web.Response(status=500)
        return web.Response(status=302, headers={"Location": "/api/behind"})

    source.behaviour = behave
    async with open_source_gateway(source, attempts=1, breaker_failures=2) as gateway:
        for number in range(2):
            with pytest.raises(SourceUnavailable, match="did not answer"):
                await fetch(gateway, f"papers/{number}")
        with pytest.raises(SourceUnavailable, match="are suspended"):
            await fetch(gateway, "papers/3")
    assert len(source.paths) == 4


async def test_answer_that_is_too_large_is_refused(source: SmallSource) -> None:
    async def behave(_: ReceivedRequest) -> web.StreamResponse:
        response = web.Response(body=b"0" * 3_000_000)
        response.enable_compression()
        return response

    source.behaviour = behave
    async with open_source_gateway(source) as gateway:
        with pytest.raises(SourceRefused, match="larger than 1,000,000 bytes"):
            await gateway.fetch(call(max_bytes=1_000_000), RequestContext("ev", 60))
        assert len((await gateway.fetch(call(max_bytes=3_000_000), RequestContext("ev", 60))).body) == 3_000_000


async def test_api_key_and_email_are_masked_in_errors_and_logs(
    source: SmallSource, caplog: pytest.LogCaptureFixture
) -> None:
    async def behave(request: ReceivedRequest) -> web.StreamResponse:
        if request.path == "echo":
            return web.Response(status=400, text=f"bad request: {request.request.path_qs}")
        return web.Response(status=500, text=f"{request.query}")

    source.behaviour = behave
    caplog.set_level(logging.DEBUG)
    identity: dict[str, Any] = {"api_key": SecretStr("s3cret"), "email": "me@example.org"}
    errors = []
    async with open_source_gateway(source, OpenAlexSettings, **identity, attempts=5, breaker_failures=5) as gateway:
        for path in ("echo", "fails"):
            with pytest.raises((SourceRefused, SourceUnavailable)) as caught:
                await fetch(gateway, path)
            errors.append(caught.value)
        messages = [str(error) for error in errors] + [repr(error.__cause__) for error in errors]

    assert source.asked[0].query == {"api_key": "s3cret", "mailto": "me@example.org"}
    assert "echo" in messages[0]
    visible_text = " ".join(messages) + caplog.text
    assert "s3cret" not in visible_text
    assert "example.org" not in visible_text


async def test_shared_state_error_is_raised_unchanged(source: SmallSource) -> None:
    class Gone(InMemorySharedState):
        async def change(self, key: str, work: Callable[[str, float], tuple[str, Any]]) -> Any:
            raise StorageError(f"No {key}.")

    settings = SourceSettings(base_url=source.url)
    async with SourceGateway({"small": settings}, InMemoryResponseCache(CLOCK), Gone(CLOCK), CLOCK) as gateway:
        with pytest.raises(StorageError):
            await fetch(gateway)


async def test_closing_gateway_ends_all_pending_fetches(source: SmallSource) -> None:
    source.behaviour = HeldRequests()
    async with open_source_gateway(source, connections=1) as gateway:
        waiting = [asyncio.create_task(fetch(gateway, f"papers/{number}")) for number in range(5)]
        await source.has_been_asked(1)

    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(outcome, SourceUnavailable) for outcome in outcomes)


async def test_closing_gateway_ends_a_just_started_fetch(source: SmallSource) -> None:
    async with open_source_gateway(source) as gateway:
        just = asyncio.create_task(fetch(gateway))
        await asyncio.sleep(0)

    with pytest.raises(SourceUnavailable, match="stopping"):
        await just


async def test_bodies_are_not_kept_after_delivery(source: SmallSource, database: Database) -> None:
    async def behave(request: ReceivedRequest) -> web.StreamResponse:
        return web.Response(body=request.path.encode() * 10_000)

    source.behaviour = behave
    settings = SourceSettings(base_url=source.url, **QUICK)
    async with SourceGateway({"small": settings}, PgResponseCache(database), PgSharedState(database), CLOCK) as gateway:

        async def fetch_length(number: int) -> int:
            return len((await fetch(gateway, f"p{number % 4}", owner=f"e{number}", patience=900)).body)

        assert await asyncio.gather(*(fetch_length(number) for number in range(20))) == [20_000] * 20
        gc.collect()
        # Asking some of the others for more than their type makes them load what they stand for.
        kept_responses = [
            item for item in gc.get_objects() if type(item) is SourceResponse and len(item.body) == 20_000
        ]

    assert kept_responses == []
