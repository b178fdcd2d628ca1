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

_SLOW_CONNECTIONS = 300
_ANONYMOUS_CONNECTIONS = 256
_BODY_SECONDS = 20.0
"""Seconds after which the service refuses such a body, by default."""
_RETRY_SECONDS = 0.1
_STREAM_COUNT = 512
_TABLES_AT_ONCE = 4
_COLUMNS = 40_000
_ANSWER_SECONDS = 60.0
_LOWEST_PRIORITY = 19
"""Lowest scheduling priority (`nice` value)."""


async def send_slow_bodies(target: Target, seconds: float) -> Counter[str]:
    """Open 300 connections that each send one byte of a body per second."""
    head = (
        f"POST /v1/evaluations HTTP/1.1\r\nAuthorization: Bearer {_choose_key(target, 0)}\r\n"
        "Content-Type: application/json\r\nContent-Length: 100000\r\n"
    )
    deadline = time.monotonic() + seconds
    return await _gather_outcomes(_SLOW_CONNECTIONS, lambda number: _send_slow_body(target, head, deadline))


async def send_anonymous_bodies(target: Target, seconds: float) -> Counter[str]:
    """Keep 256 connections open that send endless bodies without a key, and open each again once it is refused."""
    head = (
        "POST /console/sign-in HTTP/1.1\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n"
    )
    deadline = time.monotonic() + seconds
    outcomes: Counter[str] = Counter()

    async def send(_: int) -> str:
        while True:
            outcome = await _send_slow_body(target, head, deadline)
            if time.monotonic() >= deadline:
                return outcome
            outcomes[outcome] += 1
            await asyncio.sleep(_RETRY_SECONDS)

    return await _gather_outcomes(_ANONYMOUS_CONNECTIONS, send) + outcomes


async def open_streams(target: Target, seconds: float) -> Counter[str]:
    """Open 512 event streams of one tenant."""
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx2.AsyncClient(base_url=target.url, timeout=_ANSWER_SECONDS, limits=limits) as client:
        return await _gather_outcomes(_STREAM_COUNT, lambda number: _read_stream(client, target, number, seconds))


async def send_wide_tables(target: Target, seconds: float) -> Counter[str]:
    """Send tables of 40,000 columns, four at a time."""
    csv_text = ",".join(f"c{number}" for number in range(_COLUMNS)) + ",text\n" + "," * _COLUMNS + "a\n"
    headers = {"Content-Type": "text/csv"}
    return await _send_in_closed_loop(
        target, seconds, _TABLES_AT_ONCE, "POST", "/v1/batches", csv_text.encode(), headers
    )


async def use_many_keys(target: Target, seconds: float) -> Counter[str]:
    """Send requests with 60 keys of one tenant, each as soon as its previous one is answered."""
    return await _send_in_closed_loop(target, seconds, len(target.attacker_keys), "GET", "/v1/evaluations")


CROWDS: Mapping[str, Callable[[Target, float], Awaitable[Counter[str]]]] = {
    "slow bodies": send_slow_bodies,
    "anonymous bodies": send_anonymous_bodies,
    "event streams": open_streams,
    "wide tables": send_wide_tables,
    "minted keys": use_many_keys,
}


def run_crowd(name: str, target: Target, seconds: float) -> Counter[str]:
    """Run an attack in its own process, at the lowest priority so that the service gets the processor: real
    attackers use their own machines."""
    os.nice(_LOWEST_PRIORITY)

    async def run() -> Counter[str]:
        return await CROWDS[name](target, seconds)

    return asyncio.run(run())


async def _gather_outcomes(count: int, send: Callable[[int], Awaitable[str]]) -> Counter[str]:
    return Counter(await asyncio.gather(*(send(number) for number in range(count))))


def _choose_key(target: Target, number: int) -> str:
    return target.attacker_keys[number % len(target.attacker_keys)]


async def _send_slow_body(target: Target, head: str, deadline: float) -> str:
    """Send one byte of a body per second until it is refused or the time ends; return the status."""
    began = time.monotonic()
    piece = b"1\r\n \r\n" if "chunked" in head else b" "
    writer = None
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
        writer.write(f"{head}Host: a\r\n\r\n".encode() + piece)
        status_line = asyncio.create_task(reader.readline())
        while not status_line.done() and time.monotonic() < deadline:
            await asyncio.wait({status_line}, timeout=1.0)
            writer.write(piece)
        if not status_line.done():
            status_line.cancel()
            return "held on" if time.monotonic() - began > _BODY_SECONDS else "open at the end"
        return status_line.result().decode("latin-1").split()[1]
    except (OSError, IndexError):
        return "closed"
    finally:
        if writer is not None:
            writer.close()


async def _read_stream(client: httpx2.AsyncClient, target: Target, number: int, seconds: float) -> str:
    headers = {"Authorization": f"Bearer {_choose_key(target, number)}"}
    status = "no answer"
    with suppress(TimeoutError, httpx2.HTTPError):
        async with (
            asyncio.timeout(seconds),
            client.stream("GET", f"/v1/batches/{target.batch}/events", headers=headers) as response,
        ):
            status = str(response.status_code)
            async for _ in response.aiter_bytes():
                continue
    return status


async def _send_in_closed_loop(
    target: Target,
    seconds: float,
    callers: int,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Counter[str]:
    """Let callers, each with its own key, send the next request as soon as the previous one has been answered."""
    deadline = time.monotonic() + seconds
    outcomes: Counter[str] = Counter()

    async def call(number: int) -> None:
        request_headers = {**(headers or {}), "Authorization": f"Bearer {_choose_key(target, number)}"}
        async with httpx2.AsyncClient(base_url=target.url, timeout=_ANSWER_SECONDS) as client:
            while time.monotonic() < deadline:
                try:
                    response = await client.request(method, path, content=body, headers=request_headers)
                except httpx2.HTTPError as error:
                    outcomes[type(error).__name__] += 1
                else:
                    outcomes[str(response.status_code)] += 1

    await asyncio.gather(*map(call, range(callers)))
    return outcomes
