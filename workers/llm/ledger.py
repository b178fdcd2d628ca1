"""Ledger of the usage and outcome of each LLM call, stored together with its answer."""

import asyncio
import logging
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from pydantic import BaseModel

from assayer.errors import AssayerError, error_text
from assayer.llm import Answer
from assayer.models import CachedAnswer, CallOutcome, CallRecord, Fault, LedgerRow
from assayer.ports import Clock
from assayer.run.run import Run
from workers.llm.chat_completion import BatchReference, Requester
from workers.llm.metrics import COST, FAULTS, LLM_REQUESTS, REQUEST_SECONDS, TOKENS
from workers.llm.settings import Price
from workers.outbound.claims import ClaimKeeper
from workers.outbound.store import AnswerStore

_CLAIM_SECONDS = 12.0
"""Seconds after which another process may claim a request whose claimant has died."""


class BatchUsage(NamedTuple):
    """Usage for one answer from a batch."""

    prompt_tokens: int
    completion_tokens: int
    saved_usd: float


@dataclass
class CallUsage:
    """A task's usage in one call so far, over all attempts."""

    task: str
    version: int
    model: str
    price: Price | None
    prompt_tokens: int = 0
    cached_prompt_tokens: int = 0
    completion_tokens: int = 0
    attempts: int = 0
    faults: list[Fault] = field(default_factory=list)
    """Faults, at most one per attempt."""
    first_sent: float = 0.0
    redacted: int = 0
    saved_usd: float = 0.0
    """US dollars saved by batches, compared with the live price."""
    batch_usage: dict[str, "BatchUsage | None"] = field(default_factory=dict)
    """Usage for answers from batches, by their key in the batch book; None for a request that was answered live
    instead."""

    @property
    def cost_usd(self) -> float | None:
        """Return the cost so far; None if the model has no price and something was sent."""
        if self.price is None:
            return None if self.attempts else 0.0
        return self.price.compute_cost(self.prompt_tokens, self.completion_tokens) - self.saved_usd

    def add_sends(self, requester: Requester) -> None:
        """Add the number of times a request was sent, after the request has ended."""
        if requester.sends and not self.attempts:
            self.first_sent = requester.first_sent
        self.attempts += requester.sends

    def add_tokens(self, prompt_tokens: int, completion_tokens: int) -> None:
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens

    def add_answer(
        self, waited: BatchReference | None, prompt_tokens: int, completion_tokens: int, cached_prompt_tokens: int = 0
    ) -> None:
        """Add an answer's tokens and, if it came from a batch, the amount saved."""
        self.add_tokens(prompt_tokens, completion_tokens)
        self.cached_prompt_tokens += cached_prompt_tokens
        if waited is None:
            return
        if waited.price_share is None:
            self.batch_usage[waited.key] = None
            return
        live = 0.0 if self.price is None else self.price.compute_cost(prompt_tokens, completion_tokens)
        saved_cost = live * (1 - waited.price_share)
        self.saved_usd += saved_cost
        self.batch_usage[waited.key] = BatchUsage(prompt_tokens, completion_tokens, saved_cost)

    def forgo(self, keys: Collection[str]) -> None:
        """Remove the usage for these answers, because another call, or a repetition of this one, pays for them."""
        for key in keys:
            if (used := self.batch_usage.pop(key, None)) is not None:
                self.prompt_tokens -= used.prompt_tokens
                self.cached_prompt_tokens = min(self.cached_prompt_tokens, self.prompt_tokens)
                self.completion_tokens -= used.completion_tokens
                self.saved_usd -= used.saved_usd
                self.attempts -= 1

    def record(self, now: float) -> CallRecord:
        return CallRecord(
            task=self.task,
            version=self.version,
            model=self.model,
            prompt_tokens=self.prompt_tokens,
            cached_prompt_tokens=self.cached_prompt_tokens,
            completion_tokens=self.completion_tokens,
            cost_usd=self.cost_usd,
            latency_seconds=now - self.first_sent if self.attempts else 0.0,
            attempts=self.attempts,
            faults=tuple(self.faults),
            redacted=self.redacted,
        )


Out = TypeVar("Out", bound=BaseModel)

_LOG = logging.getLogger(__name__)


class CallLedger:
    """Ledger of calls and their answers. A write continues even if its caller is cancelled, because the answer has been
    paid for."""

    def __init__(self, answers: AnswerStore, clock: Clock) -> None:
        self._answers = answers
        self._clock = clock
        self.claims = ClaimKeeper(answers, _CLAIM_SECONDS)
        self._writes: set[asyncio.Task[None]] = set()

    async def find(self, key: str, claimant: str | None) -> CachedAnswer | None:
        """Return the stored answer. If there is none, claim the request for `claimant` and return None or, if another
        process has claimed it, wait for that process's answer."""
        if claimant is None:
            return await self._answers.find(key)
        return await self.claims.find_or_claim(key, lambda: self._answers.find_or_claim(key, claimant, _CLAIM_SECONDS))

    async def record_hit(self, run: Run, cached: CachedAnswer, value: Out) -> Answer[Out]:
        record = cached.record.model_copy(update={"cached": True})
        await asyncio.shield(self._write(run, cached.key, record))
        return Answer(value, record)

    async def record_paid(
        self, run: Run, answer: CachedAnswer, replaced: CachedAnswer | None, claimant: str | None
    ) -> None:
        """Store an answer and the record of its call, and return once both are written."""
        await asyncio.shield(self._write(run, answer.key, answer.record, claimant, answer, replaced))

    async def record_failed(
        self, run: Run, key: str, usage: CallUsage, error: AssayerError, claimant: str | None = None
    ) -> None:
        record = self._build_record(usage)
        await asyncio.shield(self._write(run, key, record, claimant, outcome="failed", error=error_text(error)))

    def record_abandoned(self, run: Run, key: str, usage: CallUsage, claimant: str | None) -> None:
        """Record a call whose caller is being cancelled, without waiting for the write. Batch answers stay in the book
        for the next identical call."""
        usage.forgo(list(usage.batch_usage))
        error = "The call was cancelled before it was answered."
        self._write(run, key, self._build_record(usage), claimant, outcome="cancelled", error=error)

    async def aclose(self) -> None:
        """Wait until all paid answers have been stored."""
        await asyncio.gather(*self._writes, return_exceptions=True)
        await self.claims.aclose()

    def _build_record(self, usage: CallUsage) -> CallRecord:
        return usage.record(self._clock.monotonic())

    def _write(
        self,
        run: Run,
        key: str,
        record: CallRecord,
        claimant: str | None = None,
        answer: CachedAnswer | None = None,
        replaced: CachedAnswer | None = None,
        outcome: CallOutcome = "answered",
        error: str = "",
    ) -> "asyncio.Task[None]":
        """Write one row, and its answer, if any, in a separate task."""
        row = LedgerRow(run_id=run.id, key=key, record=record, outcome=outcome, error=error, at=self._clock.now())
        _update_metrics(row)
        task = asyncio.get_running_loop().create_task(self._answers.record(row, answer, replaced, claimant))
        self._writes.add(task)
        task.add_done_callback(self._on_write_done)
        return task

    def _on_write_done(self, task: "asyncio.Task[None]") -> None:
        self._writes.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _LOG.error("A row of the LLM ledger could not be written: %s", error_text(error))


def _update_metrics(row: LedgerRow) -> None:
    """Count one row in the metrics. Answers from the cache add no cost."""
    record = row.record
    LLM_REQUESTS.labels(record.task, record.model, "cached" if record.cached else row.outcome).inc()
    if record.cached:
        return
    for fault in record.faults:
        FAULTS.labels(fault.kind).inc()
    if not record.attempts:
        return
    REQUEST_SECONDS.labels(record.task).observe(record.latency_seconds)
    TOKENS.labels(record.model, "prompt").inc(record.prompt_tokens)
    TOKENS.labels(record.model, "cached").inc(record.cached_prompt_tokens)
    TOKENS.labels(record.model, "completion").inc(record.completion_tokens)
    COST.labels(record.model).inc(record.cost_usd or 0.0)
