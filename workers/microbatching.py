"""Dynamic micro-batching: what many callers ask at the same time is computed together.

A pass holds items of one shape, so texts of like length share it and little is padded; it is small, so an urgent caller
waits for one pass at most, and now and then for a second one, which keeps urgent callers without end from starving the
others. A lone caller waits for nobody but the short collecting window.
"""

import asyncio
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, Protocol, TypeVar

from workers._waiting import Group, Line, Waiting

__all__ = ["MicroBatcher", "Model"]

Item = TypeVar("Item", bound=Hashable)
Ready = TypeVar("Ready")
Out = TypeVar("Out")
Done = TypeVar("Done")
Asked_contra = TypeVar("Asked_contra", contravariant=True)
Given_co = TypeVar("Given_co", covariant=True)

_MADE_READY = 64
"""Items at once: a few milliseconds' work, as an urgent caller waits for it."""
_HELD_READY = 2048
"""Items that the passes are made up from; enough for a GPU's largest passes of every length."""


class Model(Protocol[Asked_contra, Ready, Given_co]):
    """What computes. Called from one thread only; whatever it raises reaches those who asked."""

    def ready(self, items: Sequence[Asked_contra], /) -> Sequence[Ready]: ...

    def shape(self, one: Ready, /) -> int:
        """Items share a pass with those of their own shape: their padded width."""
        ...

    def rows(self, shape: int, /) -> int:
        """How many items of a shape share a pass."""
        ...

    def compute(self, shape: int, some: Sequence[Ready], /) -> Sequence[Given_co]:
        """One answer an item, in order."""
        ...


class MicroBatcher(Generic[Item, Ready, Out]):
    """Runs a model in `thread`. A caller who is cancelled takes its items along. Serves one event loop at a time."""

    def __init__(
        self, model: Model[Item, Ready, Out], thread: ThreadPoolExecutor, window_seconds: float, held: int = _HELD_READY
    ) -> None:
        self._model = model
        self._thread = thread
        self._window = window_seconds
        self._held = held
        self._line: Line[Item, Ready, Out] = Line(held)
        self._server: asyncio.Task[None] | None = None

    async def ask(self, items: Sequence[Item], urgent: bool = False) -> list[Out]:
        """One answer an item, in order. What is urgent passes what is not, as `workers._waiting` says."""
        loop = asyncio.get_running_loop()
        answers: list[asyncio.Future[Out]] = [loop.create_future() for _ in items]
        for item, answer in zip(items, answers, strict=True):
            self._line.join(item, answer, urgent)
        if self._server is None or self._server.done():
            self._server = loop.create_task(self._serve())
        return await asyncio.gather(*answers)

    async def _serve(self) -> None:
        try:
            await asyncio.sleep(self._window)
            while self._line:
                if coming := self._line.unready(_MADE_READY):
                    await self._make_ready(coming)
                if group := self._line.take(self._model.rows):
                    await self._answer(group)
        except asyncio.CancelledError:
            self._line = Line(self._held)  # the loop ends, and all who asked in it
            raise

    async def _make_ready(self, coming: list[Waiting[Item, Ready, Out]]) -> None:
        try:
            ready = await self._run(lambda: self._model.ready([one.item for one in coming]))
        except Exception as error:  # noqa: BLE001  whatever it is belongs to those who asked, not to this task
            for one in coming:
                self._line.forget(one)
                _fail(one, error)
            return
        for one, made in zip(coming, ready, strict=True):
            self._line.put(one, self._model.shape(made), made)

    async def _answer(self, group: Group[Item, Ready, Out]) -> None:
        try:
            answers = await self._run(lambda: self._model.compute(group.shape, [one.ready for one in group.some]))
        except Exception as error:  # noqa: BLE001  as above
            for one in group.some:
                _fail(one.waiting, error)
            return
        for one, answer in zip(group.some, answers, strict=True):
            for asked in one.waiting.answers:
                if not asked.done():
                    asked.set_result(answer)

    async def _run(self, work: Callable[[], Done]) -> Done:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _fail(waiting: Waiting[Item, Ready, Out], error: Exception) -> None:
    for asked in waiting.answers:
        if not asked.done():
            asked.set_exception(error)
