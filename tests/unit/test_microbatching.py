import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest

from workers.microbatching import MicroBatcher, Row


def row(text: str) -> Row:
    return np.array([len(text), sum(map(ord, text))], np.float32)


class Computer:
    """Computes at once, or, when `gate` is closed, as soon as it opens."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.started = Event()
        self.gate = Event()
        self.gate.set()

    def __call__(self, texts: Sequence[str]) -> list[Row]:
        self.batches.append(list(texts))
        self.started.set()
        self.gate.wait(timeout=60)
        if "bad" in texts:
            raise RuntimeError("no memory")
        return [row(text) for text in texts]


@pytest.fixture
def thread() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(max_workers=1) as thread:
        yield thread


def batcher(computer: Computer, thread: ThreadPoolExecutor, largest: int = 100) -> MicroBatcher[str, Row]:
    return MicroBatcher(computer, thread, largest, window_seconds=0.0)


async def test_askers_at_the_same_time_share_one_batch_and_get_their_own_rows(thread: ThreadPoolExecutor) -> None:
    computer = Computer()
    shared = batcher(computer, thread)
    questions = [[f"text {i}", "common", f"other {i}"] for i in range(20)]
    answers = await asyncio.gather(*(shared.ask(texts) for texts in questions))
    for texts, rows in zip(questions, answers, strict=True):
        assert [one.tolist() for one in rows] == [row(text).tolist() for text in texts]
    assert len(computer.batches) == 1
    assert len(computer.batches[0]) == 41


async def test_batches_are_no_larger_than_allowed(thread: ThreadPoolExecutor) -> None:
    computer = Computer()
    await batcher(computer, thread, largest=8).ask([str(i) for i in range(20)])
    assert [len(batch) for batch in computer.batches] == [8, 8, 4]


async def test_a_failing_batch_reaches_everybody_in_it_and_nobody_else(thread: ThreadPoolExecutor) -> None:
    computer = Computer()
    shared = batcher(computer, thread, largest=2)
    outcomes = await asyncio.gather(
        shared.ask(["bad"]), shared.ask(["with bad"]), shared.ask(["later"]), return_exceptions=True
    )
    assert [isinstance(outcome, RuntimeError) for outcome in outcomes] == [True, True, False]
    assert [one.tolist() for one in await shared.ask(["again"])] == [row("again").tolist()]


async def test_a_cancelled_asker_takes_its_waiting_texts_along(thread: ThreadPoolExecutor) -> None:
    computer = Computer()
    computer.gate.clear()
    shared = batcher(computer, thread, largest=1)
    first = asyncio.ensure_future(shared.ask(["running"]))
    await asyncio.to_thread(computer.started.wait, 60)
    gone, stays = asyncio.ensure_future(shared.ask(["gone"])), asyncio.ensure_future(shared.ask(["stays"]))
    await asyncio.sleep(0)
    gone.cancel()
    first.cancel()
    computer.gate.set()
    assert [one.tolist() for one in await stays] == [row("stays").tolist()]
    assert computer.batches == [["running"], ["stays"]]
    for cancelled in (first, gone):
        with pytest.raises(asyncio.CancelledError):
            await cancelled


def test_a_batcher_serves_one_event_loop_after_another(thread: ThreadPoolExecutor) -> None:
    shared = batcher(Computer(), thread)
    for text in ("one", "two"):
        assert [one.tolist() for one in asyncio.run(shared.ask([text]))] == [row(text).tolist()]


def test_a_loop_that_ends_in_the_middle_leaves_nothing_behind(thread: ThreadPoolExecutor) -> None:
    computer = Computer()
    computer.gate.clear()
    shared = batcher(computer, thread, largest=1)

    async def give_up() -> None:
        asked = asyncio.ensure_future(shared.ask(["one", "two", "three"]))
        await asyncio.to_thread(computer.started.wait, 60)
        asked.cancel()

    asyncio.run(give_up())
    computer.gate.set()
    assert [one.tolist() for one in asyncio.run(shared.ask(["four"]))] == [row("four").tolist()]
    assert computer.batches == [["one"], ["four"]]
