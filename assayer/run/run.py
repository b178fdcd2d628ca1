"""The context of one evaluation: what it may do, and what happened in it."""

import datetime as dt
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from assayer.models import Absent, EvaluationId, OwnReferences
from assayer.ports import Clock, Progress, ProgressEvent
from assayer.run.activities import Activities
from assayer.run.budget import Budget
from assayer.run.journal import Journal
from assayer.run.structured_concurrency import Failed

__all__ = ["Budget", "Run"]

Out = TypeVar("Out")


@dataclass
class Run:
    """One evaluation in progress. Owned by whoever started it; methods only read and journal."""

    id: EvaluationId
    cutoff: dt.date | None
    clock: Clock
    progress: Progress
    budget: Budget = field(default_factory=Budget)
    answers_of: str = ""
    """Whose answers of language models it may use and adds to: of all who have the same here. Empty: everybody's."""
    waits_until: dt.datetime | None = None
    """Until then its questions to language models may wait for a batch that costs less; None: somebody waits."""
    journal: Journal = field(default_factory=Journal)
    activities: Activities = field(default_factory=Activities)
    unread_characters: int = 0
    """Of the idea, beyond the length that prompts show."""
    own_references: Awaitable[OwnReferences | Absent | None] | None = None
    """The check of the idea's own references, under way beside the method; the report waits for it."""

    def keep_successes(
        self, outcomes: Sequence[Out | Failed], what: str, sizes: Sequence[int] | None = None
    ) -> list[Out]:
        """The outcomes that exist; what failed is counted as dropped, with the reason. `sizes` tells how many
        things an outcome stands for, when it stands for more than one."""
        kept = []
        for outcome, size in zip(outcomes, sizes or [1] * len(outcomes), strict=True):
            if isinstance(outcome, Failed):
                self.journal.record_failure(what, outcome.error, size)
            else:
                kept.append(outcome)
        return kept

    def report_progress(self, stage: str, done: int, total: int) -> None:
        self.progress.report(ProgressEvent(self.id, stage, done, total, self.activities.spans()))
