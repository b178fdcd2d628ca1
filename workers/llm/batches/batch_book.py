"""The book of calls that wait and of batches that are out: what a process that dies must leave behind."""

import datetime as dt
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from assayer.models.llm_batches import BatchCall, CollectedCall, GatherRules, LineResult, OutgoingBatch
from assayer.ports import Clock

__all__ = ["LINE_OVERHEAD", "SETTLED_SECONDS", "BatchBook", "InMemoryBatchBook"]

SETTLED_SECONDS = 10.0
LINE_OVERHEAD = 200
"""Bytes of a line beside its body, at most."""
DEADLINE_PASSED = "its deadline came before a batch left"
NOT_IN_RESULTS = "the batch ended without a word about it"


class BatchBook(Protocol):
    """Of one endpoint. All raise StorageError when the store is out of reach; all may be done twice."""

    async def enqueue(self, call: BatchCall) -> None:
        """It waits from now on, unless a call of this key is in the book and was not settled a while ago."""
        ...

    async def ended(self, keys: Collection[str]) -> list[str]:
        """Those that can be collected, and those that are not in the book (any more)."""
        ...

    async def collect(self, key: str) -> CollectedCall | None:
        """None while it waits or is out, or when it is not in the book. May be collected by many, and again."""
        ...

    async def bill(self, keys: Collection[str], run_id: str) -> set[str]:
        """Those of these answers that the run pays for: each is paid by the first that asks, in every attempt anew
        until it is settled. To be asked just before the ledger is written."""
        ...

    async def settle(self, keys: Collection[str]) -> None:
        """What came of them is in the ledger: who asks after a while (`SETTLED_SECONDS`) begins anew. Until then they
        may be collected: by who waited as well, and by who had looked for the answer just before it was stored."""
        ...

    async def give_up_overdue(self) -> None:
        """Calls that still wait after their deadline are returned to those who asked."""
        ...

    async def gather(self, rules: GatherRules) -> OutgoingBatch | None:
        """The next batch that is due, with its calls out; None where none is. To be called until it is."""
        ...

    async def open_batches(self) -> list[OutgoingBatch]:
        """All that have not been closed, the oldest first."""
        ...

    async def calls_of(self, batch_id: str) -> list[BatchCall]:
        """In no order."""
        ...

    async def mark_sent(self, batch_id: str, remote_id: str) -> None: ...

    async def mark_cancelled(self, batch_id: str) -> None: ...

    async def close(self, batch_id: str, results: Sequence[LineResult]) -> None:
        """Ends the batch. Its calls that the results say nothing of are returned to those who asked."""
        ...

    async def forget_older(self, seconds: float) -> int:
        """Deletes calls that ended so long ago; says how many had an answer that nobody settled."""
        ...


@dataclass
class _Entry:
    call: BatchCall
    queued_at: dt.datetime
    state: Literal["waiting", "out", "answered", "returned"] = "waiting"
    batch: str = ""
    answer: str | None = None
    why: str = ""
    billed_to: str = ""
    ended_at: dt.datetime | None = None
    settled: bool = False


@dataclass
class InMemoryBatchBook:
    """The in-memory twin: for one process that need not remember."""

    clock: Clock
    settled_seconds: float = SETTLED_SECONDS
    entries: dict[str, _Entry] = field(default_factory=dict)
    batches: dict[str, OutgoingBatch] = field(default_factory=dict)

    async def enqueue(self, call: BatchCall) -> None:
        there = self.entries.get(call.key)
        if there is None or (there.settled and self._past(there, self.settled_seconds)):
            self.entries[call.key] = _Entry(call, self.clock.now())

    async def ended(self, keys: Collection[str]) -> list[str]:
        return [key for key in keys if key not in self.entries or self.entries[key].ended_at is not None]

    async def collect(self, key: str) -> CollectedCall | None:
        entry = self.entries.get(key)
        return None if entry is None or entry.ended_at is None else CollectedCall(entry.answer, entry.why)

    async def bill(self, keys: Collection[str], run_id: str) -> set[str]:
        known = {key: self.entries[key] for key in keys if key in self.entries}
        for entry in known.values():
            entry.billed_to = entry.billed_to or run_id
        return {key for key, entry in known.items() if entry.billed_to == run_id}

    async def settle(self, keys: Collection[str]) -> None:
        for key in keys:
            if (entry := self.entries.get(key)) is not None and entry.ended_at is not None:
                entry.settled, entry.ended_at = True, self.clock.now()

    async def give_up_overdue(self) -> None:
        now = self.clock.now()
        for entry in self.entries.values():
            if entry.state == "waiting" and entry.call.until <= now:
                self._end(entry, None, DEADLINE_PASSED)

    async def gather(self, rules: GatherRules) -> OutgoingBatch | None:
        by_model: dict[str, list[_Entry]] = {}
        for entry in self.entries.values():
            if entry.state == "waiting":
                by_model.setdefault(entry.call.model, []).append(entry)
        for model, entries in by_model.items():
            if self._due(entries, rules):
                return self._leave(model, _fitting(entries, rules))
        return None

    async def open_batches(self) -> list[OutgoingBatch]:
        return sorted(self.batches.values(), key=lambda batch: batch.created_at)

    async def calls_of(self, batch_id: str) -> list[BatchCall]:
        return [entry.call for entry in self.entries.values() if entry.batch == batch_id and entry.state == "out"]

    async def mark_sent(self, batch_id: str, remote_id: str) -> None:
        self.batches[batch_id] = self.batches[batch_id].model_copy(update={"remote_id": remote_id})

    async def mark_cancelled(self, batch_id: str) -> None:
        self.batches[batch_id] = self.batches[batch_id].model_copy(update={"cancelled_at": self.clock.now()})

    async def close(self, batch_id: str, results: Sequence[LineResult]) -> None:
        told = {result.key: result for result in results}
        for key, entry in self.entries.items():
            if entry.batch == batch_id and entry.state == "out":
                result = told.get(key, LineResult(key, None, NOT_IN_RESULTS))
                self._end(entry, result.answer, result.why)
        self.batches.pop(batch_id, None)

    async def forget_older(self, seconds: float) -> int:
        old = {key: one for key, one in self.entries.items() if self._past(one, seconds)}
        for key in old:
            del self.entries[key]
        return sum(one.answer is not None and not one.settled for one in old.values())

    def _past(self, entry: _Entry, seconds: float) -> bool:
        """Whether it ended, or was settled, so long ago."""
        return entry.ended_at is not None and (self.clock.now() - entry.ended_at).total_seconds() >= seconds

    def _due(self, entries: Sequence[_Entry], rules: GatherRules) -> bool:
        now = self.clock.now()
        moments = [entry.queued_at for entry in entries]
        return (
            (now - max(moments)).total_seconds() >= rules.quiet_seconds
            or (now - min(moments)).total_seconds() >= rules.longest_seconds
            or len(entries) >= rules.most_requests
            or sum(_bytes(entry) for entry in entries) >= rules.most_bytes
        )

    def _leave(self, model: str, entries: Sequence[_Entry]) -> OutgoingBatch:
        until = min(entry.call.until for entry in entries)
        batch = OutgoingBatch(id=uuid.uuid4().hex, model=model, created_at=self.clock.now(), until=until)
        self.batches[batch.id] = batch
        for entry in entries:
            entry.state, entry.batch = "out", batch.id
        return batch

    def _end(self, entry: _Entry, answer: str | None, why: str) -> None:
        entry.state = "returned" if answer is None else "answered"
        entry.answer, entry.why, entry.ended_at = answer, why, self.clock.now()


def _bytes(entry: _Entry) -> int:
    return len(entry.call.body.encode()) + LINE_OVERHEAD


def _fitting(entries: Sequence[_Entry], rules: GatherRules) -> list[_Entry]:
    """Those that have waited longest, as many as one file takes; one in any case."""
    taken: list[_Entry] = []
    size = 0
    for entry in sorted(entries, key=lambda one: (one.queued_at, one.call.key)):
        size += _bytes(entry)
        if taken and (size > rules.most_bytes or len(taken) == rules.most_requests):
            break
        taken.append(entry)
    return taken
