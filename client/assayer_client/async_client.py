"""Asynchronous client, for programs built on asyncio."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx2
from pydantic import BaseModel
from tenacity import AsyncRetrying

from assayer_client.errors import ApiProblem
from assayer_client.evaluations import EvaluationBody
from assayer_client.event_stream import EventReader, EventStream
from assayer_client.files import atomic_file
from assayer_client.item_jobs import ItemCalls
from assayer_client.namespaces import AsyncRunner
from assayer_client.operations import Operations
from assayer_client.reports import Report
from assayer_client.requests import ApiCall, Response
from assayer_client.resources import Page
from assayer_client.retries import next_poll, options
from assayer_client.settings import RetryPolicy, Timeouts
from assayer_client.transport import RequestBuilder

__all__ = ["AsyncClient"]

T = TypeVar("T")
E = TypeVar("E", bound=BaseModel)

_ALL_SEEN = httpx2.codes.NO_CONTENT


class AsyncClient(Operations[AsyncRunner]):
    """Asynchronous client with the same methods, parameters and errors as `Client`; its methods are awaited."""

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
        """Create a client; `url` and `key` default to ASSAYER_API_URL and ASSAYER_API_KEY. Raises
        ConfigurationError."""
        self._requests = RequestBuilder.of(url, key, timeouts or Timeouts())
        self._retries = retries or RetryPolicy()
        self._http = httpx2.AsyncClient(transport=transport)
        self._sleep = sleep
        super().__init__(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def run(self, call: ApiCall[T]) -> T:
        """Send a call, and retry it if that may help; a repeated POST is executed once."""
        return call.read(await self._retrying()(self._sent, call, self._requests.key_of(call)))

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
        """Submit an evaluation, wait for it, and return its report. Raises ApiProblem if there is no report,
        and TimeoutError if it is late: the evaluation then continues, and the same `key` requests the same
        evaluation again."""
        job = (await self.evaluations.create(body, key=key)).id
        await self.evaluations.wait(job, seconds=seconds)
        return await self.evaluations.report(job)

    async def poll(self, call: ApiCall[T], ended: Callable[[T], bool], seconds: float | None) -> T:
        """Send a call repeatedly until `ended` is true of its answer. Raises TimeoutError."""
        began = time.monotonic()
        while not ended(response := await self.run(call)):
            await self._sleep(next_poll(time.monotonic() - began, seconds, call.subject))
        return response

    async def follow(self, stream: EventStream[E], after: int) -> AsyncIterator[E]:
        following = EventReader(stream, after, self._retries)
        while True:
            broken: Exception | None = None
            try:
                async with self._opened(self._requests.stream(stream.path, following.last)) as response:
                    if response.status_code == _ALL_SEEN:
                        return
                    async for heard in httpx2.EventSource(response):
                        if (event := following.take(heard)) is not None:
                            yield event
                        if following.ended:
                            return
            except (httpx2.RequestError, ApiProblem) as error:
                broken = self._requests.as_error(error)
            await self._sleep(following.pause_after(broken))

    async def outcomes(
        self, calls: ItemCalls[Any, Any, Any, T], job: str, after: int, seconds: float | None
    ) -> AsyncIterator[T]:
        """Yield the outcomes of a multi-item job as they arrive. Raises TimeoutError."""
        began = time.monotonic()
        while True:
            page = await self.run(calls.next_items(job, after))
            for outcome in page.items:
                yield outcome
            after = page.last
            if page.is_last:
                return
            if not page.items:
                await self._sleep(next_poll(time.monotonic() - began, seconds, job))

    async def wait_for_items(self, calls: ItemCalls[Any, Any, T, Any], job: str, seconds: float | None) -> T:
        """Return a multi-item job with all its outcomes. Raises TimeoutError."""
        async for _ in self.outcomes(calls, job, 0, seconds):
            continue
        return await self.run(calls.get(job))

    async def save(self, call: ApiCall[None], target: Path) -> Path:
        """Write an answer of any length to a file atomically."""
        return await self._retrying()(self._download, call, target)

    async def _download(self, call: ApiCall[None], target: Path) -> Path:
        try:
            with self._requests.request(call, None) as request, atomic_file(target) as file:
                async with self._opened(request) as response:
                    call.read(self._requests.checked(response.status_code, response.headers, b""))
                    async for piece in response.aiter_bytes():
                        file.write(piece)
        except httpx2.RequestError as error:
            raise self._requests.as_error(error) from error
        return target

    async def _sent(self, call: ApiCall[T], key: str | None) -> Response:
        try:
            with self._requests.request(call, key) as request:
                response = await self._http.send(request, auth=None, follow_redirects=False)
        except httpx2.RequestError as error:
            raise self._requests.as_error(error) from error
        return self._requests.checked(response.status_code, response.headers, response.content)

    @asynccontextmanager
    async def _opened(self, request: httpx2.Request) -> AsyncIterator[httpx2.Response]:
        response = await self._http.send(request, stream=True, auth=None, follow_redirects=False)
        try:
            if not response.is_success:
                self._requests.checked(response.status_code, response.headers, await response.aread())
            yield response
        finally:
            await response.aclose()

    def _retrying(self) -> AsyncRetrying:
        return AsyncRetrying(**options(self._retries), sleep=self._sleep)
