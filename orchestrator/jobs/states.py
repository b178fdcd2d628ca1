"""The states of a job and what leads from one to the next. Pure; the statements of the store do the same.

    queued ──leased──> running ──finished──> done | failed | dead
       ^                  │
       ├───given back─────┤   a failure, a loss or an outage
       ├───expired────────┤   a loss
       │                  └──one failure, loss or outage too many──> dead
       ├──refused───────────> failed
    queued | running ──cancelled──> cancelled

The four states without a way out are verdicts: a job gets exactly one.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, assert_never

from orchestrator.jobs.models import JobState, Problem

__all__ = [
    "Cancelled",
    "Cause",
    "Event",
    "Expired",
    "Finished",
    "GivenBack",
    "Leased",
    "Refused",
    "Standing",
    "Tries",
    "gave_up",
    "step",
]

Cause: TypeAlias = Literal["failure", "loss", "outage"]
"""failure: the attempt itself went wrong; loss: its worker died or had to stop; outage: something that it needs was
out of reach, as for every other job."""

_REASONS = 5
"""The last so many are remembered."""
_LONGEST_REASON = 500


@dataclass(frozen=True)
class Leased:
    """A worker took it."""


@dataclass(frozen=True)
class Finished:
    """Its worker wrote the verdict."""

    state: Literal["done", "failed", "dead"]


@dataclass(frozen=True)
class GivenBack:
    """It is to be tried again."""

    why: str
    cause: Cause


@dataclass(frozen=True)
class Expired:
    """Nothing was heard of its worker for as long as a lease lasts."""

    worker: str


@dataclass(frozen=True)
class Cancelled:
    """Its tenant no longer wants it."""


@dataclass(frozen=True)
class Refused:
    """It can never be begun: it may cost more than its tenant has in a month."""


Event: TypeAlias = Leased | Finished | GivenBack | Expired | Cancelled | Refused


class Tries(NamedTuple):
    """How many of each make a job dead."""

    failures: int
    losses: int
    outages: int


class Standing(NamedTuple):
    state: JobState = "queued"
    failures: int = 0
    losses: int = 0
    outages: int = 0
    reasons: tuple[str, ...] = ()
    """Why the last attempts came to nothing, the latest last."""


def step(standing: Standing, event: Event, most: Tries) -> Standing | None:
    """What the event makes of it; None when it comes too late or too early, and then changes nothing."""
    state = standing.state
    match event:
        case Leased():
            return standing._replace(state="running") if state == "queued" else None
        case Finished():
            return standing._replace(state=event.state) if state == "running" else None
        case GivenBack():
            return _again(standing, event.why, event.cause, most) if state == "running" else None
        case Expired():
            why = f"Nothing was heard of worker {event.worker}."
            return _again(standing, why, "loss", most) if state == "running" else None
        case Cancelled():
            return standing._replace(state="cancelled") if state in {"queued", "running"} else None
        case Refused():
            return standing._replace(state="failed") if state == "queued" else None
        case _:
            assert_never(event)


def _again(standing: Standing, why: str, cause: Cause, most: Tries) -> Standing:
    failures = standing.failures + (cause == "failure")
    losses = standing.losses + (cause == "loss")
    outages = standing.outages + (cause == "outage")
    spent = failures >= most.failures or losses >= most.losses or outages >= most.outages
    reasons = (*standing.reasons, why[:_LONGEST_REASON])[-_REASONS:]
    return Standing("dead" if spent else "queued", failures, losses, outages, reasons)


def gave_up(standing: Standing) -> Problem:
    """Why a job is dead that its worker did not end."""
    tries = (
        (standing.failures, "it failed"),
        (standing.losses, "its worker was lost or had to stop"),
        (standing.outages, "something that it needs was out of reach"),
    )
    told = [f"{count} {'time' if count == 1 else 'times'} {how}" for count, how in tries if count]
    last = " ".join(f"({number}) {why}" for number, why in enumerate(standing.reasons, 1))
    return Problem(
        type="gave-up",
        title=f"Given up after {sum(count for count, _ in tries)} tries",
        detail=f"It was begun and not finished: {', '.join(told)}. The last reasons: {last} "
        "Answers that were paid for are kept: submitting it again, once these are dealt with, pays only for the rest.",
    )
