"""How many evaluators there should be: they lease their own jobs, so Serve cannot count calls and is told of jobs."""

from typing import Any

from ray.serve.config import AutoscalingContext

__all__ = ["JOBS_IN_HAND", "more_evaluators"]

JOBS_IN_HAND = "jobs_in_hand"
"""The name under which each evaluator tells how many jobs run in it."""


def more_evaluators(context: AutoscalingContext) -> tuple[float, dict[str, Any]]:
    """The number wanted, before Serve applies its delays and limits: as it decides by calls, but by jobs. Until
    evaluators have told theirs, as many as there are."""
    jobs = (context.aggregated_metrics or {}).get(JOBS_IN_HAND)
    if not jobs or context.config is None:
        return context.target_num_replicas, {}
    # Some may not have told yet: they count as busy as the others.
    mean = sum(jobs.values()) / len(jobs)
    return context.current_num_replicas * mean / context.config.get_target_ongoing_requests(), {}
