"""The MCP server over HTTP, and clients of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from cluster.mcp.server import PATH, create_http_app
from cluster.mcp.waiting import ServerState
from tests.contract.api.service import serve

T = TypeVar("T")


@asynccontextmanager
async def run_mcp_server(url: str, state: ServerState | None = None) -> AsyncIterator[str]:
    """Run an MCP server for the service at the URL and yield the server's address."""
    app = create_http_app(url, "127.0.0.1", (), state or ServerState())
    async with app.router.lifespan_context(app), serve(app) as address:
        yield address + PATH


@asynccontextmanager
async def connect_mcp_client(address: str, key: str, mode: str = "auto") -> AsyncIterator[Client]:
    """Connect to an MCP server with an API key."""
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http), mode=mode) as client,
    ):
        yield client


@asynccontextmanager
async def enter_in_task(context: AbstractAsyncContextManager[T]) -> AsyncIterator[T]:
    """Enter and leave a context manager in the same task.

    Cancel scopes need this, and pytest may leave a fixture in another task than it entered."""
    ready: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    leave = asyncio.Event()

    async def hold() -> None:
        async with context as value:
            ready.set_result(value)
            await leave.wait()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(hold())
        yield await ready
        leave.set()


async def call_tool(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool and return its structured content."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    content: dict[str, Any] = result.structured_content or {}
    return content
