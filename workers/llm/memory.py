"""A line with a memory: whoever asks the same while it is being asked, or soon after, gets the same answer.

An evaluator that was killed leaves its questions in flight. They go on, and their answers are kept for a while, so
that whoever takes over the evaluation does not pay for them a second time.
"""

import asyncio
import copy
from collections import OrderedDict
from dataclasses import dataclass

from pydantic import Field

from assayer.models import Frozen
from assayer.ports import Clock
from workers.llm.failures import PermanentFailure, Took, TransientFailure
from workers.llm.line import Line
from workers.llm.question import Asker, Question, Said

__all__ = ["Kept", "MemorySettings", "RememberingLine"]


class MemorySettings(Frozen):
    seconds: float = Field(default=300.0, ge=0)
    """How long an answer is kept: longer than a lease takes to be given to somebody else."""
    answers: int = Field(default=8192, ge=0)
    characters: int = Field(default=64_000_000, ge=0)
    """Of all answers kept."""


@dataclass(frozen=True)
class _Answer:
    said: Said
    run: str
    at: float


class Kept:
    """The answers of the last minutes, within bounds; the oldest go first."""

    def __init__(self, settings: MemorySettings) -> None:
        self._settings = settings
        self._answers: OrderedDict[bytes, _Answer] = OrderedDict()
        self._characters = 0

    def __len__(self) -> int:
        return len(self._answers)

    def add(self, key: bytes, said: Said, run: str, now: float) -> None:
        self._drop(key)
        self._answers[key] = _Answer(said, run, now)
        self._characters += len(said.completion.text)
        self._trim(now)

    def find(self, key: bytes, run: str, now: float) -> Said | None:
        self._trim(now)
        kept = self._answers.get(key)
        return None if kept is None else _for(run, kept.said, kept.run)

    def _trim(self, now: float) -> None:
        settings = self._settings
        while self._answers:
            key, oldest = next(iter(self._answers.items()))
            fits = len(self._answers) <= settings.answers and self._characters <= settings.characters
            if fits and now - oldest.at <= settings.seconds:
                return
            self._drop(key)

    def _drop(self, key: bytes) -> None:
        if (kept := self._answers.pop(key, None)) is not None:
            self._characters -= len(kept.said.completion.text)


@dataclass(eq=False)
class _Flight:
    task: asyncio.Task[Said]
    run: str
    waiting: int = 0


class RememberingLine:
    """A Line before another. Belongs to one event loop; it owns the questions in flight until it is closed.

    The last asker who is cancelled takes the request along. One who dies tells nobody: the request goes on.
    """

    def __init__(self, line: Line, clock: Clock, settings: MemorySettings | None = None) -> None:
        self._line = line
        self._clock = clock
        self._kept = Kept(settings or MemorySettings())
        self._flights: dict[bytes, _Flight] = {}

    @property
    def address(self) -> str:
        return self._line.address

    async def ask(self, question: Question, asker: Asker) -> Said:
        key = question.key
        kept = self._kept.find(key, asker.run, self._clock.monotonic())
        if kept is not None:
            return kept
        flight = self._flights.get(key) or self._launch(key, question, asker)
        flight.waiting += 1
        try:
            said = await asyncio.shield(flight.task)
        except (TransientFailure, PermanentFailure) as failure:
            raise _own(failure, asker.run, flight.run) from None
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                flight.task.cancel()
                self._land(key, flight)
        return _for(asker.run, said, flight.run)

    async def reach(self) -> None:
        await self._line.reach()

    async def probe(self, model: str) -> None:
        await self._line.probe(model)

    async def aclose(self) -> None:
        tasks = [flight.task for flight in self._flights.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._line.aclose()

    def _launch(self, key: bytes, question: Question, asker: Asker) -> _Flight:
        task = asyncio.get_running_loop().create_task(self._line.ask(question, asker))
        flight = self._flights[key] = _Flight(task, asker.run)
        task.add_done_callback(lambda _: self._landed(key, flight))
        return flight

    def _landed(self, key: bytes, flight: _Flight) -> None:
        self._land(key, flight)
        if not flight.task.cancelled() and flight.task.exception() is None:
            self._kept.add(key, flight.task.result(), flight.run, self._clock.monotonic())

    def _land(self, key: bytes, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]


def _for(run: str, said: Said, paid_by: str) -> Said:
    """Billed to the run it was asked for, which has died and come back if it asks again; free for others."""
    return said if run == paid_by else said._replace(took=Took())


def _own(failure: TransientFailure | PermanentFailure, run: str, paid_by: str) -> TransientFailure | PermanentFailure:
    """A copy for one asker: each adds its own traceback."""
    own = copy.copy(failure)
    if run != paid_by:
        own.took = Took()
    return own
