"""API clients for tool calls, which use the caller's key. Errors from the service become tool errors.

Over stdio, the key belongs to the operator who started the process. Over HTTP, it is the caller's own, taken from each
request. No client outlives its call, so one caller's data is never available to the next."""

import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeAlias

import httpx2
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

from assayer_client import ApiProblem, AsyncClient, ClientError, InvalidRequest, RetryPolicy

ToolContext: TypeAlias = Context[Any, Any]
ClientOpener = Callable[[ToolContext], AbstractAsyncContextManager[AsyncClient]]

_RETRIES = RetryPolicy(attempts=3, seconds=15.0, longest_pause=5.0)
"""Short retry policy, because a model is waiting and prefers an error now to an answer in minutes."""
_SCHEME = "bearer"
_UNAUTHENTICATED = 401
_ACCEPTED_SECONDS = 60.0
_MAX_CACHED_KEYS = 10_000


def parse_bearer_key(header: str | None) -> str | None:
    """Return the key in an `Authorization` header; None if there is none."""
    scheme, _, key = (header or "").strip().partition(" ")
    return key.strip() or None if scheme.lower() == _SCHEME else None


def make_opener_with_own_key(
    url: str | None, key: str, transport: httpx2.AsyncBaseTransport | None = None
) -> ClientOpener:
    """Return a client opener for stdio that uses the key of the user who started this process. Pass `transport` to
    connect to a service in this process."""

    def open_client(_: ToolContext) -> AbstractAsyncContextManager[AsyncClient]:
        return _open_client(url, key, transport)

    return open_client


def make_opener_with_callers_key(url: str | None) -> ClientOpener:
    """Return a client opener for HTTP that uses the API key of the request that contains the tool call."""

    def open_client(context: ToolContext) -> AbstractAsyncContextManager[AsyncClient]:
        key = parse_bearer_key((context.headers or {}).get("authorization"))
        if key is None:
            raise ToolError("This request has no API key. Send it as `Authorization: Bearer ak_…`.")
        return _open_client(url, key)

    return open_client


class AcceptedKeys:
    """Keys that the service accepted within the last minute."""

    def __init__(self, url: str | None) -> None:
        self._url = url
        self._expiry_by_key: OrderedDict[str, float] = OrderedDict()

    async def has(self, key: str, digest: str) -> bool:
        """Return whether the service accepts the key. Also returns True if the service is unreachable, because every
        tool call checks the key again. `digest` is a hash of the key."""
        now = time.monotonic()
        if self._expiry_by_key.get(digest, 0.0) > now:
            return True
        try:
            async with AsyncClient(self._url, key, retries=RetryPolicy(attempts=1)) as client:
                await client.methods.list()
        except InvalidRequest:
            return False
        except ApiProblem as problem:
            if problem.status == _UNAUTHENTICATED:
                return False
        except ClientError:
            return True
        self._expiry_by_key[digest] = now + _ACCEPTED_SECONDS
        self._expiry_by_key.move_to_end(digest)
        if len(self._expiry_by_key) > _MAX_CACHED_KEYS:
            self._expiry_by_key.popitem(last=False)
        return True


@asynccontextmanager
async def _open_client(
    url: str | None, key: str, transport: httpx2.AsyncBaseTransport | None = None
) -> AsyncIterator[AsyncClient]:
    """Open a client that turns errors from the service or in the request body into ToolErrors with the same message."""
    try:
        async with AsyncClient(url, key, retries=_RETRIES, transport=transport) as client:
            yield client
    except ValidationError as error:  # raised by a request body
        raise ToolError(str(InvalidRequest.from_validation_error(error))) from error
    except ClientError as error:
        raise ToolError(_format_error(error)) from error


def _format_error(error: ClientError) -> str:
    wait = error.retry_after if isinstance(error, ApiProblem) else None
    return f"{error} Try again in {wait:.0f} seconds." if wait else str(error)
