"""Dynamic micro-batching: compute concurrent requests from many callers together.

A batch holds items of one shape (padded width), so that there is little padding. Batches are small, so that an urgent
caller waits for at most one batch, or rarely two. A lone caller waits only for the short collecting window.

Items are first prepared (a text becomes tokens, which determine its shape), then computed together with others of the
same shape. Each batch begins with the oldest urgent item or, if there is none, the oldest other item. Items of the same
shape fill the batch, urgent ones first. After `URGENT_IN_A_ROW` urgent batches, one batch begins with a non-urgent
item, so that these are not starved."""

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, Protocol, TypeVar

URGENT_IN_A_ROW = 7
"""Maximum number of consecutive batches that begin with an urgent item while other items wait."""
_MAX_PREPARED_AT_ONCE = 64
"""Maximum number of items prepared at once, which takes a few milliseconds. Urgent callers wait for it."""
_MAX_PREPARED_ITEMS = 2048
"""Maximum number of prepared items held for forming batches, enough for a GPU's largest batches of every length."""

Item = TypeVar("Item", bound=Hashable)
Prepared = TypeVar("Prepared")
Out = TypeVar("Out")
Item_contra = TypeVar("Item_contra", contravariant=True)
Out_co = TypeVar("Out_co", covariant=True)
Result = TypeVar("Result")


class BatchModel(Protocol[Item_contra, Prepared, Out_co]):
    """Model that computes batches. It is called from a single thread. If it raises an exception, every caller in the
    batch receives it."""

    def prepare(self, items: Sequence[Item_contra], /) -> Sequence[Prepared]: ...

    def get_shape(self, prepared: Prepared, /) -> int:
        """Return a prepared item's shape, that is, its padded width. Only items of the same shape share a batch."""
        ...

    def get_size(self, prepared: Prepared, /) -> int:
        """Return how much of a batch's capacity a prepared item takes: one row, or its number of tokens."""
        ...

    def get_capacity(self, shape: int, /) -> int:
        """Return the maximum total size of the items in a batch of this shape."""
        ...

    def compute(self, shape: int, batch: Sequence[Prepared], /) -> Sequence[Out_co]:
        """Return one result per item, in order."""
        ...


@dataclass(eq=False)
class _PendingItem(Generic[Item, Out]):
    """Queued item, with all callers waiting for it."""

    item: Item
    arrival: int
    """Position in the order of arrival."""
    urgent: bool = False
    results: list["asyncio.Future[Out]"] = field(default_factory=list)
    dequeued: bool = False
    """Whether the item was already taken from one of the two arrival queues. It may still be in the other queue."""

    @property
    def has_callers(self) -> bool:
        """Return whether any caller still waits for the item; False if all were cancelled."""
        return any(not result.done() for result in self.results)


class _PreparedItem(NamedTuple, Generic[Item, Prepared, Out]):
    pending: _PendingItem[Item, Out]
    shape: int
    prepared: Prepared


class _Batch(NamedTuple, Generic[Item, Prepared, Out]):
    shape: int
    items: list[_PreparedItem[Item, Prepared, Out]]


class BatchQueue(Generic[Item, Prepared, Out]):
    """Queue that decides which items are prepared and computed next. It uses no event loop.

    At most `max_prepared` non-urgent items are prepared ahead, so that a long queue takes little memory."""

    def __init__(self, max_prepared: int) -> None:
        self._max_prepared = max_prepared
        self._pending_items: dict[Item, _PendingItem[Item, Out]] = {}
        self._arrival_queues: dict[bool, deque[_PendingItem[Item, Out]]] = {True: deque(), False: deque()}
        """Arrival queues, keyed by whether the items are urgent."""
        self._prepared_items: list[_PreparedItem[Item, Prepared, Out]] = []
        self._arrivals = 0
        self._urgent_in_a_row = 0

    def __bool__(self) -> bool:
        return bool(self._pending_items)

    def add(self, item: Item, result: "asyncio.Future[Out]", urgent: bool) -> None:
        """Add an item. An item that is already pending is computed once for all callers."""
        pending = self._pending_items.get(item)
        if pending is None:
            pending = self._pending_items[item] = _PendingItem(item, self._arrivals)
            self._arrivals += 1
            self._arrival_queues[urgent].append(pending)
        elif urgent and not pending.urgent:
            self._arrival_queues[urgent].append(pending)
        pending.urgent |= urgent
        pending.results.append(result)

    def take_unprepared(self, limit: int) -> list[_PendingItem[Item, Out]]:
        """Take at most `limit` items to prepare now; `add_prepared` returns them to the queue."""
        items: list[_PendingItem[Item, Out]] = []
        prepared_not_urgent = sum(not item.pending.urgent for item in self._prepared_items)
        for urgent in (self._is_urgent_turn, not self._is_urgent_turn):
            queue = self._arrival_queues[urgent]
            max_items = limit if urgent else min(limit, self._max_prepared - prepared_not_urgent)
            while queue and len(items) < max_items:
                pending = queue.popleft()
                if pending.dequeued:
                    continue
                pending.dequeued = True
                if pending.has_callers:
                    items.append(pending)
                else:
                    self.forget(pending)
        return items

    def add_prepared(self, pending: _PendingItem[Item, Out], shape: int, prepared: Prepared) -> None:
        self._prepared_items.append(_PreparedItem(pending, shape, prepared))

    def forget(self, pending: _PendingItem[Item, Out]) -> None:
        """Remove a pending item. A later request for the same item is computed again."""
        del self._pending_items[pending.item]

    def take_batch(
        self, capacity: Callable[[int], int], size: Callable[[Prepared], int]
    ) -> _Batch[Item, Prepared, Out] | None:
        """Take the next batch, of items of one shape whose sizes sum to at most `capacity(shape)`; return None if no
        item is prepared. Items that do not fit are skipped, so that smaller ones fill the batch."""
        for item in self._prepared_items:
            if not item.pending.has_callers:
                self.forget(item.pending)
        self._prepared_items = [item for item in self._prepared_items if item.pending.has_callers]
        if not self._prepared_items:
            return None
        urgent_first = self._is_urgent_turn

        def sort_key(prepared_item: _PreparedItem[Item, Prepared, Out]) -> tuple[bool, int]:
            return prepared_item.pending.urgent != urgent_first, prepared_item.pending.arrival

        lead = min(self._prepared_items, key=sort_key)
        self._count_urgent_batch(lead.pending.urgent)
        batch_items, free_capacity = dict[int, _PreparedItem[Item, Prepared, Out]](), capacity(lead.shape)
        for item in sorted((item for item in self._prepared_items if item.shape == lead.shape), key=sort_key):
            if (item_size := size(item.prepared)) <= free_capacity:
                batch_items[id(item)] = item
                free_capacity -= item_size
                self.forget(item.pending)
        self._prepared_items = [item for item in self._prepared_items if id(item) not in batch_items]
        return _Batch(lead.shape, list(batch_items.values()))

    @property
    def _is_urgent_turn(self) -> bool:
        return self._urgent_in_a_row < URGENT_IN_A_ROW

    def _count_urgent_batch(self, urgent: bool) -> None:
        others_wait = bool(self._arrival_queues[False]) or any(not item.pending.urgent for item in self._prepared_items)
        self._urgent_in_a_row = self._urgent_in_a_row + 1 if urgent and others_wait and self._is_urgent_turn else 0


class MicroBatcher(Generic[Item, Prepared, Out]):
    """Runs a batch model in a thread, for one event loop at a time. Items whose callers were all cancelled are
    dropped."""

    def __init__(
        self,
        model: BatchModel[Item, Prepared, Out],
        thread: ThreadPoolExecutor,
        window_seconds: float,
        max_prepared: int = _MAX_PREPARED_ITEMS,
    ) -> None:
        self._model = model
        self._thread = thread
        self._window = window_seconds
        self._max_prepared = max_prepared
        self._queue: BatchQueue[Item, Prepared, Out] = BatchQueue(max_prepared)
        self._server: asyncio.Task[None] | None = None

    async def compute(self, items: Sequence[Item], urgent: bool = False) -> list[Out]:
        """Return one result per item, in order."""
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
                if unprepared := self._queue.take_unprepared(_MAX_PREPARED_AT_ONCE):
                    await self._prepare(unprepared)
                if batch := self._queue.take_batch(self._model.get_capacity, self._model.get_size):
                    await self._compute(batch)
        except asyncio.CancelledError:
            self._queue = BatchQueue(self._max_prepared)  # the event loop ends, and with it all callers
            raise

    async def _prepare(self, unprepared: list[_PendingItem[Item, Out]]) -> None:
        try:
            prepared = await self._run(lambda: self._model.prepare([item.item for item in unprepared]))
        except Exception as error:  # noqa: BLE001  passed on to the callers
            for item in unprepared:
                self._queue.forget(item)
                _fail(item, error)
            return
        for item, prepared_item in zip(unprepared, prepared, strict=True):
            self._queue.add_prepared(item, self._model.get_shape(prepared_item), prepared_item)

    async def _compute(self, batch: _Batch[Item, Prepared, Out]) -> None:
        try:
            outputs = await self._run(lambda: self._model.compute(batch.shape, [item.prepared for item in batch.items]))
        except Exception as error:  # noqa: BLE001  as above
            for item in batch.items:
                _fail(item.pending, error)
            return
        for item, output in zip(batch.items, outputs, strict=True):
            for result in item.pending.results:
                if not result.done():
                    result.set_result(output)

    async def _run(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _fail(pending: _PendingItem[Item, Out], error: Exception) -> None:
    for result in pending.results:
        if not result.done():
            result.set_exception(error)
