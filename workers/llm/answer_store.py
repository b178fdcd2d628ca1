"""The cache of answers and the ledger of calls: what each call to a model used and what came of it, in one write."""

import asyncio
import logging
from collections.abc import Collection, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel
from tenacity import AsyncRetrying, retry_if_result, wait_random_exponential

from assayer.errors import AssayerError, StorageError, said_by
from assayer.llm import Answer
from assayer.models import CachedAnswer, CallRecord, Fault, LedgerRow
from assayer.ports import Clock
from assayer.run.run import Run
from workers.llm.chat_completion import WaitedFor
from workers.llm.errors import SendStats
from workers.llm.metrics import count_call
from workers.llm.settings import Price

__all__ = ["AnswerStore", "BatchUsage", "CallLedger", "CallUsage", "InMemoryAnswerStore"]


_CLAIM_SECONDS = 12.0
"""How long others wait for what a process that died was asking."""


_WAITING = AsyncRetrying(
    retry=retry_if_result(lambda found: found == "elsewhere"), wait=wait_random_exponential(multiplier=0.1, max=1.0)
)


class AnswerStore(Protocol):
    """Raises StorageError when the store is out of reach."""

    async def find(self, key: str) -> CachedAnswer | None: ...

    async def find_or_claim(self, key: str, seconds: float) -> CachedAnswer | Literal["claimed", "elsewhere"]:
        """Where there is no answer, the question is this process's to ask (`claimed`) unless another one asks it at
        the moment. The claim holds until what came of it is recorded, or for so many seconds."""
        ...

    async def renew_claims(self, keys: Collection[str], seconds: float) -> None:
        """These claims of this process hold for so many seconds from now."""
        ...

    async def record(self, row: LedgerRow, answer: CachedAnswer | None, instead_of: CachedAnswer | None = None) -> None:
        """Writes the ledger row, and the answer when there is one, in one transaction. An answer that is
        already there stays, unless its value is that of `instead_of`, which was found to be unusable: the first
        good one written is the one everybody gets."""
        ...


class InMemoryAnswerStore:
    """The in-memory twin: for one process that need not remember."""

    def __init__(self) -> None:
        self.answers: dict[str, CachedAnswer] = {}
        self.ledger: list[LedgerRow] = []

    async def find(self, key: str) -> CachedAnswer | None:
        return self.answers.get(key)

    async def find_or_claim(self, key: str, seconds: float) -> CachedAnswer | Literal["claimed", "elsewhere"]:
        """Nobody else asks: within one process `LlmGateway` asks each question once."""
        return await self.find(key) or "claimed"

    async def renew_claims(self, keys: Collection[str], seconds: float) -> None:
        pass

    async def record(self, row: LedgerRow, answer: CachedAnswer | None, instead_of: CachedAnswer | None = None) -> None:
        self.ledger.append(row)
        if answer is None:
            return
        kept = self.answers.get(answer.key)
        if kept is None or (instead_of is not None and kept.value == instead_of.value):
            self.answers[answer.key] = answer


class BatchUsage(NamedTuple):
    """Of one answer in a batch."""

    prompt_tokens: int
    completion_tokens: int
    saved_usd: float


@dataclass
class CallUsage:
    """What one call of a task has used so far, over all attempts."""

    task: str
    version: int
    model: str
    price: Price | None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    attempts: int = 0
    faults: list[Fault] = field(default_factory=list)
    """At most one an attempt."""
    first_sent: float = 0.0
    struck: int = 0
    saved_usd: float = 0.0
    """By batches, against the price."""
    waited: dict[str, "BatchUsage | None"] = field(default_factory=dict)
    """By their keys in the book of batches: what answers there have used; None of those that were asked live after
    all."""

    def add_sends(self, stats: SendStats, now: float) -> None:
        """A request came back."""
        if stats.sends and not self.attempts:
            self.first_sent = now - stats.seconds
        self.attempts += stats.sends

    def add_tokens(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """What they cost."""
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens
        return None if self.price is None else self.price.cost(prompt_tokens, completion_tokens)

    def add_waited(self, waited: WaitedFor, prompt_tokens: int, completion_tokens: int) -> float | None:
        """The same, of a result that the book of batches keeps."""
        cost = self.add_tokens(prompt_tokens, completion_tokens)
        if waited.price_share is None:
            self.waited[waited.key] = None
            return cost
        saved = 0.0 if cost is None else cost * (1 - waited.price_share)
        self.saved_usd += saved
        self.waited[waited.key] = BatchUsage(prompt_tokens, completion_tokens, saved)
        return None if cost is None else cost - saved

    def forgo(self, keys: Collection[str]) -> None:
        """Somebody else pays for these, or this call will when it is made again."""
        for key in keys:
            if (used := self.waited.pop(key, None)) is not None:
                self.prompt_tokens -= used.prompt_tokens
                self.completion_tokens -= used.completion_tokens
                self.saved_usd -= used.saved_usd
                self.attempts -= 1

    def record(self, now: float) -> CallRecord:
        cost = 0.0 if not self.attempts else None
        if self.price is not None:
            cost = self.price.cost(self.prompt_tokens, self.completion_tokens) - self.saved_usd
        return CallRecord(
            task=self.task,
            version=self.version,
            model=self.model,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            cost_usd=cost,
            latency_seconds=now - self.first_sent if self.attempts else 0.0,
            attempts=self.attempts,
            faults=tuple(self.faults),
            struck=self.struck,
        )


Out = TypeVar("Out", bound=BaseModel)

_LOG = logging.getLogger(__name__)


class CallLedger:
    """Writes survive the cancellation of the caller: what was paid for must not be lost on the way."""

    def __init__(self, answers: AnswerStore, clock: Clock) -> None:
        self._answers = answers
        self._clock = clock
        self._writes: set[asyncio.Task[None]] = set()
        self._claims: set[str] = set()
        self._renewing: asyncio.Task[None] | None = None

    async def find(self, key: str) -> CachedAnswer | None:
        return await self._answers.find(key)

    async def find_or_claim(self, key: str) -> CachedAnswer | None:
        """None where the question is ours to ask now; while another process asks it, its end is waited for."""
        found = await self._answers.find_or_claim(key, _CLAIM_SECONDS)
        if found == "elsewhere":
            found = await _WAITING(self._answers.find_or_claim, key, _CLAIM_SECONDS)
        return found if isinstance(found, CachedAnswer) else None

    @contextmanager
    def renewed_claim(self, key: str) -> Iterator[None]:
        """While the question is asked."""
        self._claims.add(key)
        if self._renewing is None:
            self._renewing = asyncio.create_task(self._renew_claims(), name="claims of questions")
        try:
            yield
        finally:
            self._claims.discard(key)

    async def record_hit(self, run: Run, cached: CachedAnswer, value: Out) -> Answer[Out]:
        record = cached.record.model_copy(update={"cached": True})
        await self._write(self._recorded(self._row(run, cached.key, record)))
        return Answer(value, record)

    async def record_paid(self, run: Run, answer: CachedAnswer, instead_of: CachedAnswer | None) -> None:
        """Returns once the answer is stored."""
        await self._write(self._recorded(self._row(run, answer.key, answer.record), answer, instead_of))

    async def record_failed(self, run: Run, key: str, usage: CallUsage, error: AssayerError) -> None:
        await self._write(self._recorded(self._failure(run, key, usage, str(error))))

    def record_abandoned(self, run: Run, key: str, usage: CallUsage) -> None:
        """For a caller that is being cancelled and must not wait. Answers of batches stay where they are, for whoever
        makes the call again."""
        usage.forgo(list(usage.waited))
        self._start(self._recorded(self._failure(run, key, usage, "The caller went away.")))

    async def aclose(self) -> None:
        if self._renewing is not None:
            self._renewing.cancel()
        await asyncio.gather(*self._writes, *filter(None, [self._renewing]), return_exceptions=True)

    async def _renew_claims(self) -> None:
        while True:
            await asyncio.sleep(_CLAIM_SECONDS / 3)
            if self._claims:
                with suppress(StorageError):  # at worst a question is paid twice
                    await self._answers.renew_claims(self._claims, _CLAIM_SECONDS)

    def _recorded(
        self, row: LedgerRow, answer: CachedAnswer | None = None, instead_of: CachedAnswer | None = None
    ) -> Coroutine[None, None, None]:
        count_call(row)
        return self._answers.record(row, answer, instead_of)

    def _failure(self, run: Run, key: str, usage: CallUsage, error: str) -> LedgerRow:
        record = usage.record(self._clock.monotonic())
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
            _LOG.error("A row of the LLM ledger could not be written: %s", said_by(error))
