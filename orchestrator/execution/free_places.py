"""Number of jobs that a worker requests from the queue, and the worker's pause after failures."""

from orchestrator.jobs.fair_scheduler import FreeSlots


def slots_to_request(
    places: int, taken: int, interactive: int, batch_only: bool = False, overnight_only: bool = False
) -> FreeSlots:
    """Return the slots to request: half of the free places, rounded up. Workers that wake up at the same time then
    share the waiting jobs, and each requests more immediately. `interactive` is the number of places that are kept free
    for interactive jobs, as long as at least one place remains for other jobs."""
    free = max(0, places - taken)
    if batch_only or overnight_only:
        return FreeSlots((free + 1) // 2, batch_only=batch_only, overnight_only=overnight_only)
    for_batch = free - min(free, interactive, max(0, places - 1))
    batch_slots = (free + 1) // 2
    return FreeSlots(batch_slots, batch_slots - min(batch_slots, for_batch))


def pause_after_failures(failures: int, max_seconds: float) -> float:
    """Return the pause in seconds after consecutive failures. It doubles with each failure, up to `max_seconds`."""
    return float(min(max_seconds, 0.25 * 2 ** min(failures, 20)))
