"""Target number of evaluators, computed from running and queued jobs."""

from typing import NamedTuple

from orchestrator.store.queue_depth import QueueDepth


class EvaluatorLoad(NamedTuple):
    """Load of one evaluator pool."""

    replicas: int
    in_hand: tuple[float, ...]
    """Number of running jobs in each evaluator that has reported."""
    queue: QueueDepth | None
    """Queue depth, or None if it could not be read."""


def compute_wanted_evaluators(
    load: EvaluatorLoad, jobs_a_replica: float, patience_seconds: float, takes_interactive: bool, takes_batch: bool
) -> float:
    """Return the target number of evaluators, before Serve applies its delays and limits. Running jobs and queued
    interactive jobs count immediately. Queued batch jobs count only once the oldest has waited for `patience_seconds`,
    so that no process is started for jobs that will soon get a free slot."""
    if load.replicas and not load.in_hand:
        in_hand = load.replicas * jobs_a_replica  # just started, and no reports yet, so keep the current number
    else:
        # Evaluators that have not reported yet are assumed to be as busy as the others.
        in_hand = load.replicas * sum(load.in_hand) / max(1, len(load.in_hand))
    waiting = 0
    if load.queue is not None:
        interactive, batch = load.queue
        waiting += interactive.jobs if takes_interactive else 0
        waiting += batch.jobs if takes_batch and batch.oldest_seconds >= patience_seconds else 0
    return (in_hand + waiting) / jobs_a_replica
