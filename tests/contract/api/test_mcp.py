"""The MCP server with the SDK's own client: as a subprocess over stdio and over HTTP, against the API."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, TextContent

from cluster.mcp.waiting import ServerState
from index import CorpusVersionCache, build_corpus
from tests.contract.api.commands import PROGRAM, Program
from tests.contract.api.mcp_clients import call_tool, connect_mcp_client, enter_in_task, run_mcp_server
from tests.contract.api.reward_jobs import REWARD_ITEM, build_reward_outcome, finish_rewards, store_outcomes
from tests.contract.api.service import ACME, OTHER, TEXT, Service, serve
from tests.corpus_papers import RECORDS, write_jsonl
from workers.embedding.hashing_embedder import HashingEmbedder

_TOOLS = {
    "evaluate",
    "evaluation_status",
    "fetch_report",
    "search_papers",
    "suggest_references",
    "compare",
    "comparison_status",
    "reward",
    "reward_status",
}


@pytest.fixture
async def url(service: Service) -> AsyncIterator[str]:
    """URL of the service."""
    async with serve(service.app) as url:
        yield url


@pytest.fixture
async def mcp_address(url: str) -> AsyncIterator[str]:
    """The address of the MCP server over HTTP."""
    async with enter_in_task(run_mcp_server(url)) as at:
        yield at


@pytest.fixture
async def agent(mcp_address: str, service: Service) -> AsyncIterator[Client]:
    async with enter_in_task(connect_mcp_client(mcp_address, await service.create_key())) as client:
        yield client


async def get_refusal(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return get_text(result)


def get_text(result: CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


async def test_stdio_server_evaluates_an_idea_with_the_operator_key(url: str, service: Service, tmp_path: Path) -> None:
    key = await service.create_key()
    settings = {"ASSAYER_HOME": str(tmp_path), "ASSAYER_API_URL": url, "ASSAYER_API_KEY": key}
    async with Client(StdioServerParameters(command=str(PROGRAM), args=["mcp"], env=settings)) as client:
        tools = await client.list_tools()
        assert {tool.name for tool in tools.tools} == _TOOLS
        queued = await call_tool(client, "evaluate", idea=TEXT, wait_seconds=0)
        assert queued["state"] == "queued"
        assert "Do not submit it again" in queued["next_step"]
        await service.finish()
        status = await call_tool(client, "evaluation_status", id=queued["id"])
    assert status["state"] == "succeeded"
    assert status["summary"]["corpus_fit"]


async def test_stdio_server_without_a_key_exits_with_instructions(program: Program) -> None:
    result = await program.run("mcp", ASSAYER_API_KEY="")
    assert result.code == 2
    assert "ASSAYER_API_KEY" in result.err


async def test_finished_evaluation_is_returned_and_progress_is_reported(agent: Client, service: Service) -> None:
    progress_queue: asyncio.Queue[tuple[float | None, str | None]] = asyncio.Queue()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        await progress_queue.put((total, message))

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(
            agent.call_tool("evaluate", {"idea": TEXT, "wait_seconds": 60}, progress_callback=hear)
        )
        assert await progress_queue.get() == (60, "The job is queued.")
        await service.finish()
    content = task.result().structured_content or {}
    assert (content["state"], content["cost_usd"]) == ("succeeded", 0.25)


async def test_report_is_paged_and_invalid_cursors_are_rejected(agent: Client, service: Service) -> None:
    job = (await call_tool(agent, "evaluate", idea=TEXT, wait_seconds=0))["id"]
    await service.finish()
    for format in ("markdown", "json"):
        pieces, cursor = [], None
        while True:
            page = await call_tool(agent, "fetch_report", id=job, format=format, cursor=cursor, max_characters=1_000)
            pieces.append(page["text"])
            assert len(page["text"]) <= 1_000
            if (cursor := page["next_cursor"]) is None:
                break
        assert len("".join(pieces)) == page["characters"]
    assert json.loads("".join(pieces))["evaluation_id"]
    assert "not a cursor of a markdown report" in await get_refusal(agent, "fetch_report", id=job, cursor="json-3")
    assert "past the end" in await get_refusal(agent, "fetch_report", id=job, cursor="markdown-999999999")


async def test_papers_and_references_are_found(service: Service, tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "papers.jsonl", RECORDS)
    await build_corpus([source], tmp_path / "corpus", HashingEmbedder())
    async with AsyncExitStack() as stack:
        corpora = CorpusVersionCache(tmp_path / "corpus", HashingEmbedder())
        stack.push_async_callback(corpora.aclose)
        url = await stack.enter_async_context(serve(service.with_services(corpora=corpora).app))
        address = await stack.enter_async_context(run_mcp_server(url))
        agent = await stack.enter_async_context(connect_mcp_client(address, await service.create_key("read")))
        content = await call_tool(agent, "search_papers", query="bumblebees in meadows after late mowing", limit=3)
        suggested = await call_tool(agent, "suggest_references", idea=TEXT, limit=3)
    assert len(suggested["papers"]) == 3
    assert all(item["search_paths"] for item in suggested["papers"])
    assert len(content["papers"]) == 3
    assert "bumblebees" in content["papers"][0]["title"]


async def test_reward_is_absent_when_the_judge_fails(agent: Client, service: Service) -> None:
    items = [REWARD_ITEM, {**REWARD_ITEM, "idea": "We train longer."}]
    queued = await call_tool(agent, "reward", items=items, wait_seconds=0)
    lease = await service.lease_next()
    outcomes = build_reward_outcome(0, 1), build_reward_outcome(1, None)
    await store_outcomes(service, lease, *outcomes)
    await finish_rewards(service, lease, outcomes)
    status = await call_tool(agent, "reward_status", id=queued["id"])
    assert (status["state"], status["item_count"]) == ("succeeded", 2)
    assert [item["reward"] for item in status["judged"]] == [1, None]
    assert status["judged"][1]["reason"] == "Every analyst was lost."


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("evaluate", {}, "idea"),
        ("evaluate", {"idea": TEXT, "wait_seconds": 6_000}, "less than or equal to 600"),
        ("evaluate", {"idea": TEXT, "method": "dice"}, "dice"),
        ("evaluate", {"idea": TEXT, "method": "innoeval", "board": 13}, "there are only 12 personas"),
        ("evaluate", {"idea": TEXT, "board": 3}, "Only the method innoeval has a board"),
        ("evaluate", {"idea": "too short"}, "(422)"),
        ("evaluation_status", {"id": "../keys"}, "pattern"),
        ("evaluation_status", {"id": "ev_0000000000000000000000000a"}, "(404)"),
        ("search_papers", {"query": "bees", "limit": 0}, "greater than or equal to 1"),
        ("reward", {"items": []}, "at least 1"),
    ],
)
async def test_invalid_tool_input_returns_an_explained_error(
    agent: Client, tool: str, arguments: dict[str, Any], words: str
) -> None:
    assert words in await get_refusal(agent, tool, **arguments)


async def test_rejected_key_opens_no_session(mcp_address: str) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    headers = {"Accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient(headers=headers) as http:
        for key in (f"ak_0000000000000000_{'x' * 43}", "anything"):
            answer = await http.post(mcp_address, json=body, headers={"Authorization": f"Bearer {key}"})
            assert (answer.status_code, "mcp-session-id" in answer.headers) == (401, False)
            assert "API key" in answer.json()["title"]


async def test_repeated_request_key_returns_the_same_job(agent: Client) -> None:
    arguments = {"idea": TEXT, "wait_seconds": 0, "request_key": "once"}
    assert (await call_tool(agent, "evaluate", **arguments))["id"] == (await call_tool(agent, "evaluate", **arguments))[
        "id"
    ]


@pytest.mark.parametrize(("stopping", "state"), [(False, "cancelled"), (True, "queued")])
async def test_cancelled_tool_call_cancels_its_job_unless_the_server_is_stopping(
    url: str, service: Service, stopping: bool, state: str
) -> None:
    server = ServerState()
    wait_begun = asyncio.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        wait_begun.set()

    key = await service.create_key()
    async with run_mcp_server(url, server) as address, connect_mcp_client(address, key) as client:
        arguments = {"idea": TEXT, "wait_seconds": 60, "request_key": "once"}
        call = asyncio.create_task(client.call_tool("evaluate", arguments, progress_callback=hear))
        async with asyncio.timeout(60):
            await wait_begun.wait()
        server.stopping = stopping
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        job = (await call_tool(client, "evaluate", **{**arguments, "wait_seconds": 0}))["id"]
        status = await call_tool(client, "evaluation_status", id=job, wait_seconds=0 if stopping else 60)
    assert status["state"] == state


async def test_http_without_key_or_with_foreign_host_or_origin_is_refused(mcp_address: str, service: Service) -> None:
    key = {"Authorization": f"Bearer {await service.create_key()}"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    async with httpx2.AsyncClient(headers={"Accept": "application/json, text/event-stream"}) as http:
        bare = await http.post(mcp_address, json=body)
        host = await http.post(mcp_address, json=body, headers={**key, "Host": "evil.example"})
        origin = await http.post(mcp_address, json=body, headers={**key, "Origin": "https://evil.example"})
    assert bare.status_code == 401
    assert "Authorization: Bearer" in bare.json()["detail"]
    assert (host.status_code, origin.status_code) == (421, 403)


async def test_a_session_serves_only_the_key_that_opened_it(mcp_address: str, service: Service) -> None:
    first, second = [
        {
            "Authorization": f"Bearer {await service.create_key(tenant=tenant)}",
            "Accept": "application/json, text/event-stream",
        }
        for tenant in (ACME, OTHER)
    ]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    async with httpx2.AsyncClient() as http:
        answer = await http.post(
            mcp_address, json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}, headers=first
        )
        session = {"Mcp-Session-Id": answer.headers["mcp-session-id"]}
        foreign = await http.post(
            mcp_address, json={"jsonrpc": "2.0", "id": 2, "method": "tools/list"}, headers={**second, **session}
        )
    assert foreign.status_code == 404


async def test_legacy_client_is_served(mcp_address: str, service: Service) -> None:
    async with connect_mcp_client(mcp_address, await service.create_key(), mode="legacy") as client:
        assert (await call_tool(client, "evaluate", idea=TEXT, wait_seconds=0))["state"] == "queued"


async def test_key_secret_appears_in_neither_logs_nor_answers(
    mcp_address: str, service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    key = await service.create_key("read")
    async with connect_mcp_client(mcp_address, key) as client:
        refusal = await get_refusal(client, "evaluate", idea=TEXT)
    secret = key.split("_", 2)[2]
    assert secret not in refusal
    assert not [line for line in caplog.messages if secret in line and not re.search("httpcore|hpack", line)]


async def test_http_command_serves_until_terminated(program: Program) -> None:
    process = await program.start("mcp", "--http", "127.0.0.1:0", PYTHONUNBUFFERED="1")
    assert process.stdout is not None
    address_line = (await process.stdout.readline()).decode()
    async with connect_mcp_client(address_line.split()[-1], program.key) as client:
        assert (await call_tool(client, "evaluate", idea=TEXT, wait_seconds=0))["state"] == "queued"
    process.terminate()
    await process.communicate()
    assert process.returncode == 0
