"""Persistent record of waiting calls and sent batches, which survives the death of a process."""

from collections.abc import Collection, Sequence
from typing import Protocol

from assayer.models.llm_batches import BatchCall, CollectedCall, GatherRules, LineResult, OutgoingBatch


class BatchBook(Protocol):
    """One endpoint's calls and batches. All methods raise StorageError if the store is unreachable, and all can safely
    be repeated."""

    async def enqueue(self, call: BatchCall) -> None:
        """Queue the call, unless a call with this key is already in the book and was not settled more than ten seconds
        ago."""
        ...

    async def find_ended(self, keys: Collection[str]) -> list[str]:
        """Return the keys that need no wait: their results can be collected, or they are not in the book."""
        ...

    async def collect(self, key: str) -> CollectedCall | None:
        """Return a call's result; None while it is queued or sent, or if it is not in the book. A result can be
        collected repeatedly and by several callers."""
        ...

    async def claim_billing(self, keys: Collection[str], run_id: str) -> set[str]:
        """Return the keys of the answers for which the run pays. An answer is billed to the run that asks first, and
        again to the same run if it repeats the call before the answer is settled. Call this just before writing the
        ledger."""
        ...

    async def settle(self, keys: Collection[str]) -> None:
        """Mark the calls' results as recorded in the ledger. For ten more seconds, callers that waited, or that looked
        in the cache just before the answer was stored, can collect them; later requests start anew."""
        ...

    async def expire_overdue(self) -> None:
        """End, without a result, all calls that are still queued after their deadline."""
        ...

    async def gather(self, rules: GatherRules) -> OutgoingBatch | None:
        """Return the next due batch and mark its calls as sent; None if no batch is due. Call this repeatedly until it
        returns None."""
        ...

    async def list_open_batches(self) -> list[OutgoingBatch]:
        """Return all batches that are not closed, oldest first."""
        ...

    async def list_calls(self, batch_id: str) -> list[BatchCall]:
        """Return the batch's calls, in no particular order."""
        ...

    async def mark_sent(self, batch_id: str, remote_id: str) -> None: ...

    async def mark_cancelled(self, batch_id: str) -> None: ...

    async def close(self, batch_id: str, results: Sequence[LineResult]) -> None:
        """Close the batch and store its results. Calls without a result end without one."""
        ...

    async def delete_older(self, seconds: float) -> int:
        """Delete calls that ended more than `seconds` ago; return how many of them had an answer that was never
        settled."""
        ...
