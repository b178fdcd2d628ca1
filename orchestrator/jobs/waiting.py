"""Why a job waits, told to whoever asked for it."""

from typing import NamedTuple

__all__ = ["Circumstances", "why_waiting"]


class Circumstances(NamedTuple):
    """Of a queued job and its tenant."""

    seconds: float
    """Until it may be begun."""
    ahead: int
    """Jobs of the same tenant that come first."""
    running: int
    """Of the tenant, as what follows."""
    max_running: int | None
    max_usd: float | None
    """Of the job."""
    monthly_usd: float | None
    spent_usd: float
    reserved_usd: float


def why_waiting(now: Circumstances) -> str:
    """The first of the reasons that has to go away."""
    if now.seconds > 0:
        return f"It was put off after a try that came to nothing, and may be begun again in {now.seconds:.0f} s."
    if now.max_running is not None and now.running >= now.max_running:
        return f"{now.running} jobs of its tenant run, which is as many as may at once."
    if reason := _lacks_money(now):
        return reason
    if now.ahead:
        return f"{now.ahead:,} jobs of its tenant come first."
    return "It is the next of its tenant, and waits for a free place."


def _lacks_money(now: Circumstances) -> str | None:
    if now.monthly_usd is None:
        return None
    left = now.monthly_usd - now.spent_usd - now.reserved_usd
    if (left > 0) if now.max_usd is None else (now.max_usd <= left):
        return None
    need = "Its limit is open" if now.max_usd is None else f"It may cost {now.max_usd:g} USD"
    return (
        f"{need}, and {max(0.0, left):.2f} USD are left of its tenant's {now.monthly_usd:g} USD a month: "
        f"{now.spent_usd:.2f} USD are spent and {now.reserved_usd:.2f} USD reserved for jobs that run. It begins when "
        "these leave enough over, when the budget is raised, or on the first of the month (UTC)."
    )
