"""Watches for the end of what other processes are asking for: one question for everything at a time."""

import asyncio
import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from assayer.errors import StorageError
from workers.remote.replies import Replies

__all__ = ["Lookout"]


class Lookout:
    """`run` must be running."""

    def __init__(self, replies: Replies, pause: float) -> None:
        """`pause`: seconds between two questions to the store."""
        self._replies = replies
        self._pause = pause
        self._waiting: dict[str, set[asyncio.Future[None]]] = {}
        self._some = asyncio.Event()

    @contextmanager
    def watching(self, key: str) -> Iterator["asyncio.Future[None]"]:
        """Done when nobody else is asking for it any more; StorageError when the store is gone."""
        settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, set()).add(settled)
        self._some.set()
        try:
            yield settled
        finally:
            settled.cancel()
            self._waiting[key].discard(settled)
            if not self._waiting[key]:
                del self._waiting[key]
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
                self._tell(keys, error)
            else:
                self._tell(settled, None)

    def _tell(self, keys: Sequence[str], error: StorageError | None) -> None:
        for key in keys:
            for one in self._waiting.get(key, ()):
                if one.done():
                    continue
                if error is None:
                    one.set_result(None)
                else:
                    one.set_exception(copy.copy(error))
