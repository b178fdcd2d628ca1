"""The states of a job and what leads from one to the next. Pure; the statements of the store do the same.

    queued ──leased──> running ──finished──> done | failed | dead
       ^                  │
       ├───given back─────┤   a failure, a loss or an outage
       ├───expired────────┤   a loss
       │                  └──one failure, loss or outage too many──> dead
       ├──rejected──────────> failed
    queued | running ──cancelled──> cancelled

The four states without a way out are verdicts: a job gets exactly one.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, assert_never

from orchestrator.jobs.models import JobState, Problem

__all__ = [
    "AttemptHistory",
    "AttemptLimits",
    "Cancelled",
    "Expired",
    "Finished",
    "GivenBack",
    "Leased",
    "Rejected",
    "RetryCause",
    "StateChange",
    "gave_up_problem",
    "over_budget_problem",
    "transition",
    "unreadable_request_problem",
]

RetryCause: TypeAlias = Literal["failure", "loss", "outage"]
"""failure: the job itself was at fault; loss: its worker died or had to stop; outage: something that every job needs
was out of reach."""

_REASONS = 5
"""So many are kept."""
_LONGEST_REASON = 500


@dataclass(frozen=True)
class Leased:
    """A worker took the job."""


@dataclass(frozen=True)
class Finished:
    """The worker stored the verdict."""

    state: Literal["done", "failed", "dead"]


@dataclass(frozen=True)
class GivenBack:
    """The worker gave it back, to be tried again."""

    why: str
    cause: RetryCause


@dataclass(frozen=True)
class Expired:
    """The lease was not renewed in time."""

    worker: str


@dataclass(frozen=True)
class Cancelled:
    """The tenant cancelled it."""


@dataclass(frozen=True)
class Rejected:
    """It can never start: it may cost more than the tenant's monthly budget, or cannot be read."""


StateChange: TypeAlias = Leased | Finished | GivenBack | Expired | Cancelled | Rejected


class AttemptLimits(NamedTuple):
    """The number of each after which a job is dead."""

    failures: int
    losses: int
    outages: int


class AttemptHistory(NamedTuple):
    state: JobState = "queued"
    failures: int = 0
    losses: int = 0
    outages: int = 0
    reasons: tuple[str, ...] = ()
    """Why the last attempts did not finish, the latest last."""


def transition(history: AttemptHistory, change: StateChange, limits: AttemptLimits) -> AttemptHistory | None:
    """The history after the change; None when the job's state does not allow the change, which then has no effect."""
    state = history.state
    match change:
        case Leased():
            return history._replace(state="running") if state == "queued" else None
        case Finished():
            return history._replace(state=change.state) if state == "running" else None
        case GivenBack():
            return _requeue_or_bury(history, change.why, change.cause, limits) if state == "running" else None
        case Expired():
            why = f"The process {change.worker} was lost while it worked on this."
            return _requeue_or_bury(history, why, "loss", limits) if state == "running" else None
        case Cancelled():
            return history._replace(state="cancelled") if state in {"queued", "running"} else None
        case Rejected():
            return history._replace(state="failed") if state == "queued" else None
        case _:
            assert_never(change)


def _requeue_or_bury(history: AttemptHistory, why: str, cause: RetryCause, limits: AttemptLimits) -> AttemptHistory:
    failures = history.failures + (cause == "failure")
    losses = history.losses + (cause == "loss")
    outages = history.outages + (cause == "outage")
    exhausted = failures >= limits.failures or losses >= limits.losses or outages >= limits.outages
    reasons = (*history.reasons, why[:_LONGEST_REASON])[-_REASONS:]
    return AttemptHistory("dead" if exhausted else "queued", failures, losses, outages, reasons)


def gave_up_problem(history: AttemptHistory) -> Problem:
    """Why a job is dead whose worker did not end it."""
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
