"""What is taken in of a batch: the jobs to be, and what its sender is told."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from assayer.errors import InputError
from assayer.models import Frozen
from orchestrator.batches.rows import AcceptedRow, Read, RejectedRow, Remark

__all__ = ["Duplicate", "Intake", "take_in"]


class Duplicate(Frozen):
    """A row with the words of an earlier one. It is evaluated too, and pays for nothing that the earlier one paid."""

    row: int
    same_as: int


@dataclass
class Intake:
    accepted: list[AcceptedRow] = field(default_factory=list)
    rejected: list[RejectedRow] = field(default_factory=list)
    duplicates: list[Duplicate] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return len(self.accepted) + len(self.rejected)

    @property
    def last(self) -> int:
        """The greatest number of a row."""
        return max((*(row.number for row in self.accepted), *(row.row for row in self.rejected)), default=0)

    @property
    def digest(self) -> bytes:
        """SHA-256 of what the rows say: the same files sent again have the same, however a client packs them."""
        digest = hashlib.sha256()
        for row in self.accepted:
            cutoff = row.idea.cutoff if row.idea else None
            digest.update(f"{row.number}\0{row.source}\0{_content(row)}\0{cutoff}\n".encode())
        for rejection in self.rejected:
            digest.update(f"{rejection.row}\0{rejection.source}\0{rejection.detail}\n".encode())
        return digest.digest()


def take_in(reads: Iterable[Read]) -> Intake:
    """Raises InputError for a batch without rows, and what reading raises."""
    intake = Intake()
    seen: dict[str, int] = {}
    for read in reads:
        if isinstance(read, Remark):
            intake.notices.append(read.text)
        elif isinstance(read, RejectedRow):
            intake.rejected.append(read)
        else:
            intake.accepted.append(read)
            same_as = seen.setdefault(_content(read), read.number)
            if same_as != read.number:
                intake.duplicates.append(Duplicate(row=read.number, same_as=same_as))
    if not intake.rows:
        raise InputError("The batch is empty.", "Send at least one row, or one file.")
    return intake


def _content(row: AcceptedRow) -> str:
    return row.idea.id if row.idea else hashlib.sha256(row.document or b"").hexdigest()
