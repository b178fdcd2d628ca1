"""Evaluate ideas in one or several processes. A Python process uses only one core, and an idea takes half a second of
computation.

Each process has its own engine. All processes share the database, which holds cached answers, reports and the LLM
endpoint's rate limits."""

import asyncio
import contextlib
import logging
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Lock
from typing import Any, NamedTuple, Protocol, TypeVar

from assayer.errors import AssayerError, ConfigurationError, Defect
from assayer.ports import Progress, ProgressEvent
from cluster.database import open_database
from cluster.engine import Engine, open_engine
from cluster.settings import Settings
from cluster.side_by_side import FATAL, SideBySide, run_side_by_side

_LOG = logging.getLogger(__name__)

Out = TypeVar("Out")
Out_co = TypeVar("Out_co", covariant=True)

_MIN_IDEAS_PER_PROCESS = 24
"""Minimum number of ideas per process. With fewer ideas, starting a process (2 to 4 seconds of processor time) is not
worthwhile."""
_MAX_DEFAULT_PROCESSES = 8
"""Maximum number of processes if the number is not configured. Each uses 0.5 GB of memory with the packaged embedding
model, more with a larger one."""
_CANCEL_SECONDS = 10.0
_MAX_POOLS = 2
"""Maximum number of pools started: a broken pool is replaced once."""


class EngineWork(Protocol[Out_co]):
    """Work item for an engine. It is pickled, so it must consist of plain values and come from an importable module."""

    def __call__(self, engine: Engine, progress: Progress) -> Coroutine[Any, Any, Out_co]: ...


async def evaluate_in_processes(
    settings: Settings,
    methods: Sequence[str],
    works: Sequence[EngineWork[Out]],
    progress: Progress,
    ended: Callable[[], None],
) -> SideBySide[Out]:
    """Run all work items in this process or, if there are enough, in several. Calls `ended` after each.

    If a process dies, its pool is replaced once, and the new pool runs the work items that had not ended. Answers
    already received are reused from the database. Raises the errors of `open_engine`."""
    processes = choose_process_count(settings, len(works))
    if processes == 1:
        async with open_engine(settings, methods) as engine:
            return await run_side_by_side(
                [partial(_run_work, work, engine, progress, ended) for work in works], engine.check_llm_reachable
            )
    done: dict[int, Out | AssayerError] = {}
    # Keep the embedded database running, already migrated, until the last process has ended.
    async with open_database(settings):
        for _ in range(_MAX_POOLS):
            remaining = {number: work for number, work in enumerate(works) if number not in done}
            pool = _Pool(settings, methods, min(processes, len(remaining)), progress, ended, done)
            with contextlib.suppress(BrokenProcessPool):
                return SideBySide(done, await pool.run(remaining))
    for number in range(len(works)):
        done.setdefault(number, _build_died_error())
    return SideBySide(done)


def choose_process_count(settings: Settings, ideas: int) -> int:
    """Return the number of processes to use: the configured number or, by default, at most one per usable core, limited
    by the number of ideas. Raises ConfigurationError if several processes would use one metrics port."""
    configured_count = settings.evaluation.processes
    if settings.metrics.port is not None:
        if configured_count is not None and configured_count > 1:
            raise ConfigurationError(
                f"A single metrics port cannot serve {configured_count} processes.",
                "Unset ASSAYER_METRICS__PORT, or set ASSAYER_EVALUATION__PROCESSES=1.",
            )
        return 1
    maximum = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1, _MAX_DEFAULT_PROCESSES)
    useful_count = configured_count if configured_count is not None else min(maximum, ideas // _MIN_IDEAS_PER_PROCESS)
    return max(1, min(useful_count, ideas, settings.evaluation.concurrency))


async def _run_work(work: EngineWork[Out], engine: Engine, progress: Progress, on_end: Callable[[], None]) -> Out:
    try:
        return await work(engine, progress)
    finally:
        on_end()


class _Ended(NamedTuple):
    number: int
    result: Any
    """Result of the work, or the AssayerError that it raised."""


@dataclass(frozen=True)
class _Pool:
    """Pool of processes, each of which runs a share of the work items. They send events through one pipe. Closing a
    second pipe stops them."""

    settings: Settings
    methods: Sequence[str]
    processes: int
    progress: Progress
    ended: Callable[[], None]
    done: dict[int, Any] = field(default_factory=dict)

    async def run(self, works: Mapping[int, EngineWork[Any]]) -> AssayerError | None:
        """Run the work items; return the error that stopped all of them, if any. Raises BrokenProcessPool if a process
        dies."""
        context = multiprocessing.get_context("spawn")  # fork is unsafe, because threads and an event loop run here
        events, sender = context.Pipe(duplex=False)
        stop, running = context.Pipe(duplex=False)
        listener = threading.Thread(target=self._listen, args=(events, asyncio.get_running_loop()), daemon=True)
        listener.start()
        executor = ProcessPoolExecutor(self.processes, context, _connect, (sender, context.Lock(), stop))
        numbers, loop = list(works), asyncio.get_running_loop()
        try:
            shares = [{n: works[n] for n in numbers[place :: self.processes]} for place in range(self.processes)]
            run = partial(_run_share, self._build_child_settings(), tuple(self.methods))
            stopped = await asyncio.gather(*(loop.run_in_executor(executor, run, share) for share in shares))
            return next((error for error in stopped if error is not None), None)
        finally:
            running.close()  # stops processes that are still working
            sender.close()
            await asyncio.to_thread(executor.shutdown, cancel_futures=True)
            await asyncio.to_thread(listener.join)
            for connection in (events, stop):
                connection.close()

    def _build_child_settings(self) -> Settings:
        child_concurrency = -(-self.settings.evaluation.concurrency // self.processes)
        evaluation = self.settings.evaluation.model_copy(update={"concurrency": child_concurrency})
        return self.settings.model_copy(update={"evaluation": evaluation})

    def _listen(self, events: Connection, loop: asyncio.AbstractEventLoop) -> None:
        # The pipe has been closed, or a killed process left an incomplete event.
        with contextlib.suppress(EOFError, OSError, RuntimeError, pickle.UnpicklingError):
            while True:
                loop.call_soon_threadsafe(self._handle, events.recv())

    def _handle(self, event: ProgressEvent | _Ended) -> None:
        if isinstance(event, ProgressEvent):
            self.progress.report(event)
        else:
            self.done[event.number] = event.result
            self.ended()


@dataclass
class _Parent:
    """A child process's connections to its parent. Implements the Progress port."""

    events: Connection
    lock: Lock
    stop: Connection
    cancel: Callable[[], object] = lambda: None
    """Function that cancels the share in progress."""

    def report(self, event: ProgressEvent | _Ended) -> None:
        """Send an event to the parent, if it is still running."""
        with contextlib.suppress(OSError), self.lock:
            self.events.send(event)

    def wait_for_stop(self) -> None:
        """End this process when the parent closes its end of the pipe or dies; first try to cancel cleanly."""
        with contextlib.suppress(EOFError, OSError):
            self.stop.recv()
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self.cancel()
        time.sleep(_CANCEL_SECONDS)
        os._exit(1)


_parent: _Parent | None = None


def _connect(events: Connection, lock: Lock, stop: Connection) -> None:
    """Initialise a child process. It ignores Ctrl-C, because its parent decides when to stop."""
    global _parent  # noqa: PLW0603 - a pool's initialiser can store it nowhere else
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _parent = _Parent(events, lock, stop)
    threading.Thread(target=_parent.wait_for_stop, daemon=True).start()


def _run_share(settings: Settings, methods: Sequence[str], works: Mapping[int, EngineWork[Any]]) -> AssayerError | None:
    """Run a share of the work items in a child process; return the error that stopped all of them, if any."""
    assert _parent is not None  # noqa: S101 - set by the initialiser
    with contextlib.suppress(asyncio.CancelledError):
        return asyncio.run(_run_share_async(settings, methods, works, _parent))
    return None


async def _run_share_async(
    settings: Settings, methods: Sequence[str], works: Mapping[int, EngineWork[Any]], parent: _Parent
) -> AssayerError | None:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - this function runs in a task
    parent.cancel = partial(asyncio.get_running_loop().call_soon_threadsafe, task.cancel)
    try:
        async with open_engine(settings, methods, beside_others=True) as engine:
            tasks = [partial(_run_and_send, number, work, engine, parent) for number, work in works.items()]
            return (await run_side_by_side(tasks, engine.check_llm_reachable)).stopped
    except AssayerError as error:
        return error


async def _run_and_send(number: int, work: EngineWork[Any], engine: Engine, parent: _Parent) -> None:
    """Run one work item and send its result or error to the parent."""
    try:
        result: Any = await work(engine, parent)
        pickle.dumps(result)
    except FATAL:
        raise
    except AssayerError as error:
        parent.report(_Ended(number, error))
        raise
    except Exception as error:  # noqa: BLE001 - a bug in assayer fails this idea only
        _LOG.exception("work of an evaluation process")
        result = Defect(f"An internal error occurred: {type(error).__name__}: {error}.", "Please report it.")
    parent.report(_Ended(number, result))


def _build_died_error() -> Defect:
    return Defect(
        "The process that evaluated this idea ended unexpectedly, perhaps because it ran out of memory.",
        "Run the same command again: answers so far are stored. ASSAYER_EVALUATION__PROCESSES=1 uses the least memory.",
    )
