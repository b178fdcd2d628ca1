import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest
from numpy.typing import NDArray

from workers.batching.micro_batcher import MicroBatcher

Row = NDArray[np.float32]


def compute_row(text: str) -> Row:
    return np.array([len(text), sum(map(ord, text))], np.float32)


class Computer:
    """A model that computes at once, or, when `gate` is closed, as soon as it opens. All texts are of one shape or,
    when it `sorts`, those with the same first letter. When it `packs`, `rows` limits the letters of a batch."""

    def __init__(self, rows: int = 100, sorts: bool = False, packs: bool = False) -> None:
        self._rows = rows
        self._packs = packs
        self._sorts = sorts
        self.batches: list[list[str]] = []
        self.started = Event()
        self.gate = Event()
        self.gate.set()

    def prepare(self, texts: Sequence[str]) -> Sequence[str]:
        if "unreadable" in texts:
            raise ValueError("no tokens")
        return texts

    def get_shape(self, text: str) -> int:
        return ord(text[0]) if self._sorts else 0

    def get_size(self, text: str) -> int:
        return len(text) if self._packs else 1

    def get_capacity(self, shape: int) -> int:
        return self._rows

    def compute(self, shape: int, texts: Sequence[str]) -> list[Row]:
        self.batches.append(list(texts))
        self.started.set()
        self.gate.wait(timeout=60)
        if "bad" in texts:
            raise RuntimeError("no memory")
        return [compute_row(text) for text in texts]


@pytest.fixture
def thread() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(max_workers=1) as thread:
        yield thread


def make_batcher(computer: Computer, thread: ThreadPoolExecutor, max_held: int = 1000) -> MicroBatcher[str, str, Row]:
    return MicroBatcher(computer, thread, window_seconds=0.0, max_prepared=max_held)


async def test_concurrent_requests_share_a_batch_and_get_their_own_rows(thread: ThreadPoolExecutor) -> None:
    computer = Computer()
    shared = make_batcher(computer, thread)
    questions = [[f"text {i}", "common", f"other {i}"] for i in range(20)]
    answers = await asyncio.gather(*(shared.compute(texts) for texts in questions))
    for texts, rows in zip(questions, answers, strict=True):
        assert [item.tolist() for item in rows] == [compute_row(text).tolist() for text in texts]
    assert len(computer.batches) == 1
    assert len(computer.batches[0]) == 41


async def test_batches_are_no_larger_than_allowed(thread: ThreadPoolExecutor) -> None:
    computer = Computer(rows=8)
    await make_batcher(computer, thread).compute([str(i) for i in range(20)])
    assert [len(batch) for batch in computer.batches] == [8, 8, 4]


async def test_texts_of_same_shape_share_a_batch_starting_with_the_oldest(thread: ThreadPoolExecutor) -> None:
    computer = Computer(rows=3, sorts=True)
    await make_batcher(computer, thread).compute(["b1", "a1", "b2", "a2", "b3", "b4", "a3"])
    assert computer.batches == [["b1", "b2", "b3"], ["a1", "a2", "a3"], ["b4"]]


async def test_smaller_texts_fill_the_batch_behind_a_text_that_does_not_fit(thread: ThreadPoolExecutor) -> None:
    computer = Computer(rows=10, packs=True)
    texts = ["six123", "seven12", "four", "ten4567890", "abc"]
    rows = await make_batcher(computer, thread).compute(texts)
    assert computer.batches == [["six123", "four"], ["seven12", "abc"], ["ten4567890"]]
    assert [item.tolist() for item in rows] == [compute_row(text).tolist() for text in texts]


async def test_urgent_request_waits_only_for_the_running_batch(thread: ThreadPoolExecutor) -> None:
    computer = Computer(rows=2)
    computer.gate.clear()
    shared = make_batcher(computer, thread, max_held=4)
    bulk = asyncio.ensure_future(shared.compute([f"bulk {i}" for i in range(40)]))
    await asyncio.to_thread(computer.started.wait, 60)
    urgent = asyncio.ensure_future(shared.compute(["now"], urgent=True))
    raised = asyncio.ensure_future(shared.compute(["bulk 39"], urgent=True))
    await asyncio.sleep(0)
    computer.gate.set()
    await asyncio.gather(bulk, urgent, raised)
    assert computer.batches[:2] == [["bulk 0", "bulk 1"], ["bulk 39", "now"]]
    assert sorted(text for batch in computer.batches for text in batch) == sorted(
        ["now", *(f"bulk {i}" for i in range(40))]
    )


async def test_text_that_cannot_be_prepared_fails_only_its_request(thread: ThreadPoolExecutor) -> None:
    shared = make_batcher(Computer(), thread)
    with pytest.raises(ValueError, match="no tokens"):
        await shared.compute(["unreadable"])
    assert [item.tolist() for item in await shared.compute(["fine"])] == [compute_row("fine").tolist()]


async def test_failing_batch_affects_only_its_own_requests(thread: ThreadPoolExecutor) -> None:
    shared = make_batcher(Computer(rows=2), thread)
    outcomes = await asyncio.gather(
        shared.compute(["bad"]), shared.compute(["with bad"]), shared.compute(["later"]), return_exceptions=True
    )
    assert [isinstance(outcome, RuntimeError) for outcome in outcomes] == [True, True, False]
    assert [item.tolist() for item in await shared.compute(["again"])] == [compute_row("again").tolist()]


async def test_cancelled_request_removes_its_waiting_texts(thread: ThreadPoolExecutor) -> None:
    computer = Computer(rows=1)
    computer.gate.clear()
    shared = make_batcher(computer, thread)
    first = asyncio.ensure_future(shared.compute(["running"]))
    await asyncio.to_thread(computer.started.wait, 60)
    cancelled_request, remaining = (
        asyncio.ensure_future(shared.compute(["gone"])),
        asyncio.ensure_future(shared.compute(["stays"])),
    )
    await asyncio.sleep(0)
    cancelled_request.cancel()
    first.cancel()
    computer.gate.set()
    assert [row.tolist() for row in await remaining] == [compute_row("stays").tolist()]
    assert computer.batches == [["running"], ["stays"]]
    for cancelled in (first, cancelled_request):
        with pytest.raises(asyncio.CancelledError):
            await cancelled


def test_batcher_works_across_successive_event_loops(thread: ThreadPoolExecutor) -> None:
    shared = make_batcher(Computer(), thread)
    for text in ("one", "two"):
        assert [item.tolist() for item in asyncio.run(shared.compute([text]))] == [compute_row(text).tolist()]


def test_event_loop_ending_midway_leaves_no_waiting_texts(thread: ThreadPoolExecutor) -> None:
    computer = Computer(rows=1)
    computer.gate.clear()
    shared = make_batcher(computer, thread)

    async def cancel_request() -> None:
        request = asyncio.ensure_future(shared.compute(["one", "two", "three"]))
        await asyncio.to_thread(computer.started.wait, 60)
        request.cancel()

    asyncio.run(cancel_request())
    computer.gate.set()
    for text in ("four", "three"):  # the second waited when the loop ended
        assert [item.tolist() for item in asyncio.run(shared.compute([text]))] == [compute_row(text).tolist()]
    assert computer.batches == [["one"], ["four"], ["three"]]
