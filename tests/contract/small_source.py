"""Remote source on the loopback interface with scripted answers. It timestamps requests with its own clock."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Self

from aiohttp import web
from multidict import CIMultiDict

Behaviour = Callable[["ReceivedRequest"], Awaitable[web.StreamResponse]]


class ReceivedRequest:
    """One request as it arrived."""

    def __init__(self, request: web.Request, number: int, body: str) -> None:
        self.request = request
        self.number = number
        """0 for the first."""
        self.path = request.path.removeprefix("/api/")
        self.query = dict(request.query)
        self.headers = CIMultiDict(request.headers)
        self.method = request.method
        self.body = body


class SmallSource:
    """`behaviour` decides every answer; it says `about PATH` until a test changes it."""

    def __init__(self) -> None:
        self.behaviour: Behaviour = _describe_request
        self.arrivals: list[float] = []
        self.asked: list[ReceivedRequest] = []
        self.in_flight = 0
        self.peak = 0
        self.arrived = asyncio.Condition()

    async def __aenter__(self) -> Self:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(application, access_log=None, handler_cancellation=True, shutdown_timeout=0.5)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port: int = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.asked]

    async def has_been_asked(self, times: int) -> None:
        async with self.arrived:
            await self.arrived.wait_for(lambda: len(self.asked) >= times)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.arrivals.append(time.monotonic())
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            request_record = ReceivedRequest(request, len(self.asked), await request.text())
            async with self.arrived:
                self.asked.append(request_record)
                self.arrived.notify_all()
            return await self.behaviour(request_record)
        finally:
            self.in_flight -= 1


async def _describe_request(request: ReceivedRequest) -> web.StreamResponse:
    return web.Response(text=f"about {request.path}")


def answer_in_order(*scripted: tuple[int, Mapping[str, str]]) -> Behaviour:
    """Statuses and headers in order; from then on as a source that is well."""

    async def behave(request: ReceivedRequest) -> web.StreamResponse:
        if request.number >= len(scripted):
            return await _describe_request(request)
        status, headers = scripted[request.number]
        return web.Response(status=status, headers=headers, text=f"status {status} it is")

    return behave
