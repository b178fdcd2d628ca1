"""A share of works as a child does it, over a real pipe: every end is told to the parent."""

import asyncio
import multiprocessing
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from assayer.errors import Defect, InputError, LlmRejected
from assayer.models import EvaluationId
from assayer.ports import Progress, ProgressEvent
from cluster import evaluation_processes
from cluster.engine import Engine

# The public way needs processes, whose engines take seconds to open.
from cluster.evaluation_processes import _Parent, _run_share_async

UNUSED: Any = None
EVENT = ProgressEvent(EvaluationId("ev_1"), "soundness", 1, 2)


async def return_seven(engine: Engine, progress: Progress) -> int:
    progress.report(EVENT)
    return 7


async def return_lambda(engine: Engine, progress: Progress) -> Callable[[], int]:
    return lambda: 1


async def raise_input_error(engine: Engine, progress: Progress) -> int:
    raise InputError("Too short.", "Write more.")


async def raise_llm_rejected(engine: Engine, progress: Progress) -> int:
    raise LlmRejected("The key is wrong.")


async def run_forever(engine: Engine, progress: Progress) -> int:
    await asyncio.Event().wait()
    return 0


class _Reachable:
    async def check_llm_reachable(self) -> None:
        pass


@asynccontextmanager
async def _open_no_engine(*_: object, **__: object) -> AsyncIterator[object]:
    yield _Reachable()


class RecordingParent(_Parent):
    """A parent's connections with both ends here."""

    def __init__(self) -> None:
        self.received, sending_end = multiprocessing.Pipe(duplex=False)
        super().__init__(sending_end, multiprocessing.get_context("spawn").Lock(), UNUSED)


@pytest.fixture
def parent(monkeypatch: pytest.MonkeyPatch) -> RecordingParent:
    monkeypatch.setattr(evaluation_processes, "open_engine", _open_no_engine)
    return RecordingParent()


def read_events(parent: RecordingParent) -> list[Any]:
    events = []
    while parent.received.poll(0.1):
        events.append(parent.received.recv())
    return events


async def test_results_failures_and_progress_are_reported_individually(parent: RecordingParent) -> None:
    works: dict[int, Any] = {3: return_seven, 5: raise_input_error}
    assert await _run_share_async(UNUSED, (), works, parent) is None
    events = read_events(parent)
    assert EVENT in events
    results = {
        event.number: event.result for event in events if event is not EVENT and not isinstance(event, ProgressEvent)
    }
    assert results[3] == 7
    assert isinstance(results[5], InputError)


async def test_unserializable_result_is_reported_as_defect_without_blocking_others(parent: RecordingParent) -> None:
    works: dict[int, Any] = {0: return_lambda, 1: return_seven}
    assert await _run_share_async(UNUSED, (), works, parent) is None
    results = {item.number: item.result for item in read_events(parent) if not isinstance(item, ProgressEvent)}
    assert isinstance(results[0], Defect)
    assert results[1] == 7


async def test_refused_key_stops_the_share(parent: RecordingParent) -> None:
    works: dict[int, Any] = {0: raise_llm_rejected, 1: run_forever}
    assert isinstance(await _run_share_async(UNUSED, (), works, parent), LlmRejected)
    assert read_events(parent) == []


async def test_share_ends_when_its_parent_asks(parent: RecordingParent) -> None:
    works: dict[int, Any] = {0: run_forever}
    share = asyncio.create_task(_run_share_async(UNUSED, (), works, parent))
    await asyncio.sleep(0.05)
    await asyncio.to_thread(parent.cancel)
    with pytest.raises(asyncio.CancelledError):
        await share
