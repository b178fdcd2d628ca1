"""Users of the service during a soak: submitters, readers of the API, people in the console, a receiver of webhooks."""

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

import httpx2
from aiohttp import web

from benchmarks.chaos.__main__ import generate_texts

_REQUEST_SECONDS = 60.0
_FAILING_SHARE = 1 / 3


class Answer(NamedTuple):
    """One request and its answer."""

    at: float
    """Time of the request, in seconds since the start."""
    route: str
    seconds: float
    status: int
    """HTTP status; 0 if there was no answer."""


class Pace(NamedTuple):
    """Mean seconds between two actions of each kind."""

    single: float = 25.0
    batch: float = 300.0
    read: float = 2.0
    page: float = 3.0


@dataclass
class Traffic:
    address: str
    key: str
    seed: int
    pace: Pace
    rows: int = 12
    """Rows of one batch."""
    began: float = field(default_factory=time.monotonic)
    answers: list[Answer] = field(default_factory=list)
    evaluations: list[str] = field(default_factory=list)
    batches: list[str] = field(default_factory=list)

    async def run(self) -> None:
        """Send requests until cancelled."""
        self._random = Random(f"soak {self.seed}")
        texts = itertools.count()
        async with (
            httpx2.AsyncClient(
                base_url=self.address, headers={"Authorization": f"Bearer {self.key}"}, timeout=_REQUEST_SECONDS
            ) as api,
            httpx2.AsyncClient(base_url=self.address, timeout=_REQUEST_SECONDS) as browser,
            asyncio.TaskGroup() as group,
        ):
            group.create_task(self._repeat(self.pace.single, lambda: self._submit(api, next(texts))))
            group.create_task(self._repeat(self.pace.batch, lambda: self._submit_batch(api, next(texts))))
            group.create_task(self._repeat(self.pace.read, lambda: self._read(api)))
            group.create_task(self._repeat(self.pace.page, lambda: self._open_page(browser)))

    async def _repeat(self, mean: float, act: Callable[[], Awaitable[None]]) -> None:
        while True:
            await act()
            await asyncio.sleep(self._random.expovariate(1 / mean))

    async def _submit(self, api: httpx2.AsyncClient, number: int) -> None:
        (text,) = generate_texts(number + 1)[-1:]
        body = {"idea": {"text": text}}
        response = await self._ask(api, "POST", "/v1/evaluations", "/v1/evaluations", json=body)
        if response is not None and response.is_success:
            self.evaluations.append(response.json()["id"])

    async def _submit_batch(self, api: httpx2.AsyncClient, number: int) -> None:
        rows = [
            {"title": f"Row {row} of batch {number}", "text": f"{text}\n\nBatch {number}."}
            for row, text in enumerate(generate_texts(self.rows))
        ]
        lines = "".join(f"{json.dumps(row)}\n" for row in rows)
        headers = {"Content-Type": "application/jsonl"}
        response = await self._ask(api, "POST", "/v1/batches", "/v1/batches", content=lines, headers=headers)
        if response is not None and response.is_success:
            self.batches.append(response.json()["id"])

    async def _read(self, api: httpx2.AsyncClient) -> None:
        choices = [("/v1/evaluations?limit=50", "/v1/evaluations"), ("/v1/batches", "/v1/batches"), ("/readyz",) * 2]
        if self.evaluations:
            id = self._choose_recent(self.evaluations)
            choices += [
                (f"/v1/evaluations/{id}", "/v1/evaluations/{id}"),
                (f"/v1/evaluations/{id}/report", "/v1/evaluations/{id}/report"),
            ]
        if self.batches:
            choices.append((f"/v1/batches/{self._choose_recent(self.batches)}/results", "/v1/batches/{id}/results"))
        await self._ask(api, "GET", *self._random.choice(choices))

    async def _open_page(self, browser: httpx2.AsyncClient) -> None:
        if "assayer-session" not in browser.cookies:
            origin = {"Origin": self.address}
            form = {"key": self.key}
            await self._ask(browser, "POST", "/console/sign-in", "/console/sign-in", data=form, headers=origin)
            return
        choices = [("/console",) * 2]
        if self.batches:
            choices.append((f"/console/calls/{self._choose_recent(self.batches)}", "/console/calls/{id}"))
        if self.evaluations:
            choices.append((f"/console/proposals/{self._choose_recent(self.evaluations)}", "/console/proposals/{id}"))
        await self._ask(browser, "GET", *self._random.choice(choices))

    def _choose_recent(self, ids: list[str]) -> str:
        """Return one of the latest ids; older ones are aged and purged."""
        return self._random.choice(ids[-10:])

    async def _ask(
        self, client: httpx2.AsyncClient, method: str, path: str, route: str, **body: object
    ) -> httpx2.Response | None:
        start_time = time.monotonic()
        try:
            response = await client.request(method, path, **body)  # type: ignore[arg-type]
        except httpx2.HTTPError:
            response = None
        end_time = time.monotonic()
        status = 0 if response is None else response.status_code
        self.answers.append(Answer(start_time - self.began, f"{method} {route}", end_time - start_time, status))
        return response


@dataclass
class Receiver:
    url: str = ""
    received: int = 0
    refused: int = 0


@asynccontextmanager
async def run_failing_receiver(seed: int) -> AsyncIterator[Receiver]:
    """Receive webhooks on loopback, and answer a third of them with 503."""
    receiver, random = Receiver(), Random(f"receiver {seed}")

    async def handle(request: web.Request) -> web.Response:
        await request.read()
        receiver.received += 1
        fails = random.random() < _FAILING_SHARE
        receiver.refused += fails
        return web.Response(status=503 if fails else 204)

    app = web.Application()
    app.router.add_post("/hook", handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    try:
        yield receiver
    finally:
        await runner.cleanup()
