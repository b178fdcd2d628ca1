"""Bodies that are too large, too slow or too many, driven message by message."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable
from types import SimpleNamespace

import pytest
from starlette.types import Message, Receive, Scope, Send

from orchestrator.problems import HttpProblem
from orchestrator.settings import ApiSettings
from orchestrator.web.body_limit import BodyLimit
from orchestrator.web.request_log import RequestRecord

LAST: Message = {"type": "http.request", "body": b"x", "more_body": False}
SETTINGS = ApiSettings(
    body_seconds=0.5,
    least_body_rate=1_000,
    max_bodies_per_tenant=2,
    max_body_bytes=5_000,
    max_upload_bytes=9_000,
    max_json_values=1_000,
)


def make_body_limit(settings: ApiSettings = SETTINGS, **clock: Callable[[], float]) -> BodyLimit:
    async def application(_: Scope, receive: Receive, __: Send) -> None:
        while (await receive()).get("more_body"):
            continue

    return BodyLimit(application, settings, re.compile("/v1/batches"), **clock)


async def send_body(
    guard: BodyLimit,
    receive: Callable[[], Awaitable[Message]],
    tenant: str | None = "acme",
    *,
    path: str = "/v1/evaluations",
    headers: Iterable[tuple[bytes, bytes]] = ((b"transfer-encoding", b"chunked"),),
) -> int:
    """Return the status with which a request is refused; 200 if its whole body arrives."""
    statuses = []

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope = {
        "type": "http",
        "path": path,
        "method": "POST",
        "headers": list(headers),
        "assayer.caller": None if tenant is None else SimpleNamespace(tenant=tenant),
        "assayer.request_record": RequestRecord("r"),
    }
    try:
        await guard(scope, receive, send)
    except HttpProblem as refusal:
        return refusal.status_code
    return statuses[0] if statuses else 200


def make_receive(*bodies: bytes) -> Callable[[], Awaitable[Message]]:
    parts = iter(
        {"type": "http.request", "body": body, "more_body": number < len(bodies)}
        for number, body in enumerate(bodies, 1)
    )

    async def receive() -> Message:
        return next(parts)

    return receive


async def never_receive() -> Message:
    await asyncio.Event().wait()
    return LAST


async def receive_at_once() -> Message:
    return LAST


@pytest.mark.parametrize(
    ("length", "sizes", "expected"),
    [
        (b"5000", [2_000, 3_000], 200),
        (b"5001", [], 413),
        (b"1" * 400, [], 413),
        (b"5", [3_000, 2_001, 10**6], 413),
        (b"none", [3_000, 2_001, 10**6], 413),
    ],
)
async def test_body_over_limit_is_rejected_by_declared_and_actual_size(
    length: bytes, sizes: list[int], expected: int
) -> None:
    receive = make_receive(*(b"x" * size for size in sizes))
    assert await send_body(make_body_limit(), receive, headers=[(b"content-length", length)]) == expected


async def test_batch_endpoint_has_a_separate_body_limit() -> None:
    assert await send_body(make_body_limit(), make_receive(b"x" * 9_000), path="/v1/batches") == 200
    assert await send_body(make_body_limit(), make_receive(b"x" * 9_001), path="/v1/batches") == 413


@pytest.mark.parametrize(
    ("media", "expected"),
    [
        (b"application/json", 413),
        (b"application/problem+json; charset=utf-8", 413),
        (b"application/jsonl", 200),
        (b"text/csv", 200),
    ],
)
async def test_value_count_limit_applies_only_to_json_documents(media: bytes, expected: int) -> None:
    headers = [(b"transfer-encoding", b"chunked"), (b"content-type", media)]
    assert await send_body(make_body_limit(), make_receive(*[b"1," * 300] * 5), headers=headers) == expected


@pytest.mark.parametrize("tenant", ["acme", None], ids=["known caller", "unknown caller"])
async def test_body_that_stops_arriving_is_refused_after_the_deadline(tenant: str | None) -> None:
    assert await send_body(make_body_limit(), never_receive, tenant) == 408


@pytest.mark.parametrize(("size", "expected"), [(1_000, 200), (100, 408)])
async def test_body_timeout_grows_with_received_bytes(size: int, expected: int) -> None:
    now, pieces_left = 0.0, 5

    async def receive_piece_per_second() -> Message:
        nonlocal now, pieces_left
        await asyncio.sleep(0)
        now, pieces_left = now + 1, pieces_left - 1
        return {"type": "http.request", "body": b"x" * size, "more_body": pieces_left > 0}

    assert await send_body(make_body_limit(monotonic=lambda: now), receive_piece_per_second) == expected


@pytest.mark.parametrize(("tenant", "other_tenant"), [("acme", "other"), (None, "acme")])
async def test_bodies_in_transfer_are_limited_by_tenant(tenant: str | None, other_tenant: str) -> None:
    patient = make_body_limit(SETTINGS.model_copy(update={"body_seconds": 60.0}))
    slow = [asyncio.ensure_future(send_body(patient, never_receive, tenant)) for _ in range(2)]
    await asyncio.sleep(0)
    assert await send_body(patient, receive_at_once, tenant) == 429
    assert await send_body(patient, receive_at_once, other_tenant) == 200
    slow[0].cancel()
    await asyncio.gather(slow[0], return_exceptions=True)
    assert await send_body(patient, receive_at_once, tenant) == 200
    slow[1].cancel()
    await asyncio.gather(slow[1], return_exceptions=True)


async def test_body_beyond_the_tenants_limit_is_refused_without_calling_the_application() -> None:
    called: list[str] = []

    async def application(scope: Scope, receive: Receive, _: Send) -> None:
        called.append(scope["path"])
        await receive()

    settings = SETTINGS.model_copy(update={"body_seconds": 60.0})
    guard = BodyLimit(application, settings, re.compile("/v1/batches"))
    slow = [asyncio.ensure_future(send_body(guard, never_receive)) for _ in range(2)]
    await asyncio.sleep(0)
    assert await send_body(guard, receive_at_once, path="/v1/comparisons") == 429
    assert called == ["/v1/evaluations"] * 2
    for body in slow:
        body.cancel()
    await asyncio.gather(*slow, return_exceptions=True)
