"""States of a job and their transitions, which SQL statements in `orchestrator.store` perform.

    queued ──leased──> running ──finished──> succeeded | failed
       ^  ^               │
       │  ├──given back───┤   a failure or an outage
       │  ├──expired──────┤   a loss
       │  │               └──one failure, loss or outage too many──> failed
       │  ├──rejected─────────> failed
       └──retried── failed | cancelled
    queued | running ──cancelled──> cancelled

A job ends in exactly one verdict: `succeeded`, `failed` or `cancelled`. A retry replaces the verdict.
"""

from typing import Literal, NamedTuple, TypeAlias

from orchestrator.jobs.models import JobState, Problem

UNFINISHED_STATES: tuple[JobState, ...] = ("queued", "running")
"""States of jobs without a verdict, which can be cancelled."""
RETRIABLE_STATES: tuple[JobState, ...] = ("failed", "cancelled")
"""States of jobs without a result, which can be run again."""

RetryCause: TypeAlias = Literal["failure", "loss", "outage"]
"""Cause of a retry. failure: the job itself was at fault; loss: its worker died, perhaps because of the job; outage: a
dependency of every job was unreachable, or the worker had to stop."""

_MAX_REASONS = 5
"""Maximum number of reasons kept, the latest ones."""
_MAX_REASON_CHARS = 500


class AttemptLimits(NamedTuple):
    """Numbers of failures, losses and outages at which a job fails."""

    failures: int
    losses: int
    outages: int


class AttemptHistory(NamedTuple):
    """Attempts of an unfinished job that ended without a verdict."""

    failures: int = 0
    losses: int = 0
    outages: int = 0
    reasons: tuple[str, ...] = ()
    """Reasons why the most recent attempts did not finish, latest last."""

    def add_attempt(self, cause: RetryCause, reason: str) -> "AttemptHistory":
        """Return the history with one more attempt that ended without a verdict."""
        return AttemptHistory(
            self.failures + (cause == "failure"),
            self.losses + (cause == "loss"),
            self.outages + (cause == "outage"),
            (*self.reasons, reason[:_MAX_REASON_CHARS])[-_MAX_REASONS:],
        )

    def has_exhausted(self, limits: AttemptLimits) -> bool:
        """Return True if a limit is reached, so that the job fails instead of returning to the queue."""
        return any(count >= limit for count, limit in zip(self[:3], limits, strict=True))


def build_gave_up_problem(history: AttemptHistory) -> Problem:
    """Return the problem of a job whose attempts are exhausted."""
    attempts = (
        (history.failures, "it failed"),
        (history.losses, "its worker was lost"),
        (history.outages, "a dependency was unreachable, or its worker had to stop"),
    )
    counts = [f"{count} {'time' if count == 1 else 'times'} {outcome}" for count, outcome in attempts if count]
    reasons_text = " ".join(f"({number}) {reason}" for number, reason in enumerate(history.reasons, 1))
    return Problem(
        type="gave-up",
        title=f"Abandoned after {sum(count for count, _ in attempts)} attempts",
        detail=f"No attempt finished: {', '.join(counts)}. Latest reasons: {reasons_text} Model responses that were "
        "paid for are stored, so submitting it again once the causes are fixed costs only the rest.",
    )


def build_over_budget_problem(max_usd: float, monthly_usd: float) -> Problem:
    return Problem(
        type="budget-too-small",
        title="It may cost more than a month's budget",
        detail=f"It may cost up to {max_usd:g} USD, but your organisation's budget is {monthly_usd:g} USD a month, so "
        "it could never start. Submit it with a lower limit (limits.max_usd), or have the budget increased.",
    )


def build_unreadable_request_problem(reason: str) -> Problem:
    return Problem(
        type="unreadable-request",
        title="This version of the service cannot read the request",
        detail=f"{reason} Submit it again.",
    )
