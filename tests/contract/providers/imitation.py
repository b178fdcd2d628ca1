"""A server on loopback that imitates one quirk of a provider."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from aiohttp import web

from cluster.clock import SystemClock
from tests.contract.llm_gateways import SECRET
from tests.contract.weighing import an_answer
from workers.llm import LlmSettings
from workers.llm.gateway import LlmGateway
from workers.outbound.store import InMemoryAnswerStore

GOOD = an_answer()


class ProviderRequest(NamedTuple):
    """One request as the provider sees it."""

    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: dict[str, Any]
    number: int
    """Number of requests for answers so far, including this one."""

    @property
    def form(self) -> str:
        return str((self.body.get("response_format") or {}).get("type", ""))

    @property
    def text(self) -> str:
        return "\n".join(message["content"] for message in self.body["messages"])

    @property
    def tokens(self) -> int:
        """Tokens of the prompt as the provider counts them."""
        return len(self.text) // 4

    @property
    def max_output_tokens(self) -> int:
        return int(self.body.get("max_tokens") or self.body.get("max_completion_tokens") or 0)


class Reply(NamedTuple):
    status: int
    body: object
    """JSON, unless it is a string or bytes."""
    content_type: str = "application/json"
    headers: Mapping[str, str] = {}


Quirk = Callable[[ProviderRequest], Reply | None]
"""Response of the provider; None for an ordinary answer."""


def build_completion(content: object, finish_reason: object = "stop", usage: object = None, **message: Any) -> Reply:
    """A chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}}
    counts = {"prompt_tokens": 100, "completion_tokens": 20} if usage is None else usage
    body = {"id": "c", "object": "chat.completion", "choices": [{**choice, "finish_reason": finish_reason}]}
    return Reply(200, {**body, "usage": counts})


def build_web_page(title: str, status: int = 200, content_type: str = "text/html") -> Reply:
    """A web page, as a proxy or a sign-in page of a network sends."""
    styles = "<style>p > a { color: red }</style>"
    head = f'<head><meta charset="utf-8"><title>\n{title}</title>{styles}</head>'
    return Reply(
        status, f"<!DOCTYPE html>\n<html>{head}<body><p>Ask your administrator.</p></body></html>", content_type
    )


def build_events(*items: object) -> Reply:
    """A stream of events; texts are sent as they are."""
    lines = [item if isinstance(item, str) else f"data: {json.dumps(item)}" for item in items]
    return Reply(200, "\n\n".join([*lines, ""]), "text/event-stream")


def build_error(status: int, message: str, **fields: Any) -> Reply:
    """A refusal in OpenAI's form."""
    return Reply(status, {"error": {"message": message, "type": "invalid_request_error", **fields}})


@dataclass
class ImitatedProvider:
    quirk: Quirk
    listed: object = None
    """Response to `GET /models`; None if the path does not exist."""
    props: object = None
    """Response to `GET /props`, which llama.cpp has."""
    requests: list[ProviderRequest] = field(default_factory=list)
    """Requests for answers, in order of arrival."""

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=2**24)
        app.router.add_route("*", "/{path:.*}", self._respond)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.address = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _respond(self, request: web.Request) -> web.Response:
        if request.method == "GET":
            answer = self.props if request.path == "/props" else self.listed
            return web.json_response(answer, status=404 if answer is None else 200)
        body = await request.json()
        recorded_request = ProviderRequest(request.path, request.query, request.headers, body, len(self.requests) + 1)
        self.requests.append(recorded_request)
        reply = self.quirk(recorded_request) or build_completion(GOOD)
        body = reply.body
        if not isinstance(body, bytes):
            body = (body if isinstance(body, str) else json.dumps(body)).encode()
        headers = {"Content-Type": reply.content_type, **reply.headers}
        return web.Response(status=reply.status, body=body, headers=headers)


def open_gateway(provider: ImitatedProvider, path: str = "/v1", **settings: object) -> LlmGateway:
    fields = {"base_url": provider.address + path, "api_key": SECRET, "model": "m", "backoff_initial_seconds": 0.001}
    return LlmGateway(LlmSettings.model_validate(fields | settings), InMemoryAnswerStore(), SystemClock())
