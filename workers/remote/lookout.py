"""Watches for the end of what other processes are asking for: one question for everything at a time."""

import asyncio

from assayer.errors import StorageError
from workers.remote.replies import Replies

__all__ = ["Lookout"]


class Lookout:
    """`run` must be running."""

    def __init__(self, replies: Replies, pause: float) -> None:
        """`pause`: seconds between two questions to the store."""
        self._replies = replies
        self._pause = pause
        self._waiting: dict[str, asyncio.Future[None]] = {}
        self._some = asyncio.Event()

    def settled(self, key: str) -> "asyncio.Future[None]":
        """Done when nobody else is asking for it any more; StorageError when the store is gone. Call `forget` after."""
        future = self._waiting.get(key)
        if future is None:
            future = self._waiting[key] = asyncio.get_running_loop().create_future()
            self._some.set()
        return future

    def forget(self, key: str) -> None:
        future = self._waiting.pop(key, None)
        if future is not None:
            future.cancel()
        if not self._waiting:
            self._some.clear()

    async def run(self) -> None:
        while True:
            await self._some.wait()
            await asyncio.sleep(self._pause)
            keys = tuple(self._waiting)
            try:
                settled = await self._replies.settled(keys)
            except StorageError as error:
                for key in keys:
                    self._fail(key, error)
                continue
            for key in settled:
                future = self._waiting.get(key)
                if future is not None and not future.done():
                    future.set_result(None)

    def _fail(self, key: str, error: StorageError) -> None:
        future = self._waiting.get(key)
        if future is not None and not future.done():
            future.set_exception(error)
