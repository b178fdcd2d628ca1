"""What the gateway needs of a store: the cache of answers and the ledger, written together."""

from typing import Protocol

from assayer.models import CachedAnswer, LedgerRow

__all__ = ["Answers", "MemoryAnswers"]


class Answers(Protocol):
    """Raises StorageError when the store is out of reach."""

    async def find(self, key: str) -> CachedAnswer | None: ...

    async def record(self, row: LedgerRow, answer: CachedAnswer | None, instead_of: CachedAnswer | None = None) -> None:
        """Writes the ledger row, and the answer when there is one, in one transaction. An answer that is
        already there stays, unless its value is that of `instead_of`, which was found to be unusable: the first
        good one written is the one everybody gets."""
        ...


class MemoryAnswers:
    """The in-memory twin: for one process that need not remember."""

    def __init__(self) -> None:
        self.answers: dict[str, CachedAnswer] = {}
        self.ledger: list[LedgerRow] = []

    async def find(self, key: str) -> CachedAnswer | None:
        return self.answers.get(key)

    async def record(self, row: LedgerRow, answer: CachedAnswer | None, instead_of: CachedAnswer | None = None) -> None:
        self.ledger.append(row)
        if answer is None:
            return
        kept = self.answers.get(answer.key)
        if kept is None or (instead_of is not None and kept.value == instead_of.value):
            self.answers[answer.key] = answer
