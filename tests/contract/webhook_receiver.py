"""Webhook receiver with scripted answers that records the requests."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from aiohttp import web
from aiohttp.test_utils import TestServer


class Message(NamedTuple):
    headers: dict[str, str]
    text: str

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def payload(self) -> dict[str, Any]:
        payload: dict[str, Any] = json.loads(self.text)
        return payload


class Receiver:
    def __init__(self) -> None:
        self.url = ""
        self.status = 204
        self.open = asyncio.Event()
        """While it is not set, requests hang."""
        self.open.set()
        self.messages: list[Message] = []
        self._came = asyncio.Condition()

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.text()
        headers = {name.lower(): value for name, value in request.headers.items()}
        async with self._came:
            self.messages.append(Message(headers, body))
            self._came.notify_all()
        await self.open.wait()
        return web.Response(status=self.status, headers={"Location": "http://127.0.0.1:9/elsewhere"})

    async def receive(self, count: int) -> list[Message]:
        async with asyncio.timeout(30), self._came:
            await self._came.wait_for(lambda: len(self.messages) >= count)
        return self.messages


@asynccontextmanager
async def run_receiver() -> AsyncIterator[Receiver]:
    new_receiver = Receiver()
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", new_receiver.handle)
    async with TestServer(app, host="127.0.0.1") as server:
        new_receiver.url = str(server.make_url("/hook"))
        try:
            yield new_receiver
        finally:
            new_receiver.open.set()
