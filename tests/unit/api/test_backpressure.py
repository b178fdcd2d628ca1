"""Layers below the application, driven message by message."""

import asyncio
import logging
import re
import threading
from collections.abc import Callable, Iterator

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive, Scope, Send

from orchestrator.api.backpressure import BodyLimit, StreamLimit, UploadLimit
from orchestrator.api.problems import HttpProblem
from orchestrator.api.request_log import RequestLogging, RequestRecord
from orchestrator.batches.rows import ReadingAbandoned
from orchestrator.settings import ApiSettings, BatchSettings

SETTINGS = ApiSettings(max_body_bytes=1_000, max_upload_bytes=2_000, max_streams=3, max_streams_per_tenant=2)


def scope_of(path: str = "/v1/evaluations", length: str | None = None) -> Scope:
    headers = [] if length is None else [(b"content-length", length.encode())]
    return {"type": "http", "path": path, "headers": headers, "method": "POST", "assayer.visit": RequestRecord("r")}


async def passed(scope: Scope, sizes: list[int]) -> tuple[int, list[Message]]:
    """How many bytes of a body reach the application, and what was answered for it."""
    arrived = 0
    answers: list[Message] = []
    parts: Iterator[Message] = iter(
        {"type": "http.request", "body": b"x" * size, "more_body": number < len(sizes)}
        for number, size in enumerate(sizes, 1)
    )

    async def application(_: Scope, receive: Receive, __: Send) -> None:
        nonlocal arrived
        more = True
        while more:
            message = await receive()
            arrived += len(message["body"])
            more = message["more_body"]

    async def receive() -> Message:
        return next(parts)

    async def send(message: Message) -> None:
        answers.append(message)

    await BodyLimit(application, SETTINGS, re.compile("/v1/batches"))(scope, receive, send)
    return arrived, answers


async def test_a_body_within_the_limit_passes_whole() -> None:
    assert await passed(scope_of(length="1000"), [400, 600]) == (1_000, [])


async def test_an_announced_body_too_large_is_refused_unread() -> None:
    arrived, answers = await passed(scope_of(length="1001"), [1_001])
    assert (arrived, answers[0]["status"]) == (0, 413)


@pytest.mark.parametrize("length", [None, "5", "none", "-1", "1" * 400])
async def test_a_body_that_grows_too_large_is_refused_at_that_byte(length: str | None) -> None:
    if length == "1" * 400:
        assert (await passed(scope_of(length=length), [1]))[1][0]["status"] == 413
        return
    with pytest.raises(HTTPException) as refusal:
        await passed(scope_of(length=length), [600, 401, 10**6])
    assert refusal.value.status_code == 413


async def _answered_json(media_type: str) -> None:
    """1,500 values in five pieces."""

    async def application(_: Scope, receive: Receive, __: Send) -> None:
        while (await receive())["more_body"]:
            continue

    async def receive() -> Message:
        return next(parts)

    async def nowhere(_: Message) -> None:
        return

    parts: Iterator[Message] = iter(
        {"type": "http.request", "body": b"1," * 300, "more_body": number < 4} for number in range(5)
    )
    scope = {**scope_of(), "headers": [(b"content-type", media_type.encode())]}
    await BodyLimit(application, ApiSettings(max_json_values=1_000), re.compile("/v1/batches"))(scope, receive, nowhere)


@pytest.mark.parametrize("media_type", ["application/json", "application/problem+json; charset=utf-8"])
async def test_json_of_very_many_values_is_refused_before_it_is_read(media_type: str) -> None:
    with pytest.raises(HttpProblem, match="commas") as refusal:
        await _answered_json(media_type)
    assert refusal.value.status_code == 413


@pytest.mark.parametrize("media_type", ["application/jsonl", "text/csv"])
async def test_lines_and_tables_may_have_as_many_as_they_like(media_type: str) -> None:
    await _answered_json(media_type)


async def test_paths_that_take_many_ideas_have_a_limit_of_their_own() -> None:
    assert (await passed(scope_of("/v1/batches"), [1_500]))[0] == 1_500


def test_streams_are_bounded_by_key_and_in_all_and_their_places_come_back() -> None:
    streams = StreamLimit(SETTINGS)
    with streams.hold("a", {}), streams.hold("a", {}):
        assert not streams.has_room("a")
        with pytest.raises(HttpProblem), streams.hold("a", {}):
            pass
        with streams.hold("b", {}):
            assert not streams.has_room("c")
    assert streams.has_room("a")
    assert streams.has_room("c")


async def test_a_stream_that_is_cancelled_gives_its_place_back() -> None:
    streams = StreamLimit(SETTINGS)
    held = asyncio.Event()

    async def hold() -> None:
        with streams.hold("a", {}), streams.hold("a", {}):
            held.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(hold())
    await held.wait()
    assert not streams.has_room("a")
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert streams.has_room("a")


async def test_rows_are_read_no_further_when_the_client_has_gone() -> None:
    begun = threading.Event()

    async def receive() -> Message:
        await asyncio.to_thread(begun.wait)
        return {"type": "http.disconnect"}

    def work(is_abandoned: Callable[[], bool]) -> None:
        begun.set()
        while not is_abandoned():
            continue
        raise ReadingAbandoned

    uploads = UploadLimit(BatchSettings(at_once=1))
    request = Request(scope_of(), receive)
    async with asyncio.timeout(30):
        with pytest.raises(ClientDisconnect):
            await uploads.parse(request, "acme", work)
        assert await uploads.parse(request, "acme", lambda _: "next") == "next"


async def test_a_client_that_goes_away_in_mid_body_is_no_failure_of_the_service(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def application(scope: Scope, receive: Receive, _: Send) -> None:
        await Request(scope, receive).body()

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    answers: list[Message] = []

    async def send(message: Message) -> None:
        answers.append(message)

    with caplog.at_level(logging.INFO):
        await RequestLogging(application, lambda _: "req_1", SETTINGS)(scope_of(), receive, send)
    (line,) = caplog.records
    assert (line.levelname, vars(line)["told"]["status"], answers) == ("INFO", 499, [])


def _request_of_one_who_waits() -> Request:
    async def never() -> Message:
        await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    return Request(scope_of("/v1/batches"), never)


async def test_uploads_of_one_tenant_leave_a_place_for_those_of_another() -> None:
    uploads, leave = UploadLimit(BatchSettings(at_once=2)), threading.Event()
    async with asyncio.TaskGroup() as tasks:
        for _ in range(3):
            tasks.create_task(uploads.parse(_request_of_one_who_waits(), "acme", lambda _: leave.wait()))
        assert await uploads.parse(_request_of_one_who_waits(), "other", lambda _: "read") == "read"
        leave.set()


async def test_a_body_whose_ideas_take_too_long_to_read_is_refused_and_its_reading_ends() -> None:
    def work(is_abandoned: Callable[[], bool]) -> str:
        while not is_abandoned():
            continue
        raise ReadingAbandoned

    with pytest.raises(HttpProblem, match="several parts") as refusal:
        await UploadLimit(BatchSettings(reading_seconds=0.01)).parse(_request_of_one_who_waits(), "acme", work)
    assert refusal.value.status_code == 413
