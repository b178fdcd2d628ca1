"""The context of one evaluation: what it may do, and what happened in it."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from assayer.budget import Budget
from assayer.errors import RunCancelled
from assayer.flow import Failed
from assayer.journal import Journal
from assayer.models import EvaluationId
from assayer.ports import Clock, Progress, ProgressEvent

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
    journal: Journal = field(default_factory=Journal)
    unread_characters: int = 0
    """Of the idea, beyond the length that prompts show."""
    _cancelled: bool = False

    def cancel(self) -> None:
        self._cancelled = True

    def check(self) -> None:
        """Raises RunCancelled once somebody has asked to stop."""
        if self._cancelled:
            raise RunCancelled(f"Evaluation {self.id} was cancelled.")

    def keep(self, outcomes: Sequence[Out | Failed], what: str, sizes: Sequence[int] | None = None) -> list[Out]:
        """The outcomes that exist; what failed is counted as dropped, with the reason. `sizes` tells how many
        things an outcome stands for, when it stands for more than one."""
        kept = []
        for outcome, size in zip(outcomes, sizes or [1] * len(outcomes), strict=True):
            if isinstance(outcome, Failed):
                self.journal.fail(what, outcome.error, size)
            else:
                kept.append(outcome)
        return kept

    def tell(self, stage: str, done: int, total: int) -> None:
        """Tells whoever watches how far a stage is."""
        self.progress.report(ProgressEvent(run_id=self.id, stage=stage, done=done, total=total))
