"""Stages of a funding call, derived from what has been submitted, evaluated, assigned, reviewed and decided."""

import datetime as dt
from typing import Literal, NamedTuple

from assayer.reports.wording import format_count

StageName = Literal["Submitted", "Evaluated", "Assigned", "Reviewed", "Decided"]
NextStep = Literal["add", "wait", "assign", "review", "decide", "sign off", "letters"]
"""Next step for a person in a call."""


class CallCounts(NamedTuple):
    """Numbers of a call's proposals, excluding cancelled ones, and of their reviews."""

    proposals: int = 0
    unfinished: int = 0
    readable: int = 0
    """Number of proposals whose text can be read, now or later; only these can be reviewed."""
    assigned: int = 0
    """Number of readable proposals with a reviewer."""
    reviews: int = 0
    """Number of requested reviews."""
    missing: int = 0
    """Number of requested reviews that have not been given."""
    decided: int = 0


class Stage(NamedTuple):
    name: StageName
    state: Literal["done", "current", "next"]
    detail: str
    overdue: str
    """Overdue work of this stage, in words; empty if there is none."""


class CallProgress(NamedTuple):
    stages: tuple[Stage, ...]
    step: NextStep


def derive_progress(
    counts: CallCounts, *, is_signed_off: bool, deadline: dt.date | None, due: dt.date | None, today: dt.date
) -> CallProgress:
    """Return the stages of a call and the next step. `deadline` is the last day for proposals, `due` for reviews."""
    evaluated = counts.proposals - counts.unfinished
    opinions_given = counts.reviews - counts.missing
    is_late = due is not None and due < today and counts.missing > 0
    deadline_text = f", until {deadline}" if deadline is not None and deadline >= today else ""
    done = (
        counts.proposals > 0,
        counts.proposals > 0 and not counts.unfinished,
        0 < counts.readable == counts.assigned,
        counts.reviews > 0 and not counts.missing and counts.readable == counts.assigned,
        is_signed_off,
    )
    details = (
        f"{format_count(counts.proposals, 'proposal')}{deadline_text}",
        f"{evaluated:,} of {counts.proposals:,}",
        f"{counts.assigned:,} of {format_count(counts.readable, 'proposal')}",
        f"{opinions_given:,} of {format_count(counts.reviews, 'review')}",
        "signed off" if is_signed_off else f"{counts.decided:,} of {counts.proposals:,}",
    )
    overdue = f"{format_count(counts.missing, 'review')} overdue since {due}" if is_late and not is_signed_off else ""
    names: tuple[StageName, ...] = ("Submitted", "Evaluated", "Assigned", "Reviewed", "Decided")
    first_open_step = next((index for index, is_done in enumerate(done) if not is_done), len(done))
    stages = tuple(
        Stage(
            name,
            "done" if is_signed_off or done[index] else "current" if index == first_open_step else "next",
            details[index],
            overdue if name == "Reviewed" else "",
        )
        for index, name in enumerate(names)
    )
    return CallProgress(stages, "letters" if is_signed_off else _choose_next_step(first_open_step, counts))


def _choose_next_step(first_open_step: int, counts: CallCounts) -> NextStep:
    steps: tuple[NextStep, ...] = ("add", "wait", "assign", "review")
    if first_open_step < len(steps):
        return steps[first_open_step]
    return "decide" if counts.decided < counts.proposals else "sign off"
