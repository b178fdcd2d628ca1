"""A request to an endpoint: its headers, its proxy, and the maximum size of an answer."""

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from cluster.clock import SystemClock
from tests.contract.llm_gateways import build_settings
from tests.contract.scripted_llm import Reply, ScriptedLlm, say
from workers.llm import endpoint
from workers.llm.chat_completion import ChatMessage, ChatRequest, Requester
from workers.llm.endpoint import LlmEndpoint
from workers.llm.errors import PermanentLlmFailure, TransientLlmFailure

REQUEST = ChatRequest("m", "t", (ChatMessage("user", "Ist 1 < 2? \u2713"),), (), "{}", 100, None, None)
BASIC = f"Basic {base64.b64encode(b'name:word').decode()}"


@asynccontextmanager
async def open_endpoint(llm: ScriptedLlm, **changes: Any) -> AsyncIterator[LlmEndpoint]:
    client = LlmEndpoint(build_settings(llm, **changes), SystemClock())
    try:
        yield client
    finally:
        await client.aclose()


async def ask(client: LlmEndpoint) -> str:
    return (await client.complete(REQUEST, Requester("run"))).completion.text


@pytest.mark.parametrize(
    ("user", "key", "detail"),
    [
        ("", "sk-1", "Bearer sk-1"),
        ("", "", "Bearer none"),
        ("name:word@", "", BASIC),
        ("name:word@", "sk-1", "Bearer sk-1"),
    ],
)
async def test_api_key_takes_precedence_over_password_in_url(user: str, key: str, detail: str) -> None:
    async with ScriptedLlm(say("yes")) as llm:
        url = llm.base_url.replace("http://", f"http://{user}")
        async with open_endpoint(llm, base_url=url, api_key=key) as client:
            assert await ask(client) == "yes"
            assert "word" not in client.address
        assert llm.authorizations == [detail]
        assert llm.requests[0]["messages"][0]["content"] == "Ist 1 < 2? \u2713"


@pytest.mark.parametrize("line", ["default", "machine 127.0.0.1"])
async def test_netrc_is_not_read(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text(f"{line} login me password word\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HOME", str(tmp_path))
    async with ScriptedLlm(say("yes")) as llm, open_endpoint(llm, api_key="sk-1") as client:
        assert await ask(client) == "yes"
        assert llm.authorizations == ["Bearer sk-1"]


async def test_environment_proxy_is_used_except_for_excluded_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    proxied: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        proxied.append(str(request.url))
        return web.json_response({"choices": [{"message": {"content": "proxied"}}]})

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{runner.addresses[0][1]}")
    try:
        async with ScriptedLlm(say("direct")) as llm:
            monkeypatch.setenv("no_proxy", "")
            async with open_endpoint(llm, base_url="http://llm.example.org/v1") as client:
                assert await ask(client) == "proxied"
            monkeypatch.setenv("no_proxy", "127.0.0.1")
            async with open_endpoint(llm) as client:
                assert await ask(client) == "direct"
    finally:
        await runner.cleanup()
    assert proxied == ["http://llm.example.org/v1/chat/completions"]


async def test_oversized_response_is_aborted_as_transient_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "MAX_BYTES", 1_000)
    async with ScriptedLlm(Reply(200, " " * 5_000), say("yes")) as llm, open_endpoint(llm) as client:
        with pytest.raises(TransientLlmFailure, match="larger than 1,000 bytes"):
            await ask(client)
        assert await ask(client) == "yes"


DEEP = ("[" * 200_000, '{"error":' * 900 + "1" + "}" * 900, '{"detail":' + "[" * 900 + "]" * 900 + "}")


@pytest.mark.parametrize("body", DEEP)
async def test_deeply_nested_error_body_is_a_permanent_failure(body: str) -> None:
    async with ScriptedLlm(otherwise=lambda _: Reply(400, body)) as llm, open_endpoint(llm) as client:
        with pytest.raises(PermanentLlmFailure):
            await ask(client)


async def test_retry_after_with_impossible_year_is_ignored() -> None:
    headers = {"Retry-After": "Mon, 01 Jan 99999999999999 00:00:00 GMT"}
    async with ScriptedLlm(Reply(429, "{}", headers)) as llm, open_endpoint(llm) as client:
        with pytest.raises(TransientLlmFailure) as caught:
            await ask(client)
        assert caught.value.retry_after is None
