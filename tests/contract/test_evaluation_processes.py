"""A parent and the loop that serves it, over a real pipe: what ends in which way is told, and nothing works on for
nobody."""

import asyncio
import multiprocessing
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import pytest

from assayer.errors import Defect
from assayer.ports import Progress
from cluster import evaluation_processes
from cluster.engine import Engine

# It has no public way in without processes, whose engines take seconds to open.
from cluster.evaluation_processes import _Child, _InProcesses, _listen, _Serving, _Silent

UNUSED: Any = None
STARTED, ENDED = asyncio.Event(), asyncio.Event()


class Endless:
    """Says when it has begun and when it has been ended."""

    async def __call__(self, engine: Engine, progress: Progress) -> None:
        STARTED.set()
        try:
            await asyncio.Event().wait()
        finally:
            ENDED.set()


class Unsendable:
    async def __call__(self, engine: Engine, progress: Progress) -> Callable[[], int]:
        return lambda: 1


class Sendable:
    async def __call__(self, engine: Engine, progress: Progress) -> int:
        return 7


@asynccontextmanager
async def _no_engine(*_: object, **__: object) -> AsyncIterator[object]:
    yield object()


@pytest.fixture
async def served(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[_InProcesses]:
    """One place, in this process."""
    monkeypatch.setattr(evaluation_processes, "open_engine", _no_engine)
    ours, theirs = multiprocessing.Pipe()
    child = _Child(UNUSED, ours)
    opened = child.expect(0, _Silent())
    _listen(child)
    serving = asyncio.create_task(_Serving(theirs).run(UNUSED, ()))
    await opened
    yield _InProcesses([child], count(1).__next__, asyncio.Semaphore(1))
    ours.send(None)
    await serving
    theirs.close()
    assert child.listener is not None
    await asyncio.to_thread(child.listener.join)
    ours.close()


async def test_work_that_nobody_waits_for_any_more_ends_before_its_place_is_taken(served: _InProcesses) -> None:
    waiting = asyncio.create_task(served.run(Endless(), _Silent()))
    await STARTED.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await served.run(Sendable(), _Silent()) == 7
    assert ENDED.is_set()


async def test_a_result_that_cannot_be_sent_is_a_defect_and_holds_nobody_up(served: _InProcesses) -> None:
    async with asyncio.timeout(30):
        with pytest.raises(Defect, match=r"assayer failed: .*pickle"):
            await served.run(Unsendable(), _Silent())
        assert await served.run(Sendable(), _Silent()) == 7
