"""Why a job ends before it has begun."""

from orchestrator.jobs.models import Problem

__all__ = ["never_fits", "unreadable"]


def never_fits(max_usd: float, monthly_usd: float) -> Problem:
    return Problem(
        type="budget-too-small",
        title="It may cost more than a month's budget",
        detail=f"This job may cost up to {max_usd:g} USD; its tenant's budget is {monthly_usd:g} USD a month, so it "
        "could never begin. Submit it with a lower limit (limits.max_usd), or have the budget raised.",
    )


def unreadable(why: str) -> Problem:
    return Problem(
        type="unreadable-request",
        title="What was asked cannot be read by this version of the service",
        detail=f"{why} Submit it again.",
    )
