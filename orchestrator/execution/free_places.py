"""How many jobs an evaluator asks the queue for, and how long it waits after a failure."""

from orchestrator.jobs.fair_scheduler import FreeSlots

__all__ = ["pause_after_failures", "slots_to_ask_for"]


def slots_to_ask_for(
    places: int, taken: int, interactive: int, batch_only: bool = False, overnight_only: bool = False
) -> FreeSlots:
    """Half of the free places, rounded up: evaluators that wake together share what waits, and ask again at once.
    `interactive` places are kept free for interactive jobs, as long as one is left for the others."""
    free = max(0, places - taken)
    if batch_only or overnight_only:
        return FreeSlots((free + 1) // 2, batch_only=batch_only, overnight_only=overnight_only)
    for_batch = free - min(free, interactive, max(0, places - 1))
    asked = (free + 1) // 2
    return FreeSlots(asked, asked - min(asked, for_batch))


def pause_after_failures(failures: int, longest: float) -> float:
    """Seconds; doubles with every failure in a row."""
    return float(min(longest, 0.25 * 2 ** min(failures, 20)))
