"""Expected corpus coverage of proposals, checked before any cost is incurred. At most 40 proposals are
checked, or fewer if time runs out."""

import asyncio
import datetime as dt
from collections import Counter
from collections.abc import Sequence

from assayer.errors import ComponentUnavailable, CorpusError, LiteratureError
from assayer.models import Absent, FitLevel, Idea
from assayer.models.window import Window
from assayer_client.batches import ExpectedFit
from orchestrator.web.services import Services

_MAX_CHECKED_IDEAS = 40
_MAX_CONCURRENT_CHECKS = 8
_TIMEOUT_SECONDS = 20.0


async def estimate_fit(
    services: Services, ideas: Sequence[Idea], cutoff: dt.date | None, timeout_seconds: float = _TIMEOUT_SECONDS
) -> ExpectedFit | Absent:
    """Return how many of the proposals the corpus covers well, partially or poorly. Return Absent with the reason if
    there is no corpus, no text to check, or no result in time."""
    if services.corpora is None:
        return Absent(reason="This service has no corpus to search.")
    sample = (
        [ideas[index * len(ideas) // _MAX_CHECKED_IDEAS] for index in range(_MAX_CHECKED_IDEAS)]
        if len(ideas) > _MAX_CHECKED_IDEAS
        else list(ideas)
    )
    if not sample:
        return Absent(reason="There is no text to check, because documents are not read until they are evaluated.")
    levels: list[FitLevel] = []
    slots = asyncio.Semaphore(_MAX_CONCURRENT_CHECKS)
    try:
        async with asyncio.timeout(timeout_seconds):
            corpus = await services.corpora.current()

            async def check_fit(idea: Idea) -> None:
                async with slots:
                    levels.append((await corpus.fit(idea.text, Window.until(idea.cutoff or cutoff))).level)

            await asyncio.gather(*map(check_fit, _interleave(sample)))
    except TimeoutError:
        if not levels:
            return Absent(
                reason=f"The fit could not be checked within {timeout_seconds:g} s because the service is busy."
            )
    except (CorpusError, LiteratureError, ComponentUnavailable):
        return Absent(reason="The corpus cannot be searched at the moment.")
    counts = Counter(levels)
    return ExpectedFit(
        checked_proposals=len(levels),
        well_covered=counts["good"],
        partly_covered=counts["partial"],
        poorly_covered=counts["poor"],
    )


def _interleave(ideas: list[Idea]) -> list[Idea]:
    """Reorder ideas so that every prefix is spread over the whole list, because there may be time for only a prefix."""
    return [idea for step in range(_MAX_CONCURRENT_CHECKS) for idea in ideas[step::_MAX_CONCURRENT_CHECKS]]
