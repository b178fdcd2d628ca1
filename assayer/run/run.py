"""One evaluation's run: its limits, and the record of what happened in it."""

import datetime as dt
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from assayer.models import Absent, Criterion, EvaluationId, OwnReferences
from assayer.ports import Clock, Progress, ProgressEvent
from assayer.run.budget import Budget
from assayer.run.concurrency import Failed
from assayer.run.journal import Journal

Out = TypeVar("Out")


@dataclass
class Run:
    """A running evaluation. The code that started it owns it; methods only read it and write to its journal."""

    id: EvaluationId
    cutoff: dt.date | None
    clock: Clock
    progress: Progress
    budget: Budget = field(default_factory=Budget)
    criteria: tuple[Criterion, ...] = ()
    """Criteria of the call for proposals; the report answers each of them."""
    answers_of: str = ""
    """Cache scope for LLM answers, shared by all runs with the same value. The empty string is the default scope."""
    waits_until: dt.datetime | None = None
    """Time until which LLM requests may wait for cheaper batch processing; None if a person is waiting."""
    journal: Journal = field(default_factory=Journal)
    unread_characters: int = 0
    """Number of the idea's characters that were cut from prompts."""
    own_references_check: Awaitable[OwnReferences | Absent | None] | None = None
    """Check of the idea's own references, which runs alongside the method; the report waits for it."""

    def keep_successes(
        self, outcomes: Sequence[Out | Failed], item_kind: str, sizes: Sequence[int] | None = None
    ) -> list[Out]:
        """Return the successful outcomes, and record the failed ones as dropped, with their reasons. `sizes` gives the
        number of items that each outcome represents, if more than one."""
        kept = []
        for outcome, size in zip(outcomes, sizes or [1] * len(outcomes), strict=True):
            if isinstance(outcome, Failed):
                self.journal.record_failure(item_kind, outcome.error, size)
            else:
                kept.append(outcome)
        return kept

    def report_progress(self, stage: str, done: int, total: int) -> None:
        self.progress.report(ProgressEvent(self.id, stage, done, total))
