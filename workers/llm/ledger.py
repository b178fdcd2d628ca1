"""What was asked, what it cost, what came out: one row for every task call, with the answer where there is one."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import TypeVar

from pydantic import BaseModel

from assayer.errors import AssayerError
from assayer.models import CachedAnswer, CallRecord, LedgerRow
from assayer.ports import Answer, Clock
from assayer.run import Run
from workers.llm.answers import Answers
from workers.llm.metrics import count
from workers.llm.tally import Tally

__all__ = ["Ledger"]

Out = TypeVar("Out", bound=BaseModel)

_LOG = logging.getLogger(__name__)


class Ledger:
    """Writes survive the cancellation of whoever asked: what was paid for must not be lost on the way."""

    def __init__(self, answers: Answers, clock: Clock) -> None:
        self._answers = answers
        self._clock = clock
        self._writes: set[asyncio.Task[None]] = set()

    async def find(self, key: str) -> CachedAnswer | None:
        return await self._answers.find(key)

    async def hit(self, run: Run, cached: CachedAnswer, value: Out) -> Answer[Out]:
        record = cached.record.model_copy(update={"cached": True})
        await self._write(self._recorded(self._row(run, cached.key, record)))
        return Answer(value, record)

    async def paid(self, run: Run, answer: CachedAnswer, instead_of: CachedAnswer | None) -> None:
        """Returns once the answer is stored."""
        await self._write(self._recorded(self._row(run, answer.key, answer.record), answer, instead_of))

    async def failed(self, run: Run, key: str, tally: Tally, error: AssayerError) -> None:
        await self._write(self._recorded(self._failure(run, key, tally, str(error))))

    def abandoned(self, run: Run, key: str, tally: Tally) -> None:
        """For a caller that is being cancelled and must not wait."""
        self._start(self._recorded(self._failure(run, key, tally, "The caller went away.")))

    async def aclose(self) -> None:
        await asyncio.gather(*self._writes, return_exceptions=True)

    def _recorded(
        self, row: LedgerRow, answer: CachedAnswer | None = None, instead_of: CachedAnswer | None = None
    ) -> Coroutine[None, None, None]:
        count(row)
        return self._answers.record(row, answer, instead_of)

    def _failure(self, run: Run, key: str, tally: Tally, error: str) -> LedgerRow:
        record = tally.record(self._clock.monotonic())
        return LedgerRow(run_id=run.id, key=key, record=record, outcome="failed", error=error, at=self._clock.now())

    def _row(self, run: Run, key: str, record: CallRecord) -> LedgerRow:
        return LedgerRow(run_id=run.id, key=key, record=record, outcome="answered", at=self._clock.now())

    async def _write(self, write: Coroutine[None, None, None]) -> None:
        await asyncio.shield(self._start(write))

    def _start(self, write: Coroutine[None, None, None]) -> "asyncio.Task[None]":
        task = asyncio.get_running_loop().create_task(write)
        self._writes.add(task)
        task.add_done_callback(self._written)
        return task

    def _written(self, task: "asyncio.Task[None]") -> None:
        self._writes.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _LOG.error("A row of the LLM ledger could not be written: %s", error)
