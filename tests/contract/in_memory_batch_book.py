"""The in-memory twin of the book of batches."""

import datetime as dt
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

from assayer.models.llm_batches import BatchCall, CollectedCall, GatherRules, LineResult, OutgoingBatch
from assayer.ports import Clock
from workers.llm.batches.batch_book import DEADLINE_PASSED, LINE_OVERHEAD, NOT_IN_RESULTS, SETTLED_SECONDS

__all__ = ["InMemoryBatchBook"]


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
        old = {key: entry for key, entry in self.entries.items() if self._past(entry, seconds)}
        for key in old:
            del self.entries[key]
        return sum(item.answer is not None and not item.settled for item in old.values())

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
    """Return the longest-waiting entries that fit in a single file, at least a single entry in any case."""
    taken: list[_Entry] = []
    size = 0
    for entry in sorted(entries, key=lambda item: (item.queued_at, item.call.key)):
        size += _bytes(entry)
        if taken and (size > rules.most_bytes or len(taken) == rules.most_requests):
            break
        taken.append(entry)
    return taken
