"""Dynamic micro-batching: what many callers ask at the same time is computed together.

While one batch is computed the next one fills up, so the batches grow with the load and a lone caller waits
for nobody but the short collecting window.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["MicroBatcher", "Row"]

Row = NDArray[np.float32]
Item = TypeVar("Item", bound=Hashable)
Out = TypeVar("Out")


@dataclass(eq=False)
class _Asked(Generic[Item, Out]):
    item: Item
    answer: asyncio.Future[Out]


class MicroBatcher(Generic[Item, Out]):
    """Runs `compute` in `thread`, on at most `largest` distinct items at a time, first come first served.

    `compute` gives one answer an item. What it raises reaches everybody whose item was in that batch. A caller
    who is cancelled takes its items along. Serves one event loop at a time.
    """

    def __init__(
        self,
        compute: Callable[[Sequence[Item]], Iterable[Out]],
        thread: ThreadPoolExecutor,
        largest: int,
        window_seconds: float,
    ) -> None:
        self._compute = compute
        self._thread = thread
        self._largest = largest
        self._window = window_seconds
        self._waiting: deque[_Asked[Item, Out]] = deque()
        self._server: asyncio.Task[None] | None = None

    async def ask(self, items: Sequence[Item]) -> list[Out]:
        """One answer an item, in order."""
        loop = asyncio.get_running_loop()
        asked = [_Asked[Item, Out](item, loop.create_future()) for item in items]
        self._waiting.extend(asked)
        if self._server is None or self._server.done():
            self._server = loop.create_task(self._serve())
        return await asyncio.gather(*(one.answer for one in asked))

    async def _serve(self) -> None:
        await asyncio.sleep(self._window)
        while batch := self._take():
            await self._answer(batch)

    def _take(self) -> dict[Item, list[_Asked[Item, Out]]]:
        """The oldest items that somebody still waits for, each with all who asked for it."""
        batch: dict[Item, list[_Asked[Item, Out]]] = {}
        while self._waiting:
            asked = self._waiting[0]
            if not asked.answer.done():
                if asked.item not in batch and len(batch) == self._largest:
                    break
                batch.setdefault(asked.item, []).append(asked)
            self._waiting.popleft()
        return batch

    async def _answer(self, batch: dict[Item, list[_Asked[Item, Out]]]) -> None:
        loop = asyncio.get_running_loop()
        try:
            answers = await loop.run_in_executor(self._thread, self._compute, list(batch))
        except Exception as error:  # noqa: BLE001  whatever it is belongs to those who asked, not to this task
            for asked in _unanswered(batch.values()):
                asked.answer.set_exception(error)
            return
        for waiting, answer in zip(batch.values(), answers, strict=True):
            for asked in _unanswered([waiting]):
                asked.answer.set_result(answer)


def _unanswered(groups: Iterable[list[_Asked[Item, Out]]]) -> Iterator[_Asked[Item, Out]]:
    """Those whose caller has not been cancelled in the meantime."""
    return (asked for group in groups for asked in group if not asked.answer.done())
