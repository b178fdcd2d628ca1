"""Number of jobs that a worker requests from the queue, and the worker's pause after failures."""

from orchestrator.jobs.fair_scheduler import FreeSlots


def compute_slots_to_request(
    total: int, used: int, reserved: int, batch_only: bool = False, overnight_only: bool = False
) -> FreeSlots:
    """Return the slots to request: half of the free slots, rounded up. Workers that wake up at the same time then
    share the waiting jobs, and each requests more immediately. `reserved` is the number of slots that are kept free for
    interactive jobs, as long as at least one slot remains for other jobs."""
    free = max(0, total - used)
    if batch_only or overnight_only:
        return FreeSlots((free + 1) // 2, batch_only=batch_only, overnight_only=overnight_only)
    free_for_batch = free - min(free, reserved, max(0, total - 1))
    requested = (free + 1) // 2
    return FreeSlots(requested, requested - min(requested, free_for_batch))


def compute_pause_seconds(failures: int, max_seconds: float) -> float:
    """Return the pause in seconds after consecutive failures. It doubles with each failure, up to `max_seconds`."""
    return float(min(max_seconds, 0.25 * 2 ** min(failures, 20)))
