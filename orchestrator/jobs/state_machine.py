"""States of a job and their transitions, which the statements of `orchestrator.store` perform.

    queued ──leased──> running ──finished──> succeeded | failed
       ^  ^               │
       │  ├──given back───┤   a failure, a loss or an outage
       │  ├──expired──────┤   a loss
       │  │               └──one failure, loss or outage too many──> failed
       │  ├──rejected─────────> failed
       └──retried── failed | cancelled
    queued | running ──cancelled──> cancelled

A job has one verdict, the last: `succeeded`, `failed` or `cancelled`.
"""

from typing import Literal, NamedTuple, TypeAlias

from orchestrator.jobs.models import JobState, Problem

UNFINISHED: tuple[JobState, ...] = ("queued", "running")
"""States of jobs without a verdict, which can be cancelled."""
RETRIABLE: tuple[JobState, ...] = ("failed", "cancelled")
"""States of jobs without a result, which can be run again."""

RetryCause: TypeAlias = Literal["failure", "loss", "outage"]
"""Cause of a retry. failure: the job itself was at fault; loss: its worker died or had to stop; outage: a dependency of
every job was unreachable."""

_REASONS = 5
"""Number of reasons that are kept."""
_LONGEST_REASON = 500


class AttemptLimits(NamedTuple):
    """Maximum failures, losses and outages before a job fails."""

    failures: int
    losses: int
    outages: int


class AttemptHistory(NamedTuple):
    """Attempts at a running job that came to no verdict."""

    failures: int = 0
    losses: int = 0
    outages: int = 0
    reasons: tuple[str, ...] = ()
    """Reasons why the last attempts did not finish, the latest last."""

    def after(self, cause: RetryCause, why: str) -> "AttemptHistory":
        """Return the history with another attempt, which ended without a verdict."""
        return AttemptHistory(
            self.failures + (cause == "failure"),
            self.losses + (cause == "loss"),
            self.outages + (cause == "outage"),
            (*self.reasons, why[:_LONGEST_REASON])[-_REASONS:],
        )

    def exhausts(self, limits: AttemptLimits) -> bool:
        """Return True if the job fails rather than going back to the queue."""
        return any(count >= most for count, most in zip(self[:3], limits, strict=True))


def gave_up_problem(history: AttemptHistory) -> Problem:
    """Return the problem of a job that failed without a verdict from its worker."""
    tries = (
        (history.failures, "it failed"),
        (history.losses, "the process that worked on it was lost or had to stop"),
        (history.outages, "something that it needs was out of reach"),
    )
    counts = [f"{count} {'time' if count == 1 else 'times'} {how}" for count, how in tries if count]
    last = " ".join(f"({number}) {why}" for number, why in enumerate(history.reasons, 1))
    return Problem(
        type="gave-up",
        title=f"Given up after {sum(count for count, _ in tries)} tries",
        detail=f"It was started and not finished: {', '.join(counts)}. The last reasons: {last} "
        "Answers that were paid for are kept: submitting it again, once these are dealt with, pays only for the rest.",
    )


def over_budget_problem(max_usd: float, monthly_usd: float) -> Problem:
    return Problem(
        type="budget-too-small",
        title="It may cost more than a month's budget",
        detail=f"It may cost up to {max_usd:g} USD; your organisation's budget is {monthly_usd:g} USD a month, so it "
        "could never begin. Submit it with a lower limit (limits.max_usd), or have the budget raised.",
    )


def unreadable_request_problem(why: str) -> Problem:
    return Problem(
        type="unreadable-request",
        title="What was asked cannot be read by this version of the service",
        detail=f"{why} Submit it again.",
    )
