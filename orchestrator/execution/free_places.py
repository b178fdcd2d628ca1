"""Number of jobs an evaluator requests from the queue, and its pause after a failure."""

from orchestrator.jobs.fair_scheduler import FreeSlots


def slots_to_ask_for(
    places: int, taken: int, interactive: int, batch_only: bool = False, overnight_only: bool = False
) -> FreeSlots:
    """Return the slots to request: half of the free places, rounded up, so that evaluators that wake together share the
    waiting jobs; they ask again immediately. `interactive` places are kept free for interactive jobs, as long as one
    place is left for other jobs."""
    free = max(0, places - taken)
    if batch_only or overnight_only:
        return FreeSlots((free + 1) // 2, batch_only=batch_only, overnight_only=overnight_only)
    for_batch = free - min(free, interactive, max(0, places - 1))
    asked = (free + 1) // 2
    return FreeSlots(asked, asked - min(asked, for_batch))


def pause_after_failures(failures: int, longest: float) -> float:
    """Return the pause in seconds after failures; it doubles with every consecutive failure."""
    return float(min(longest, 0.25 * 2 ** min(failures, 20)))
