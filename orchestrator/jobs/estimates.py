"""What evaluations will cost and how long they will take, from what others of their method took. Nothing is stored.

The tenant's own evaluations are the better guide: its ideas, this service's models and prices. Where there are fewer
than ten, the figures that come with the program stand in, with the prices of the settings.
"""

import statistics
from collections.abc import Sequence
from typing import Literal

from assayer.models import Absent, Frozen
from assayer.models.base import Dollars

__all__ = ["CostEstimate", "Pace", "TakenByEvaluation", "TypicalEvaluation", "estimate"]

FEWEST = 10
"""Evaluations, or ends within the last hour, from which anything is concluded."""


class TakenByEvaluation(Frozen):
    """Answers from the cache included, as if they had been sent."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Dollars | None
    """None: a call's price is not known."""


class TypicalEvaluation(Frozen):
    """What the program brings about a method: measured on other ideas, with a simulated model."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Dollars | Absent
    high_cost_usd: Dollars | Absent
    """Nine of ten of those ideas cost at most as much."""


class Pace(Frozen):
    """How fast a tenant's evaluations by a method ended within the last hour."""

    ended: int = 0
    seconds: float = 0.0
    """Between the first and the last of these ends."""
    waiting: int = 0
    """Accepted, and not ended."""

    @property
    def ideas_per_hour(self) -> float | Absent:
        if self.ended < FEWEST or self.seconds <= 0:
            return Absent(reason=f"Fewer than {FEWEST} evaluations by this method ended within the last hour.")
        return 3600 * (self.ended - 1) / self.seconds


class CostEstimate(Frozen):
    basis: Literal["own", "typical"]
    """The tenant's own evaluations, or the figures that come with the program."""
    evaluations: int
    """From how many evaluations of one's own it is estimated; 0 for `typical`."""
    calls: int
    """Of all ideas together, as are the following."""
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Dollars | Absent
    high_cost_usd: Dollars | Absent
    """If every idea cost as much as the dearest tenth."""
    cut_short: float | Absent
    """Share of one's own evaluations that cost more than `max_usd` allows: theirs would have ended incomplete."""
    hours: float | Absent
    """Until the last of them ends, at the pace of the last hour and after what waits already."""


def estimate(
    ideas: int,
    own: Sequence[TakenByEvaluation],
    typical: TypicalEvaluation | Absent,
    pace: Pace,
    max_usd: float | None = None,
) -> CostEstimate | Absent:
    """Of so many different ideas; `max_usd` is what one of them may cost. Absent, with the reason, where nothing is
    known of their method."""
    speed = pace.ideas_per_hour
    hours = speed if isinstance(speed, Absent) else (ideas + pace.waiting) / speed
    if len(own) >= FEWEST:
        return _from_own(ideas, own, hours, max_usd)
    if isinstance(typical, Absent):
        return typical
    return CostEstimate(
        basis="typical",
        evaluations=0,
        calls=ideas * typical.calls,
        prompt_tokens=ideas * typical.prompt_tokens,
        completion_tokens=ideas * typical.completion_tokens,
        cost_usd=_times(ideas, typical.cost_usd, max_usd),
        high_cost_usd=_times(ideas, typical.high_cost_usd, max_usd),
        cut_short=Absent(reason=f"It takes {FEWEST} evaluations of your own by this method to tell."),
        hours=hours,
    )


def _from_own(
    ideas: int, own: Sequence[TakenByEvaluation], hours: float | Absent, max_usd: float | None
) -> CostEstimate:
    costs = [one.cost_usd for one in own if one.cost_usd is not None]
    mean: float | Absent
    high: float | Absent
    over: float | Absent
    if len(costs) < len(own):
        mean = high = over = Absent(
            reason=f"Of {len(own) - len(costs)} of your last {len(own)} evaluations the price is not known."
        )
    else:
        allowed = [cost if max_usd is None else min(cost, max_usd) for cost in costs]
        mean, high = statistics.fmean(allowed), statistics.quantiles(allowed, n=10, method="inclusive")[-1]
        over = 0.0 if max_usd is None else sum(cost > max_usd for cost in costs) / len(costs)
    return CostEstimate(
        basis="own",
        evaluations=len(own),
        calls=round(ideas * statistics.fmean(one.calls for one in own)),
        prompt_tokens=round(ideas * statistics.fmean(one.prompt_tokens for one in own)),
        completion_tokens=round(ideas * statistics.fmean(one.completion_tokens for one in own)),
        cost_usd=_times(ideas, mean, None),
        high_cost_usd=_times(ideas, high, None),
        cut_short=over,
        hours=hours,
    )


def _times(ideas: int, cost: float | Absent, max_usd: float | None) -> float | Absent:
    if isinstance(cost, Absent):
        return cost
    return ideas * (cost if max_usd is None else min(cost, max_usd))
