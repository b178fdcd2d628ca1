"""Order in which the batch queue picks work, as plain decisions."""

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.batching.micro_batcher import URGENT_IN_A_ROW, BatchQueue

Texts = BatchQueue[str, str, int]
ROWS = 2


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Event loop that creates futures and never runs."""
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


def take_texts(queue: Texts, max_texts: int = 4) -> list[str]:
    """Take one batch, as the batcher does; a text's first letter is its shape."""
    for waiting in queue.take_unprepared(max_texts):
        queue.add_prepared(waiting, ord(waiting.item[0]), waiting.item)
    batch = queue.take_batch(lambda shape: ROWS, lambda text: 1)
    return [] if batch is None else [item.pending.item for item in batch.items]


def test_oldest_normal_requests_run_after_seven_urgent_batches(loop: asyncio.AbstractEventLoop) -> None:
    queue = Texts(max_prepared=100)
    queue.add("b first", loop.create_future(), urgent=False)
    queue.add("b second", loop.create_future(), urgent=False)
    queue.add("c third", loop.create_future(), urgent=False)
    for number in range(100):
        queue.add(f"a {number}", loop.create_future(), urgent=True)
    passes = [take_texts(queue) for _ in range(2 * URGENT_IN_A_ROW + 2)]
    assert passes[URGENT_IN_A_ROW] == ["b first", "b second"]
    assert passes[-1] == ["c third"]
    assert all(
        text.startswith("a") for batch in passes[:URGENT_IN_A_ROW] + passes[URGENT_IN_A_ROW + 1 : -1] for text in batch
    )


def test_normal_request_is_batched_before_urgent_requests_of_same_shape(loop: asyncio.AbstractEventLoop) -> None:
    queue = Texts(max_prepared=100)
    for number in range(40):
        queue.add(f"a urgent {number}", loop.create_future(), urgent=True)
    queue.add("a other", loop.create_future(), urgent=False)
    passes = [take_texts(queue) for _ in range(URGENT_IN_A_ROW + 1)]
    assert passes[-1] == ["a other", f"a urgent {URGENT_IN_A_ROW * ROWS}"]


def test_late_normal_request_waits_for_seven_urgent_batches(loop: asyncio.AbstractEventLoop) -> None:
    queue = Texts(max_prepared=100)
    for number in range(60):
        queue.add(f"a {number}", loop.create_future(), urgent=True)
    urgent_batches = [take_texts(queue) for _ in range(2 * URGENT_IN_A_ROW)]
    queue.add("b other", loop.create_future(), urgent=False)
    batches = [take_texts(queue) for _ in range(URGENT_IN_A_ROW + 1)]
    assert all(text.startswith("a") for batch in urgent_batches + batches[:-1] for text in batch)
    assert batches[-1] == ["b other"]


@given(
    arrivals=st.lists(st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), max_size=6), min_size=1, max_size=40),
    max_prepared=st.integers(1, 5),
    max_texts=st.integers(1, 6),
)
def test_oldest_normal_request_never_waits_more_than_seven_batches(
    loop: asyncio.AbstractEventLoop, arrivals: list[list[tuple[str, bool]]], max_prepared: int, max_texts: int
) -> None:
    queue = Texts(max_prepared=max_prepared)
    waiting_texts: list[str] = []
    since = number = 0
    for arrivals_at_once in arrivals + [[("a", True)] * (ROWS + 1)] * 60:
        for shape, urgent in arrivals_at_once:
            queue.add(f"{shape} {number}", loop.create_future(), urgent)
            waiting_texts += [] if urgent else [f"{shape} {number}"]
            number += 1
        oldest = waiting_texts[:1]
        batch = take_texts(queue, max_texts)
        waiting_texts = [item for item in waiting_texts if item not in batch]
        since = since + 1 if oldest and oldest[0] not in batch else 0
        assert since <= URGENT_IN_A_ROW


def test_each_queued_text_is_taken_exactly_once(loop: asyncio.AbstractEventLoop) -> None:
    queue = Texts(max_prepared=3)
    texts = [f"{'abc'[number % 3]} {number}" for number in range(50)]
    for number, text in enumerate(texts):
        queue.add(text, loop.create_future(), urgent=number % 5 == 0)
        queue.add(text, loop.create_future(), urgent=number % 7 == 0)
    computed = []
    while queue:
        computed += take_texts(queue)
    assert sorted(computed) == sorted(texts)
