"""Layers below the application, driven message by message."""

import asyncio
import logging
import threading
from collections.abc import Callable

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive, Scope, Send

from orchestrator.batches.rows import ReadingAbandoned
from orchestrator.problems import HttpProblem
from orchestrator.settings import ApiSettings, BatchSettings
from orchestrator.web.backpressure import StreamLimit, UploadLimit
from orchestrator.web.request_log import RequestLogging, RequestRecord

SETTINGS = ApiSettings(max_streams=3, max_streams_per_tenant=2)


def make_scope() -> Scope:
    return {
        "type": "http",
        "path": "/v1/evaluations",
        "headers": [],
        "method": "POST",
        "assayer.request_record": RequestRecord("r"),
    }


def test_stream_limits_apply_per_key_and_globally_and_slots_are_released() -> None:
    streams = StreamLimit(SETTINGS)
    with streams.hold("a", {}), streams.hold("a", {}):
        assert not streams.has_room("a")
        with pytest.raises(HttpProblem), streams.hold("a", {}):
            pass
        with streams.hold("b", {}):
            assert not streams.has_room("c")
    assert streams.has_room("a")
    assert streams.has_room("c")


async def test_cancelled_stream_releases_its_slots() -> None:
    streams = StreamLimit(SETTINGS)
    slots_held = asyncio.Event()

    async def hold() -> None:
        with streams.hold("a", {}), streams.hold("a", {}):
            slots_held.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(hold())
    await slots_held.wait()
    assert not streams.has_room("a")
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert streams.has_room("a")


async def test_upload_reading_stops_when_client_disconnects() -> None:
    reading_started = threading.Event()

    async def receive() -> Message:
        await asyncio.to_thread(reading_started.wait)
        return {"type": "http.disconnect"}

    def read_until_abandoned(is_abandoned: Callable[[], bool]) -> None:
        reading_started.set()
        while not is_abandoned():
            continue
        raise ReadingAbandoned

    uploads = UploadLimit(BatchSettings(at_once=1))
    request = Request(make_scope(), receive)
    async with asyncio.timeout(30):
        with pytest.raises(ClientDisconnect):
            await uploads.parse(request, "acme", read_until_abandoned)
        assert await uploads.parse(request, "acme", lambda _: "next") == "next"


async def test_client_disconnect_during_body_is_logged_as_499(caplog: pytest.LogCaptureFixture) -> None:
    async def application(scope: Scope, receive: Receive, _: Send) -> None:
        await Request(scope, receive).body()

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    answers: list[Message] = []

    async def send(message: Message) -> None:
        answers.append(message)

    with caplog.at_level(logging.INFO):
        await RequestLogging(application, lambda _: "req_1")(make_scope(), receive, send)
    (line,) = caplog.records
    assert (line.levelname, vars(line)["told"]["status"], answers) == ("INFO", 499, [])


def make_request_of_waiting_client() -> Request:
    async def receive_after_disconnect() -> Message:
        await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    return Request(make_scope(), receive_after_disconnect)


async def test_uploads_by_a_tenant_leave_a_slot_for_other_tenants() -> None:
    uploads, leave = UploadLimit(BatchSettings(at_once=2)), threading.Event()
    async with asyncio.TaskGroup() as tasks:
        for _ in range(3):
            tasks.create_task(uploads.parse(make_request_of_waiting_client(), "acme", lambda _: leave.wait()))
        assert await uploads.parse(make_request_of_waiting_client(), "other", lambda _: "read") == "read"
        leave.set()


async def test_slow_upload_parsing_is_rejected_and_stopped() -> None:
    def parse_until_abandoned(is_abandoned: Callable[[], bool]) -> str:
        while not is_abandoned():
            continue
        raise ReadingAbandoned

    with pytest.raises(HttpProblem, match="smaller parts") as refusal:
        await UploadLimit(BatchSettings(reading_seconds=0.01)).parse(
            make_request_of_waiting_client(), "acme", parse_until_abandoned
        )
    assert refusal.value.status_code == 413
