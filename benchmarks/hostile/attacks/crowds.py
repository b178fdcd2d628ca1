"""Attacks with many requests. Each runs for some seconds in a separate process, so that it slows down only the service.

Each is limited in time and returns the number of responses by status, or by a word if there was no response.
"""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

import httpx2

from benchmarks.hostile.attacks.target import Target

_SLOW = 300
_ANONYMOUS = 256
_BODY_SECONDS = 20.0
"""Seconds after which the service refuses such a body, by default."""
_RETRY_SECONDS = 0.1
_STREAMS = 512
_TABLES_AT_ONCE = 4
_COLUMNS = 40_000
_ANSWER_SECONDS = 60.0
_LAST = 19
"""Lowest scheduling priority (`nice` value)."""


async def slow_bodies(target: Target, seconds: float) -> Counter[str]:
    """Open 300 connections that each send one byte of a body per second."""
    head = (
        f"POST /v1/evaluations HTTP/1.1\r\nAuthorization: Bearer {_key(target, 0)}\r\n"
        "Content-Type: application/json\r\nContent-Length: 100000\r\n"
    )
    end = time.monotonic() + seconds
    return await _all(_SLOW, lambda number: _slow_body(target, head, end))


async def anonymous_bodies(target: Target, seconds: float) -> Counter[str]:
    """Keep 256 connections open that send endless bodies without a key, and open each again once it is refused."""
    head = (
        "POST /console/sign-in HTTP/1.1\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n"
    )
    end = time.monotonic() + seconds
    found: Counter[str] = Counter()

    async def send(_: int) -> str:
        while True:
            came_back = await _slow_body(target, head, end)
            if time.monotonic() >= end:
                return came_back
            found[came_back] += 1
            await asyncio.sleep(_RETRY_SECONDS)

    return await _all(_ANONYMOUS, send) + found


async def streams(target: Target, seconds: float) -> Counter[str]:
    """Open 512 event streams of one tenant."""
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx2.AsyncClient(base_url=target.url, timeout=_ANSWER_SECONDS, limits=limits) as client:
        return await _all(_STREAMS, lambda number: _stream(client, target, number, seconds))


async def wide_tables(target: Target, seconds: float) -> Counter[str]:
    """Send tables of 40,000 columns, four at a time."""
    csv_text = ",".join(f"c{number}" for number in range(_COLUMNS)) + ",text\n" + "," * _COLUMNS + "a\n"
    headers = {"Content-Type": "text/csv"}
    return await _closed_loop(target, seconds, _TABLES_AT_ONCE, "POST", "/v1/batches", csv_text.encode(), headers)


async def minted_keys(target: Target, seconds: float) -> Counter[str]:
    """Send requests with 60 keys of one tenant, each as soon as its previous one is answered."""
    return await _closed_loop(target, seconds, len(target.attackers), "GET", "/v1/evaluations")


CROWDS: Mapping[str, Callable[[Target, float], Awaitable[Counter[str]]]] = {
    "slow bodies": slow_bodies,
    "anonymous bodies": anonymous_bodies,
    "event streams": streams,
    "wide tables": wide_tables,
    "minted keys": minted_keys,
}


def run_crowd(name: str, target: Target, seconds: float) -> Counter[str]:
    """Run an attack in its own process, at the lowest priority so that the service gets the processor: real
    attackers use their own machines."""
    os.nice(_LAST)

    async def run() -> Counter[str]:
        return await CROWDS[name](target, seconds)

    return asyncio.run(run())


async def _all(count: int, item: Callable[[int], Awaitable[str]]) -> Counter[str]:
    return Counter(await asyncio.gather(*(item(number) for number in range(count))))


def _key(target: Target, number: int) -> str:
    return target.attackers[number % len(target.attackers)]


async def _slow_body(target: Target, head: str, end: float) -> str:
    """Send one byte of a body per second until it is refused or the time ends; return the status."""
    began = time.monotonic()
    piece = b"1\r\n \r\n" if "chunked" in head else b" "
    writer = None
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
        writer.write(f"{head}Host: a\r\n\r\n".encode() + piece)
        answer = asyncio.create_task(reader.readline())
        while not answer.done() and time.monotonic() < end:
            await asyncio.wait({answer}, timeout=1.0)
            writer.write(piece)
        if not answer.done():
            answer.cancel()
            return "held on" if time.monotonic() - began > _BODY_SECONDS else "open at the end"
        return answer.result().decode("latin-1").split()[1]
    except (OSError, IndexError):
        return "closed"
    finally:
        if writer is not None:
            writer.close()


async def _stream(client: httpx2.AsyncClient, target: Target, number: int, seconds: float) -> str:
    headers = {"Authorization": f"Bearer {_key(target, number)}"}
    status = "no answer"
    with suppress(TimeoutError, httpx2.HTTPError):
        async with (
            asyncio.timeout(seconds),
            client.stream("GET", f"/v1/batches/{target.batch}/events", headers=headers) as answer,
        ):
            status = str(answer.status_code)
            async for _ in answer.aiter_bytes():
                continue
    return status


async def _closed_loop(
    target: Target,
    seconds: float,
    callers: int,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Counter[str]:
    """Let callers, each with its own key, send the next request as soon as the previous one has been answered."""
    end = time.monotonic() + seconds
    outcomes: Counter[str] = Counter()

    async def call(number: int) -> None:
        request_headers = {**(headers or {}), "Authorization": f"Bearer {_key(target, number)}"}
        async with httpx2.AsyncClient(base_url=target.url, timeout=_ANSWER_SECONDS) as client:
            while time.monotonic() < end:
                try:
                    answer = await client.request(method, path, content=body, headers=request_headers)
                except httpx2.HTTPError as error:
                    outcomes[type(error).__name__] += 1
                else:
                    outcomes[str(answer.status_code)] += 1

    await asyncio.gather(*map(call, range(callers)))
    return outcomes
