"""Dynamic micro-batching: what many callers ask at the same time is computed together.

While one batch is computed the next one fills up, so the batches grow with the load and a lone caller waits
for nobody but the short collecting window.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["MicroBatcher", "Row"]

Row = NDArray[np.float32]


@dataclass(eq=False)
class _Asked:
    text: str
    answer: asyncio.Future[Row]


class MicroBatcher:
    """Runs `compute` in `thread`, on at most `largest` distinct texts at a time, first come first served.

    `compute` gives one row a text. What it raises reaches everybody whose text was in that batch. A caller
    who is cancelled takes its texts along. Serves one event loop at a time.
    """

    def __init__(
        self,
        compute: Callable[[Sequence[str]], Iterable[Row]],
        thread: ThreadPoolExecutor,
        largest: int,
        window_seconds: float,
    ) -> None:
        self._compute = compute
        self._thread = thread
        self._largest = largest
        self._window = window_seconds
        self._waiting: deque[_Asked] = deque()
        self._server: asyncio.Task[None] | None = None

    async def ask(self, texts: Sequence[str]) -> list[Row]:
        """One row a text, in order."""
        loop = asyncio.get_running_loop()
        asked = [_Asked(text, loop.create_future()) for text in texts]
        self._waiting.extend(asked)
        if self._server is None or self._server.done():
            self._server = loop.create_task(self._serve())
        return await asyncio.gather(*(one.answer for one in asked))

    async def _serve(self) -> None:
        await asyncio.sleep(self._window)
        while batch := self._take():
            await self._answer(batch)

    def _take(self) -> dict[str, list[_Asked]]:
        """The oldest texts that somebody still waits for, each with all who asked for it."""
        batch: dict[str, list[_Asked]] = {}
        while self._waiting:
            asked = self._waiting[0]
            if not asked.answer.done():
                if asked.text not in batch and len(batch) == self._largest:
                    break
                batch.setdefault(asked.text, []).append(asked)
            self._waiting.popleft()
        return batch

    async def _answer(self, batch: dict[str, list[_Asked]]) -> None:
        loop = asyncio.get_running_loop()
        try:
            rows = await loop.run_in_executor(self._thread, self._compute, list(batch))
        except Exception as error:  # noqa: BLE001  whatever it is belongs to those who asked, not to this task
            for asked in _unanswered(batch.values()):
                asked.answer.set_exception(error)
            return
        for waiting, row in zip(batch.values(), rows, strict=True):
            for asked in _unanswered([waiting]):
                asked.answer.set_result(row)


def _unanswered(groups: Iterable[list[_Asked]]) -> Iterator[_Asked]:
    """Those whose caller has not been cancelled in the meantime."""
    return (asked for group in groups for asked in group if not asked.answer.done())
