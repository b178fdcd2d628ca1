"""Bodies with many ideas: on disk while they come in, read in a thread, a few at a time."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import BinaryIO, TypeVar

from starlette.requests import Request

from orchestrator.api.problems import Refusal
from orchestrator.batches.settings import BatchSettings

__all__ = ["Uploads"]

T = TypeVar("T")

_PIECE = 1 << 20
_RETRY_SECONDS = 30


class Uploads:
    """One an application."""

    def __init__(self, settings: BatchSettings) -> None:
        self._settings = settings
        self._coming = 0
        self._reading = asyncio.Semaphore(settings.at_once)

    @asynccontextmanager
    async def received(self, request: Request) -> AsyncIterator[BinaryIO]:
        """The whole body as a file at its start, which goes with the request. Raises Refusal when too many come in."""
        if self._coming >= self._settings.uploads:
            raise Refusal(
                "busy",
                f"{self._coming} large uploads are coming in; there are no more at once. Send this one a little later.",
                retry_after=_RETRY_SECONDS,
            )
        self._coming += 1
        try:
            with tempfile.TemporaryFile() as file:
                waiting = bytearray()
                async for piece in request.stream():
                    waiting += piece
                    if len(waiting) >= _PIECE:
                        await asyncio.to_thread(file.write, bytes(waiting))
                        waiting.clear()
                await asyncio.to_thread(file.write, bytes(waiting))
                file.seek(0)
                yield file
        finally:
            self._coming -= 1

    async def read(self, work: Callable[[], T]) -> T:
        """Does the work in a thread, when its turn has come."""
        async with self._reading:
            return await asyncio.to_thread(work)
