"""An HTTP server on loopback that speaks the OpenAI protocol from a script."""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web


@dataclass(frozen=True)
class Reply:
    status: int
    body: object
    """JSON, unless it is a string."""
    headers: Mapping[str, str] = field(default_factory=dict)


class Dropped:
    """The connection is cut instead of answered."""


Script = Reply | Dropped


def say(
    text: str | None,
    finish_reason: str = "stop",
    refusal: str | None = None,
    usage: tuple[int, int] | None = (100, 20),
) -> Reply:
    message = {"role": "assistant", "content": text, "refusal": refusal}
    body: dict[str, object] = {
        "id": "c",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
    }
    if usage is not None:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return Reply(200, body)


def refuse(status: int, message: str, code: str | None = None, **headers: str) -> Reply:
    """Header names are given with underscores."""
    error = {"message": message, "type": "error", "code": code, "param": None}
    return Reply(status, {"error": error}, {key.replace("_", "-"): value for key, value in headers.items()})


class ScriptedLlm:
    """Endpoint that replies from a script in order, then with `otherwise`."""

    def __init__(self, *script: Script, otherwise: Callable[[dict[str, Any]], Script] | None = None) -> None:
        self.script = deque(script)
        self.otherwise = otherwise
        self.requests: list[dict[str, Any]] = []
        """Bodies, in order of arrival."""
        self.authorizations: list[str] = []
        self.connections: set[tuple[str, int]] = set()
        """Client addresses seen: one for each TCP connection."""
        self.seconds = 0.0
        """Seconds that every answer takes."""
        self.open = asyncio.Event()
        """While it is clear, requests wait."""
        self.open.set()
        self.arrived = asyncio.Event()
        self.in_flight = 0
        self.peak = 0

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=2**24)
        app.router.add_post("/v1/chat/completions", self._answer)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, backlog=2048)
        await site.start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.open.set()
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(await request.json())
        self.authorizations.append(request.headers.get("authorization", ""))
        if request.transport is not None:
            self.connections.add(request.transport.get_extra_info("peername"))
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        self.arrived.set()
        try:
            await self.open.wait()
            if self.seconds:
                await asyncio.sleep(self.seconds)
            return self._send_reply(request, self._take_next(self.requests[-1]))
        finally:
            self.in_flight -= 1

    def _take_next(self, body: dict[str, Any]) -> Script:
        if self.script:
            return self.script.popleft()
        if self.otherwise is None:
            return refuse(500, "The script is at its end.")
        return self.otherwise(body)

    def _send_reply(self, request: web.Request, reply: Script) -> web.StreamResponse:
        if isinstance(reply, Dropped):
            if request.transport is not None:
                request.transport.close()
            return web.Response()
        if isinstance(reply.body, str):
            return web.Response(status=reply.status, text=reply.body, headers=reply.headers)
        text = json.dumps(reply.body)
        return web.Response(status=reply.status, text=text, content_type="application/json", headers=reply.headers)
