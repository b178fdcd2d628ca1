"""Asynchronous client, for programs built on asyncio."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Self, TypeVar

import httpx2

from assayer_client.evaluations import EvaluationBody
from assayer_client.exchange import Exchange
from assayer_client.namespaces import Async
from assayer_client.operations import Operations
from assayer_client.reports import Report
from assayer_client.resources import Page
from assayer_client.settings import RetryPolicy, Timeouts
from assayer_client.transport import RequestBuilder

T = TypeVar("T")


class AsyncClient(Operations[Async]):
    """Asynchronous client. It has the same methods, parameters and errors as `Client`, but its methods are awaited."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        retries: RetryPolicy | None = None,
        timeouts: Timeouts | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Create a client; `url` and `key` default to ASSAYER_API_URL and ASSAYER_API_KEY. Raises ConfigurationError if
        either is missing or invalid."""
        requests = RequestBuilder.create(url, key, timeouts or Timeouts())
        self._http = httpx2.AsyncClient(transport=transport)
        exchange = Exchange(requests, retries or RetryPolicy(), self._http, sleep)
        super().__init__(exchange, lambda work: work)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def each(self, listing: Callable[..., Awaitable[Page[T]]], **query: Any) -> AsyncIterator[T]:
        """Yield all items of a listing, page by page: `client.each(client.evaluations.list, state="succeeded")`."""
        while True:
            page = await listing(**query)
            for item in page.items:
                yield item
            if page.next is None:
                return
            query["after"] = page.next

    async def evaluate(self, body: EvaluationBody, *, key: str | None = None, seconds: float | None = None) -> Report:
        """Submit an evaluation, wait for it, and return its report. Raises ApiProblem if there is no report, and
        TimeoutError if the evaluation takes longer than `seconds`. It then continues, and another call with the same
        `key` returns the same evaluation."""
        job = (await self.evaluations.create(body, key=key)).id
        await self.evaluations.wait(job, seconds=seconds)
        return await self.evaluations.report(job)
