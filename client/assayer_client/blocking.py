"""Blocking versions of the HTTP client and of `sleep`. Coroutines that use them never suspend, so the synchronous
client can run them without an event loop."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, TypeVar, cast

import httpx2

T = TypeVar("T")


class BlockingHttp:
    """HTTP client with the interface of `httpx2.AsyncClient`, whose coroutines block instead of suspending."""

    def __init__(self, client: httpx2.Client) -> None:
        self._client = client

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        response = self._client.send(request, **options)
        response.stream = _BlockingStream(cast(httpx2.SyncByteStream, response.stream))
        return response


class _BlockingStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._stream:
            yield piece

    async def aclose(self) -> None:
        self._stream.close()


def make_blocking_sleep(sleep: Callable[[float], None]) -> Callable[[float], Awaitable[None]]:
    async def pause(seconds: float) -> None:
        sleep(seconds)

    return pause


def finish(work: Awaitable[T] | AsyncGenerator[T, None]) -> T | Iterator[T]:
    """Return a coroutine's result, or an iterator over an asynchronous generator. Neither may ever suspend."""
    return _iterate(work) if isinstance(work, AsyncGenerator) else _run_to_end(work)


def _run_to_end(work: Awaitable[T]) -> T:
    try:
        next(work.__await__())
    except StopIteration as stop:
        return cast(T, stop.value)
    raise RuntimeError("A coroutine in the synchronous client was suspended.")


def _iterate(items: AsyncGenerator[T, None]) -> Iterator[T]:
    try:
        while True:
            try:
                item = _run_to_end(anext(items))
            except StopAsyncIteration:
                return
            yield item
    finally:
        _run_to_end(items.aclose())
