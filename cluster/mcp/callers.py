"""Whose key a call uses, and the service's refusals as errors of the tool.

Over stdio the key is the operator's, who started the process; over HTTP it is the caller's own, of each request anew.
No client outlives its call, so nothing of one caller is there for the next.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeAlias

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from assayer_client import ApiProblem, AsyncClient, ClientError, RetryPolicy

__all__ = ["ClientOpener", "ToolContext", "bearer_key", "with_callers_key", "with_own_key"]

ToolContext: TypeAlias = Context[Any, Any]
ClientOpener = Callable[[ToolContext], AbstractAsyncContextManager[AsyncClient]]

_RETRIES = RetryPolicy(attempts=3, seconds=15.0, longest_pause=5.0)
"""A model waits for the answer: better an error that says so than minutes of silence."""
_SCHEME = "bearer"


def bearer_key(header: str | None) -> str | None:
    """The key of an `Authorization` header; None when it holds none."""
    scheme, _, key = (header or "").strip().partition(" ")
    return key.strip() or None if scheme.lower() == _SCHEME else None


def with_own_key(url: str | None, key: str) -> ClientOpener:
    """For stdio: whoever started this process is the caller."""

    def opened(_: ToolContext) -> AbstractAsyncContextManager[AsyncClient]:
        return _client(url, key)

    return opened


def with_callers_key(url: str | None) -> ClientOpener:
    """For HTTP: the key of the request that carries the call."""

    def opened(context: ToolContext) -> AbstractAsyncContextManager[AsyncClient]:
        key = bearer_key((context.headers or {}).get("authorization"))
        if key is None:
            raise ToolError("This request has no API key. Send it as `Authorization: Bearer ak_…`.")
        return _client(url, key)

    return opened


@asynccontextmanager
async def _client(url: str | None, key: str) -> AsyncIterator[AsyncClient]:
    """Raises ToolError in the service's own words."""
    try:
        async with AsyncClient(url, key, retries=_RETRIES) as client:
            yield client
    except ClientError as error:
        raise ToolError(_said(error)) from error


def _said(error: ClientError) -> str:
    wait = error.retry_after if isinstance(error, ApiProblem) else None
    return f"{error} Try again in {wait:.0f} seconds." if wait else str(error)
