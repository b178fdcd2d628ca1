"""Communication with the service: requests with retries, polling, event streams and downloads. Both clients use this
module."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import httpx2
from pydantic import BaseModel
from tenacity import AsyncRetrying

from assayer_client.blocking import BlockingHttp
from assayer_client.errors import ApiProblem
from assayer_client.event_stream import EventReader, EventStream
from assayer_client.files import open_atomic_file
from assayer_client.item_jobs import ItemsPage
from assayer_client.requests import ApiCall, Response
from assayer_client.retries import build_retry_options, compute_next_poll
from assayer_client.settings import RetryPolicy
from assayer_client.transport import RequestBuilder

T = TypeVar("T")
E = TypeVar("E", bound=BaseModel)

_NO_MORE_EVENTS = httpx2.codes.NO_CONTENT


class Exchange:
    """Connection to a service. With `BlockingHttp` and a blocking `sleep`, its coroutines never suspend."""

    def __init__(
        self,
        requests: RequestBuilder,
        retries: RetryPolicy,
        http: httpx2.AsyncClient | BlockingHttp,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._requests, self._retries, self._http, self._sleep = requests, retries, http, sleep

    async def run(self, call: ApiCall[T]) -> T:
        """Send a request and return its result. Failed attempts are retried if that may help. An idempotency key
        ensures that a repeated POST takes effect only once."""
        return call.read(await self._create_retrying()(self._send, call, self._requests.choose_idempotency_key(call)))

    async def poll(self, call: ApiCall[T], ended: Callable[[T], bool], seconds: float | None) -> T:
        """Repeat a request until `ended` is true for its result. Raises TimeoutError after `seconds`."""
        began = time.monotonic()
        while not ended(response := await self.run(call)):
            await self._sleep(compute_next_poll(time.monotonic() - began, seconds, call.subject))
        return response

    async def follow(self, stream: EventStream[E], after: int) -> AsyncIterator[E]:
        """Yield the events after event number `after`, reconnecting if the connection is lost."""
        reader = EventReader(stream, after, self._retries)
        while True:
            connection_error: Exception | None = None
            try:
                async with self._open_response(self._requests.stream(stream.path, reader.last)) as response:
                    if response.status_code == _NO_MORE_EVENTS:
                        return
                    async for server_event in httpx2.EventSource(response):
                        if (event := reader.take(server_event)) is not None:
                            yield event
                        if reader.ended:
                            return
            except (httpx2.RequestError, ApiProblem) as error:
                connection_error = self._requests.convert_error(error)
            await self._sleep(reader.compute_pause_after(connection_error))

    async def follow_outcomes(
        self, job: str, page_after: Callable[[int], ApiCall[ItemsPage[T]]], after: int, seconds: float | None
    ) -> AsyncIterator[T]:
        """Yield the outcomes of a multi-item job as they arrive. Raises TimeoutError after `seconds`."""
        began = time.monotonic()
        while True:
            page = await self.run(page_after(after))
            for outcome in page.items:
                yield outcome
            after = page.last
            if page.is_last:
                return
            if not page.items:
                await self._sleep(compute_next_poll(time.monotonic() - began, seconds, job))

    async def save(self, call: ApiCall[None], target: Path) -> Path:
        """Download a response of any length to a file, which is replaced only when the download is complete. Return
        `target`."""
        return await self._create_retrying()(self._download, call, target)

    async def _download(self, call: ApiCall[None], target: Path) -> Path:
        try:
            with self._requests.request(call, None) as request, open_atomic_file(target) as file:
                async with self._open_response(request) as response:
                    call.read(self._requests.check_response(response.status_code, response.headers, b""))
                    async for piece in response.aiter_bytes():
                        file.write(piece)
        except httpx2.RequestError as error:
            raise self._requests.convert_error(error) from error
        return target

    async def _send(self, call: ApiCall[T], key: str | None) -> Response:
        try:
            with self._requests.request(call, key) as request:
                response = await self._http.send(request, auth=None, follow_redirects=False)
        except httpx2.RequestError as error:
            raise self._requests.convert_error(error) from error
        return self._requests.check_response(response.status_code, response.headers, response.content)

    @asynccontextmanager
    async def _open_response(self, request: httpx2.Request) -> AsyncIterator[httpx2.Response]:
        response = await self._http.send(request, stream=True, auth=None, follow_redirects=False)
        try:
            if not response.is_success:
                self._requests.check_response(response.status_code, response.headers, await response.aread())
            yield response
        finally:
            await response.aclose()

    def _create_retrying(self) -> AsyncRetrying:
        return AsyncRetrying(**build_retry_options(self._retries), sleep=self._sleep)
