"""Expected cost and duration of evaluations, estimated from earlier evaluations by the same method. Nothing is stored.

The tenant's own evaluations are the better basis, because they reflect its ideas and this service's models and prices.
If there are fewer than ten of them, packaged figures are used, with the prices in the settings."""

import statistics
from collections.abc import Sequence
from typing import Literal

from assayer.models import Absent, Frozen
from assayer_client.resources import Dollars

MIN_EVALUATIONS = 10
"""Minimum number of the tenant's own evaluations for estimating the cost, and minimum number that ended within the last
hour for estimating the duration."""


class EvaluationUsage(Frozen):
    """Usage of one evaluation; cached responses count as if they had been requested."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Dollars | None
    """Cost in US dollars; None if the price of a call is unknown."""
    cached_prompt_tokens: int = 0
    """Number of the prompt tokens that the endpoint read from its prompt cache."""
    gpu_hours: float | None = None
    """GPU-hours, without cached prompt tokens; None if the speed of a model is unknown."""


class TypicalEvaluation(Frozen):
    """Packaged usage figures for a method, measured on other ideas with a simulated model."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: Dollars | Absent
    high_cost_usd: Dollars | Absent
    """Cost in US dollars that nine out of ten of the measured ideas do not exceed."""
    gpu_hours: float | None = None
    """GPU-hours without a prompt cache; None if the speed of a model is unknown."""
    high_gpu_hours: float | None = None


class QueuePace(Frozen):
    """Rate at which a tenant's evaluations by a method finished within the last hour."""

    ended: int = 0
    seconds: float = 0.0
    """Seconds between the ends of the first and the last of them."""
    waiting: int = 0
    """Number of evaluations that have been accepted but have not ended."""

    @property
    def ideas_per_hour(self) -> float | Absent:
        if self.ended < MIN_EVALUATIONS or self.seconds <= 0:
            return Absent(reason=f"Fewer than {MIN_EVALUATIONS} evaluations by this method ended within the last hour.")
        return 3600 * (self.ended - 1) / self.seconds


class CostEstimate(Frozen):
    basis: Literal["own", "typical"]
    """Source of the estimate: the tenant's own evaluations, or packaged figures."""
    evaluations: int
    """Number of the tenant's own evaluations on which the estimate is based; 0 for `typical`."""
    calls: int
    """Number of calls for all ideas together; the following fields also cover all ideas."""
    prompt_tokens: int
    cached_prompt_tokens: int | None
    """Number of the prompt tokens expected from the endpoint's prompt cache; None if the estimate is `typical`."""
    completion_tokens: int
    cost_usd: Dollars | Absent
    high_cost_usd: Dollars | Absent
    """Total cost in US dollars if every idea cost as much as the 90th percentile of past evaluations."""
    gpu_hours: float | None
    """GPU-hours of a language model on own GPUs; None if the speed of a model is unknown."""
    high_gpu_hours: float | None
    """GPU-hours if every idea took as many as the 90th percentile of past evaluations."""
    share_over_max_usd: float | Absent
    """Fraction of the tenant's own evaluations that cost more than `max_usd` allows and would have ended incomplete."""
    hours: float | Absent
    """Hours until the last evaluation ends, at the rate of the last hour and after the evaluations already waiting."""


def estimate_cost(
    ideas: int,
    past_usage: Sequence[EvaluationUsage],
    typical: TypicalEvaluation | Absent,
    pace: QueuePace,
    max_usd: float | None = None,
) -> CostEstimate | Absent:
    """Estimate the cost and duration of `ideas` different ideas; `max_usd` is the maximum cost of each. Return Absent,
    with the reason, if the tenant has too few own evaluations and `typical` is Absent."""
    ideas_per_hour = pace.ideas_per_hour
    hours = ideas_per_hour if isinstance(ideas_per_hour, Absent) else (ideas + pace.waiting) / ideas_per_hour
    if len(past_usage) >= MIN_EVALUATIONS:
        return _estimate_from_own(ideas, past_usage, hours, max_usd)
    if isinstance(typical, Absent):
        return typical
    return CostEstimate(
        basis="typical",
        evaluations=0,
        calls=ideas * typical.calls,
        prompt_tokens=ideas * typical.prompt_tokens,
        cached_prompt_tokens=None,
        completion_tokens=ideas * typical.completion_tokens,
        cost_usd=_multiply_cost(ideas, typical.cost_usd, max_usd),
        high_cost_usd=_multiply_cost(ideas, typical.high_cost_usd, max_usd),
        gpu_hours=None if typical.gpu_hours is None else ideas * typical.gpu_hours,
        high_gpu_hours=None if typical.high_gpu_hours is None else ideas * typical.high_gpu_hours,
        share_over_max_usd=Absent(
            reason=f"At least {MIN_EVALUATIONS} of your own evaluations by this method are required."
        ),
        hours=hours,
    )


def _estimate_from_own(
    ideas: int, past_usage: Sequence[EvaluationUsage], hours: float | Absent, max_usd: float | None
) -> CostEstimate:
    costs = [usage.cost_usd for usage in past_usage if usage.cost_usd is not None]
    mean_cost: float | Absent
    high_cost: float | Absent
    share_over_limit: float | Absent
    if len(costs) < len(past_usage):
        mean_cost = high_cost = share_over_limit = Absent(
            reason=f"The price of {len(past_usage) - len(costs)} of your last {len(past_usage)} evaluations is unknown."
        )
    else:
        capped_costs = [cost if max_usd is None else min(cost, max_usd) for cost in costs]
        mean_cost, high_cost = statistics.fmean(capped_costs), _compute_90th_percentile(capped_costs)
        share_over_limit = 0.0 if max_usd is None else sum(cost > max_usd for cost in costs) / len(costs)
    gpu_hours = [usage.gpu_hours for usage in past_usage if usage.gpu_hours is not None]
    has_all_gpu_hours = len(gpu_hours) == len(past_usage)
    return CostEstimate(
        basis="own",
        evaluations=len(past_usage),
        calls=round(ideas * statistics.fmean(usage.calls for usage in past_usage)),
        prompt_tokens=round(ideas * statistics.fmean(usage.prompt_tokens for usage in past_usage)),
        cached_prompt_tokens=round(ideas * statistics.fmean(usage.cached_prompt_tokens for usage in past_usage)),
        completion_tokens=round(ideas * statistics.fmean(usage.completion_tokens for usage in past_usage)),
        cost_usd=_multiply_cost(ideas, mean_cost, None),
        high_cost_usd=_multiply_cost(ideas, high_cost, None),
        gpu_hours=ideas * statistics.fmean(gpu_hours) if has_all_gpu_hours else None,
        high_gpu_hours=ideas * _compute_90th_percentile(gpu_hours) if has_all_gpu_hours else None,
        share_over_max_usd=share_over_limit,
        hours=hours,
    )


def _compute_90th_percentile(values: Sequence[float]) -> float:
    """Return the 90th percentile."""
    return statistics.quantiles(values, n=10, method="inclusive")[-1]


def _multiply_cost(ideas: int, cost_per_idea: float | Absent, max_usd: float | None) -> float | Absent:
    if isinstance(cost_per_idea, Absent):
        return cost_per_idea
    return ideas * (cost_per_idea if max_usd is None else min(cost_per_idea, max_usd))
