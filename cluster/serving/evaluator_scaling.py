"""How many evaluators there should be: as many as the jobs in hand and those that have waited too long give work."""

from typing import NamedTuple

from orchestrator.store.queue_depth import QueueDepth

__all__ = ["EvaluatorLoad", "wanted_evaluators"]


class EvaluatorLoad(NamedTuple):
    """Of one pool."""

    replicas: int
    in_hand: tuple[float, ...]
    """Jobs that run in each evaluator that has told."""
    queue: QueueDepth | None
    """None: it could not be looked at."""


def wanted_evaluators(
    load: EvaluatorLoad, jobs_a_replica: float, patience_seconds: float, takes_interactive: bool, takes_batch: bool
) -> float:
    """Before Serve applies its delays and limits. Interactive jobs count at once, batch jobs once the first of them has
    waited for `patience_seconds`: a handful that free places take up by themselves starts no process."""
    if load.replicas and not load.in_hand:
        in_hand = load.replicas * jobs_a_replica  # just begun, and not heard of yet: it stays as it is
    else:
        # Some may not have told yet: they count as busy as the others.
        in_hand = load.replicas * sum(load.in_hand) / max(1, len(load.in_hand))
    waiting = 0
    if load.queue is not None:
        interactive, batch = load.queue
        waiting += interactive.jobs if takes_interactive else 0
        waiting += batch.jobs if takes_batch and batch.oldest_seconds >= patience_seconds else 0
    return (in_hand + waiting) / jobs_a_replica
