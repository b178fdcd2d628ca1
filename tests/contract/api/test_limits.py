"""Back-pressure at a real server: bodies that are too large, requests that are too many."""

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from assayer.ideas.parsing import parse_idea
from assayer.models import Idea
from orchestrator.services import submitted_ideas
from orchestrator.store import PgTenants
from tests.contract.api.problems import check_problem
from tests.contract.api.service import BODY, OTHER, TEXT, Service, serve

_MEGABYTE = b"x" * 1_000_000
_JSON = {"Content-Type": "application/json"}


async def send_unread_body(url: str, key: str, headers: str) -> bytes:
    """Return the server's response to the request head and 3 MB of body, where no more is sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
    try:
        head = f"POST /v1/evaluations HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {key}\r\n{headers}\r\n\r\n"
        writer.write(head.encode() + (b"2DC6C0\r\n" if "chunked" in headers else b"") + 3 * _MEGABYTE)
        return await reader.readuntil(b"\r\n\r\n")
    finally:
        writer.close()


@pytest.mark.parametrize("headers", ["Content-Length: 100000000", "Transfer-Encoding: chunked"])
async def test_a_body_of_100_megabytes_is_refused_before_it_is_read(service: Service, headers: str) -> None:
    async with serve(service.app) as url, asyncio.timeout(60):
        head = await send_unread_body(url, await service.create_key(), f"{headers}\r\nContent-Type: application/json")
    assert head.startswith(b"HTTP/1.1 413")


async def test_a_body_is_not_read_before_the_key_is_known(service: Service) -> None:
    async with serve(service.app) as url, asyncio.timeout(60):
        head = await send_unread_body(url, f"ak_0_{'x' * 43}", "Content-Length: 100000000")
    assert head.startswith(b"HTTP/1.1 401")


@pytest.mark.parametrize("announced", [True, False])
async def test_client_still_sending_receives_the_413_refusal(service: Service, announced: bool) -> None:
    async def send_body() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield _MEGABYTE

    async with (
        serve(service.app) as url,
        service.open_client(await service.create_key(), url) as client,
        asyncio.timeout(60),
    ):
        headers = _JSON | ({"Content-Length": "100000000"} if announced else {})
        answer = await client.post("/v1/evaluations", content=send_body(), headers=headers)
        well = await client.post("/v1/evaluations", json=BODY)
    assert "2,000,000" in check_problem(answer, 413, "content-too-large").detail
    assert well.status_code == 202


async def test_requests_beyond_the_limit_return_503_while_health_checks_answer(service: Service) -> None:
    entered, leave = asyncio.Event(), asyncio.Event()

    class Slow(PgTenants):
        async def get(self, *_: object) -> None:
            entered.set()
            await leave.wait()

    settings = service.services.settings.model_copy(update={"max_requests": 1})
    slow = service.with_services(settings=settings, tenants=Slow(service.database))
    async with slow.open_caller("admin") as client, asyncio.TaskGroup() as tasks:
        first = tasks.create_task(client.get("/v1/tenants/acme"))
        await entered.wait()
        answer = await client.get("/v1/methods")
        alive = await client.get("/healthz")
        leave.set()
        await first
        after = await client.get("/v1/methods")
    assert check_problem(answer, 503, "busy").retry_after == int(answer.headers["retry-after"])
    assert (alive.status_code, after.status_code) == (200, 200)


@pytest.mark.parametrize("known", [True, False])
async def test_slow_bodies_of_a_tenant_do_not_block_other_tenants(service: Service, known: bool) -> None:
    limits = {"max_requests": 8, "max_bodies_per_tenant": 4, "linger_seconds": 60.0}
    narrow_service = service.with_services(settings=service.services.settings.model_copy(update=limits))
    key = await narrow_service.create_key() if known else f"ak_0_{'x' * 43}"
    head = f"POST /v1/evaluations HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {key}\r\nContent-Length: 99\r\n\r\n{{"
    async with serve(narrow_service.app) as url, asyncio.timeout(60):
        port = int(url.rpartition(":")[2])
        slow = [await asyncio.open_connection("127.0.0.1", port) for _ in range(20)]
        for _, writer in slow:
            writer.write(head.encode())
        refusals = asyncio.as_completed([asyncio.create_task(reader.readuntil(b"}")) for reader, _ in slow])
        for _ in range(16 if known else 20):
            await next(refusals)  # refused at once: too many of this tenant, or no such key
        async with narrow_service.open_client(await narrow_service.create_key(tenant=OTHER), url) as client:
            answers = [(await client.post("/v1/evaluations", json=BODY)).status_code for _ in range(10)]
        for _, writer in slow:
            writer.close()
    assert set(answers) == {202}


async def test_open_stream_does_not_count_toward_the_request_limit(service: Service) -> None:
    narrow_service = service.with_services(settings=service.services.settings.model_copy(update={"max_requests": 1}))
    async with (
        serve(narrow_service.app) as url,
        narrow_service.open_client(await narrow_service.create_key(), url) as client,
        asyncio.timeout(60),
    ):
        job = (await client.post("/v1/evaluations", json=BODY)).json()["id"]
        async with client.stream("GET", f"/v1/evaluations/{job}/events") as stream:
            lines = stream.aiter_lines()  # held: a garbage-collected reader closes the connection
            await anext(lines)
            assert (await client.get("/v1/methods")).status_code == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/evaluations", BODY),
        ("/v1/comparisons", {"first": BODY["idea"], "second": {"title": "B", "text": f"{TEXT} And more."}}),
        ("/v1/scores", {"items": [{"id": "a", "idea": BODY["idea"]}]}),
        ("/v1/references", BODY),
    ],
)
async def test_ideas_are_parsed_outside_the_event_loop(
    service: Service, monkeypatch: pytest.MonkeyPatch, path: str, body: object
) -> None:
    threads: list[threading.Thread] = []

    def record_and_parse(text: str, source: str, title: str | None = None) -> Idea:
        threads.append(threading.current_thread())
        return parse_idea(text, source, title)

    monkeypatch.setattr(submitted_ideas, "parse_idea", record_and_parse)
    assert (await service.machine.post(path, json=body)).status_code in (202, 503)
    assert threads
    assert threading.main_thread() not in threads
