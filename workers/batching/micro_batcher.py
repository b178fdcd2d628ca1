"""Dynamic micro-batching: what many callers ask at the same time is computed together.

A batch holds items of one shape, so texts of like length share it and little is padded; it is small, so an urgent
caller waits for one batch at most, and now and then for a second one, which keeps urgent callers without end from
starving the others. A lone caller waits for nobody but the short collecting window.

Items are first prepared (a text becomes tokens, and so gets its shape), then computed together with others of their
shape. Urgent items pass the others; among equals the one that came first is next, and takes along others of its shape,
urgent ones first, until the batch is full. But urgent items pass the others only so often: then one batch is the
others', who therefore get an eighth of all batches at least.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, Protocol, TypeVar

__all__ = ["URGENT_IN_A_ROW", "BatchModel", "BatchQueue", "MicroBatcher"]

URGENT_IN_A_ROW = 7
"""Batches that urgent items may lead, one after the other, while others wait."""
_PREPARED_AT_ONCE = 64
"""Items: a few milliseconds' work, as an urgent caller waits for it."""
_HELD_PREPARED = 2048
"""Items that batches are formed of; enough for a GPU's largest batches of every length."""

Item = TypeVar("Item", bound=Hashable)
Prepared = TypeVar("Prepared")
Out = TypeVar("Out")
Item_contra = TypeVar("Item_contra", contravariant=True)
Out_co = TypeVar("Out_co", covariant=True)
Result = TypeVar("Result")


class BatchModel(Protocol[Item_contra, Prepared, Out_co]):
    """What computes. Called from one thread only; whatever it raises reaches those who asked."""

    def prepare(self, items: Sequence[Item_contra], /) -> Sequence[Prepared]: ...

    def shape(self, one: Prepared, /) -> int:
        """Items share a batch with those of their own shape: their padded width."""
        ...

    def rows(self, shape: int, /) -> int:
        """How many items of a shape share a batch."""
        ...

    def compute(self, shape: int, batch: Sequence[Prepared], /) -> Sequence[Out_co]:
        """One result an item, in order."""
        ...


@dataclass(eq=False)
class _PendingItem(Generic[Item, Out]):
    """One item, and all who asked for it."""

    item: Item
    number: int
    """In the order of arrival."""
    urgent: bool = False
    results: list["asyncio.Future[Out]"] = field(default_factory=list)
    dequeued: bool = False
    """It was taken out of a queue of arrivals already, and may stand in the other one still."""

    @property
    def wanted(self) -> bool:
        """Not when all who asked have been cancelled."""
        return any(not result.done() for result in self.results)


class _PreparedItem(NamedTuple, Generic[Item, Prepared, Out]):
    pending: _PendingItem[Item, Out]
    shape: int
    prepared: Prepared


class _Batch(NamedTuple, Generic[Item, Prepared, Out]):
    shape: int
    items: list[_PreparedItem[Item, Prepared, Out]]


class BatchQueue(Generic[Item, Prepared, Out]):
    """Which items are prepared and computed next: plain decisions, no event loop.

    At most `held` items are held prepared; the others wait as they came, so that a long queue costs little memory.
    """

    def __init__(self, held: int) -> None:
        self._most_held = held
        self._pending: dict[Item, _PendingItem[Item, Out]] = {}
        self._arrived: dict[bool, deque[_PendingItem[Item, Out]]] = {True: deque(), False: deque()}
        """By whether they are urgent."""
        self._prepared: list[_PreparedItem[Item, Prepared, Out]] = []
        self._arrivals = 0
        self._urgent_in_a_row = 0

    def __bool__(self) -> bool:
        return bool(self._pending)

    def add(self, item: Item, result: "asyncio.Future[Out]", urgent: bool) -> None:
        """An item that waits already is computed once, for all who ask."""
        pending = self._pending.get(item)
        if pending is None:
            pending = self._pending[item] = _PendingItem(item, self._arrivals)
            self._arrivals += 1
            self._arrived[urgent].append(pending)
        elif urgent and not pending.urgent:
            self._arrived[urgent].append(pending)
        pending.urgent |= urgent
        pending.results.append(result)

    def take_unprepared(self, most: int) -> list[_PendingItem[Item, Out]]:
        """The items to be prepared now; `add_prepared` brings them back."""
        taken: list[_PendingItem[Item, Out]] = []
        others = sum(not one.pending.urgent for one in self._prepared)
        for urgent in (self._urgent_first, not self._urgent_first):
            arrived = self._arrived[urgent]
            room = most if urgent else min(most, self._most_held - others)
            while arrived and len(taken) < room:
                pending = arrived.popleft()
                if pending.dequeued:
                    continue
                pending.dequeued = True
                if pending.wanted:
                    taken.append(pending)
                else:
                    self.forget(pending)
        return taken

    def add_prepared(self, pending: _PendingItem[Item, Out], shape: int, prepared: Prepared) -> None:
        self._prepared.append(_PreparedItem(pending, shape, prepared))

    def forget(self, pending: _PendingItem[Item, Out]) -> None:
        """Whoever asks for it from now on begins anew."""
        del self._pending[pending.item]

    def take_batch(self, rows: Callable[[int], int]) -> _Batch[Item, Prepared, Out] | None:
        """`rows` of a shape share a batch. None when no item is prepared."""
        for one in self._prepared:
            if not one.pending.wanted:
                self.forget(one.pending)
        self._prepared = [one for one in self._prepared if one.pending.wanted]
        if not self._prepared:
            return None
        urgent_first = self._urgent_first

        def order(one: _PreparedItem[Item, Prepared, Out]) -> tuple[bool, int]:
            return one.pending.urgent != urgent_first, one.pending.number

        lead = min(self._prepared, key=order)
        self._count(lead.pending.urgent)
        alike = sorted((one for one in self._prepared if one.shape == lead.shape), key=order)[: rows(lead.shape)]
        taken = {id(one) for one in alike}
        self._prepared = [one for one in self._prepared if id(one) not in taken]
        for one in alike:
            self.forget(one.pending)
        return _Batch(lead.shape, alike)

    @property
    def _urgent_first(self) -> bool:
        return self._urgent_in_a_row < URGENT_IN_A_ROW

    def _count(self, urgent: bool) -> None:
        others_wait = bool(self._arrived[False]) or any(not one.pending.urgent for one in self._prepared)
        self._urgent_in_a_row = self._urgent_in_a_row + 1 if urgent and others_wait and self._urgent_first else 0


class MicroBatcher(Generic[Item, Prepared, Out]):
    """Runs a model in `thread`. A caller who is cancelled takes its items along. Serves one event loop at a time."""

    def __init__(
        self,
        model: BatchModel[Item, Prepared, Out],
        thread: ThreadPoolExecutor,
        window_seconds: float,
        held: int = _HELD_PREPARED,
    ) -> None:
        self._model = model
        self._thread = thread
        self._window = window_seconds
        self._held = held
        self._queue: BatchQueue[Item, Prepared, Out] = BatchQueue(held)
        self._server: asyncio.Task[None] | None = None

    async def compute(self, items: Sequence[Item], urgent: bool = False) -> list[Out]:
        """One result an item, in order."""
        loop = asyncio.get_running_loop()
        results: list[asyncio.Future[Out]] = [loop.create_future() for _ in items]
        for item, result in zip(items, results, strict=True):
            self._queue.add(item, result, urgent)
        if self._server is None or self._server.done():
            self._server = loop.create_task(self._serve())
        return await asyncio.gather(*results)

    async def _serve(self) -> None:
        try:
            await asyncio.sleep(self._window)
            while self._queue:
                if unprepared := self._queue.take_unprepared(_PREPARED_AT_ONCE):
                    await self._prepare(unprepared)
                if batch := self._queue.take_batch(self._model.rows):
                    await self._compute(batch)
        except asyncio.CancelledError:
            self._queue = BatchQueue(self._held)  # the loop ends, and all who asked in it
            raise

    async def _prepare(self, unprepared: list[_PendingItem[Item, Out]]) -> None:
        try:
            prepared = await self._run(lambda: self._model.prepare([one.item for one in unprepared]))
        except Exception as error:  # noqa: BLE001  whatever it is belongs to those who asked, not to this task
            for one in unprepared:
                self._queue.forget(one)
                _fail(one, error)
            return
        for one, made in zip(unprepared, prepared, strict=True):
            self._queue.add_prepared(one, self._model.shape(made), made)

    async def _compute(self, batch: _Batch[Item, Prepared, Out]) -> None:
        try:
            outputs = await self._run(lambda: self._model.compute(batch.shape, [one.prepared for one in batch.items]))
        except Exception as error:  # noqa: BLE001  as above
            for one in batch.items:
                _fail(one.pending, error)
            return
        for one, output in zip(batch.items, outputs, strict=True):
            for result in one.pending.results:
                if not result.done():
                    result.set_result(output)

    async def _run(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _fail(pending: _PendingItem[Item, Out], error: Exception) -> None:
    for result in pending.results:
        if not result.done():
            result.set_exception(error)
