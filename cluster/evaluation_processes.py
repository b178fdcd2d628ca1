"""Evaluations in one process or several: Python computes on one core a process, and an idea takes half a second of it.

Each process has an engine of its own; what they share is the database: answers, reports, the limits of the endpoint.
Work and results travel pickled between parent and children through pipes that nobody else can write to.
"""

import asyncio
import contextlib
import logging
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple, Protocol, TypeVar

from assayer.errors import AssayerError, ConfigurationError, Defect
from assayer.ports import Progress, ProgressEvent
from cluster.database import open_database
from cluster.engine import Engine, open_engine
from cluster.settings import Settings

__all__ = ["EngineWork", "Evaluations", "open_evaluations", "process_count"]

_LOG = logging.getLogger(__name__)

Out = TypeVar("Out")
Out_co = TypeVar("Out_co", covariant=True)

_IDEAS_A_PROCESS = 24
"""With fewer it would be told to stop before its start, two to four seconds of a core, had paid."""
_MOST_WITHOUT_BEING_ASKED = 8
"""Each takes half a gigabyte with the packaged model, more with a larger one."""
_SECONDS_TO_END = 10.0


class EngineWork(Protocol[Out_co]):
    """What is to be done with an engine. It is pickled: made of plain values, and of a module that can be imported."""

    def __call__(self, engine: Engine, progress: Progress) -> Coroutine[Any, Any, Out_co]: ...


class Evaluations(Protocol):
    async def run(self, work: EngineWork[Out], progress: Progress) -> Out:
        """Does the work in one of the processes. Raises what it raises, and Defect where its process died of it."""
        ...

    async def reach(self) -> None:
        """Raises LlmUnavailable when the endpoint is gone."""
        ...


@asynccontextmanager
async def open_evaluations(settings: Settings, methods: Sequence[str], ideas: int) -> AsyncIterator[Evaluations]:
    """In this process, or in as many as so many ideas are worth. Raises what `open_engine` raises."""
    processes = process_count(settings, ideas)
    async with AsyncExitStack() as stack:
        if processes == 1:
            yield _InThisProcess(await stack.enter_async_context(open_engine(settings, methods)))
            return
        # Started and migrated once; and it stays up between the first that ends and the last.
        await stack.enter_async_context(open_database(settings))
        yield await stack.enter_async_context(_opened(settings, methods, processes))


def process_count(settings: Settings, ideas: int) -> int:
    """What the settings say, else one for each core that may be used, as far as there is work for it. Raises
    ConfigurationError."""
    asked = settings.evaluation.processes
    if settings.metrics.port is not None:
        if asked is not None and asked > 1:
            raise ConfigurationError(
                f"One port of metrics cannot tell of {asked} processes.",
                "Leave out ASSAYER_METRICS__PORT, or set ASSAYER_EVALUATION__PROCESSES=1.",
            )
        return 1
    most = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1, _MOST_WITHOUT_BEING_ASKED)
    wanted = asked if asked is not None else min(most, ideas // _IDEAS_A_PROCESS)
    return max(1, min(wanted, ideas, settings.evaluation.concurrency))


@dataclass(frozen=True)
class _InThisProcess:
    engine: Engine

    async def run(self, work: EngineWork[Out], progress: Progress) -> Out:
        return await work(self.engine, progress)

    async def reach(self) -> None:
        await self.engine.reach()


class _Asked(NamedTuple):
    number: int
    work: EngineWork[Any] | None
    """None: nobody waits for the work of that number any more."""


class _Happened(NamedTuple):
    """To a piece of work: it went on (a ProgressEvent), or ended with a result or an error."""

    number: int
    event: ProgressEvent | None = None
    result: Any = None
    error: AssayerError | None = None


_OPENED = 0
"""Number of the opening of a child's engine, which ends like a piece of work."""


@dataclass(frozen=True)
class _Reach:
    async def __call__(self, engine: Engine, progress: Progress) -> None:
        await engine.reach()


class _Silent:
    def report(self, event: ProgressEvent) -> None:
        pass


class _Died(Exception):
    """The process is gone, and what it had in hand with it."""


@dataclass(eq=False)
class _Child:
    """As its parent sees it."""

    process: BaseProcess
    connection: Connection
    in_hand: dict[int, tuple[asyncio.Future[Any], Progress]] = field(default_factory=dict)
    listener: threading.Thread | None = None
    alive: bool = True

    def ask(self, number: int, work: EngineWork[Any], progress: Progress) -> asyncio.Future[Any]:
        """What it returns raises _Died, or what the work raises."""
        ended = self.expect(number, progress)
        try:
            self.connection.send(_Asked(number, work))
        except OSError:
            self.lost()
        return ended

    def forget(self, number: int) -> None:
        """Nobody waits for it any more: it ends, and its place is free."""
        if self.in_hand.pop(number, None) is not None and self.alive:
            with contextlib.suppress(OSError):  # the listener hears of that
                self.connection.send(_Asked(number, None))

    def expect(self, number: int, progress: Progress) -> asyncio.Future[Any]:
        ended = asyncio.get_running_loop().create_future()
        self.in_hand[number] = (ended, progress)
        return ended

    def happened(self, told: _Happened) -> None:
        if told.number not in self.in_hand:
            return
        ended, progress = self.in_hand[told.number]
        if told.event is not None:
            progress.report(told.event)
            return
        del self.in_hand[told.number]
        if ended.done():  # its parent waits no longer
            return
        if told.error is not None:
            ended.set_exception(told.error)
        else:
            ended.set_result(told.result)

    def lost(self) -> None:
        self.alive = False
        for ended, _ in self.in_hand.values():
            if not ended.done():
                ended.set_exception(_Died())
        self.in_hand.clear()

    def end(self) -> None:
        """Politely first."""
        self.alive = False
        with contextlib.suppress(OSError):
            self.connection.send(None)
        self.process.join(_SECONDS_TO_END)
        for stop in (self.process.terminate, self.process.kill):
            if self.process.is_alive():
                stop()
                self.process.join(_SECONDS_TO_END)
        if self.listener is not None:
            self.listener.join()  # it hears the end of the process
        self.connection.close()


@dataclass(frozen=True)
class _InProcesses:
    children: Sequence[_Child]
    _numbers: Callable[[], int]
    _places: asyncio.Semaphore
    """As many as there are in all engines: who waits, waits here and not in a process that happens to be slow."""

    async def run(self, work: EngineWork[Out], progress: Progress) -> Out:
        async with self._places:
            return await self._run(work, progress)

    async def reach(self) -> None:
        await self._run(_Reach(), _Silent())

    async def _run(self, work: EngineWork[Out], progress: Progress) -> Out:
        """What was lost with a process is done once more by another, and no third time: it may be what kills them.
        Answers that were paid are there already."""
        for _ in range(2):
            living = [one for one in self.children if one.alive]
            if not living:
                break
            child = min(living, key=lambda one: len(one.in_hand))
            number = self._numbers()
            try:
                found: Out = await child.ask(number, work, progress)
            except _Died:
                continue
            finally:
                child.forget(number)
            return found
        raise Defect(
            "The process that evaluated it ended in the middle, perhaps for want of memory.",
            "Run the same command again: answers so far are saved. ASSAYER_EVALUATION__PROCESSES=1 takes the least.",
        )


@asynccontextmanager
async def _opened(settings: Settings, methods: Sequence[str], processes: int) -> AsyncIterator[_InProcesses]:
    """With all engines ready."""
    places = -(-settings.evaluation.concurrency // processes)
    evaluation = settings.evaluation.model_copy(update={"concurrency": places})
    own = settings.model_copy(update={"evaluation": evaluation})
    children: list[_Child] = []
    try:
        children += [_start(own, methods) for _ in range(processes)]
        opened = [child.expect(_OPENED, _Silent()) for child in children]
        for child in children:
            _listen(child)
        try:
            await asyncio.gather(*opened)
        except _Died:
            raise Defect("A process of the evaluation ended while it started.", "See what it wrote above.") from None
        yield _InProcesses(children, count(_OPENED + 1).__next__, asyncio.Semaphore(processes * places))
    finally:
        await asyncio.gather(*(asyncio.to_thread(child.end) for child in children))


def _start(settings: Settings, methods: Sequence[str]) -> _Child:
    # Not forked: threads and an event loop run here.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_evaluate_for_parent, args=(theirs, settings, tuple(methods)), daemon=True)
    process.start()
    theirs.close()
    return _Child(process, ours)


def _listen(child: _Child) -> None:
    loop = asyncio.get_running_loop()

    def read() -> None:
        with contextlib.suppress(RuntimeError, EOFError, OSError):  # nobody waits for news, or there is none any more
            try:
                while True:
                    loop.call_soon_threadsafe(child.happened, child.connection.recv())
            finally:
                loop.call_soon_threadsafe(child.lost)

    child.listener = threading.Thread(target=read, name="news of an evaluation process", daemon=True)
    child.listener.start()


def _evaluate_for_parent(connection: Connection, settings: Settings, methods: Sequence[str]) -> None:
    """A child's whole life. Ctrl-C reaches it too, but it is its parent who decides."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(BrokenPipeError):  # its parent is gone
        asyncio.run(_Serving(connection).run(settings, methods))


class _Serving:
    """A child's side: does what it is asked, side by side, until nobody speaks to it any more."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._asked: asyncio.Queue[_Asked | None] = asyncio.Queue()

    async def run(self, settings: Settings, methods: Sequence[str]) -> None:
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop,), name="requests of the parent", daemon=True).start()
        try:
            async with open_engine(settings, methods, beside_others=True) as engine:
                self._connection.send(_Happened(_OPENED))
                works: dict[int, asyncio.Task[Any]] = {}
                while (asked := await self._asked.get()) is not None:
                    number, work = asked
                    if work is None:
                        if number in works:
                            works[number].cancel()
                        continue
                    task = asyncio.create_task(work(engine, _Forwarded(number, self._connection)))
                    works[number] = task
                    task.add_done_callback(partial(self._ended, number, works))
                left = list(works.values())
                for task in left:
                    task.cancel()
                await asyncio.gather(*left, return_exceptions=True)
        except AssayerError as error:
            self._connection.send(_Happened(_OPENED, error=error))

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        with contextlib.suppress(RuntimeError, EOFError, OSError):  # the loop is closed, or its parent is gone
            try:
                while (asked := self._connection.recv()) is not None:
                    loop.call_soon_threadsafe(self._asked.put_nowait, asked)
            finally:  # also of what cannot be read
                loop.call_soon_threadsafe(self._asked.put_nowait, None)

    def _ended(self, number: int, works: dict[int, asyncio.Task[Any]], work: asyncio.Task[Any]) -> None:
        del works[number]
        if work.cancelled():
            return
        error = work.exception()
        if error is not None and not isinstance(error, AssayerError):
            _LOG.error("work of an evaluation process", exc_info=error)
            error = _defect(error)
        with contextlib.suppress(OSError):  # its parent is gone
            try:
                self._connection.send(_Happened(number, error=error, result=None if error else work.result()))
            except (pickle.PicklingError, AttributeError, TypeError, RecursionError) as unsendable:
                _LOG.error("what came of the work of an evaluation process", exc_info=unsendable)
                self._connection.send(_Happened(number, error=_defect(unsendable)))


def _defect(error: BaseException) -> Defect:
    return Defect(f"assayer failed: {type(error).__name__}: {error}.", "Please report it.")


@dataclass(frozen=True)
class _Forwarded:
    """Progress, told to the parent."""

    number: int
    connection: Connection

    def report(self, event: ProgressEvent) -> None:
        with contextlib.suppress(OSError):
            self.connection.send(_Happened(self.number, event))
