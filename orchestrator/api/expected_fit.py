"""Expected corpus fit of proposals, checked before any cost is incurred. If time is short, only some of the proposals
are checked."""

import asyncio
import datetime as dt
from collections import Counter
from collections.abc import Sequence

from assayer.errors import CorpusError, LiteratureError, PartUnavailable
from assayer.models import Absent, FitLevel, Idea
from assayer.models.window import Window
from assayer_client.batches import ExpectedFit
from orchestrator.web.services import Services

_MOST = 40
_AT_ONCE = 8
_SECONDS = 20.0


async def expected_fit(
    services: Services, ideas: Sequence[Idea], cutoff: dt.date | None, seconds: float = _SECONDS
) -> ExpectedFit | Absent:
    """Return the expected fit of the proposals; Absent, with the reason, if there is no corpus, no text, or no response
    in time."""
    if services.corpora is None:
        return Absent(reason="This service has no corpus to search.")
    chosen = [ideas[place * len(ideas) // _MOST] for place in range(_MOST)] if len(ideas) > _MOST else list(ideas)
    if not chosen:
        return Absent(reason="Documents are read when they are evaluated.")
    levels: list[FitLevel] = []
    free = asyncio.Semaphore(_AT_ONCE)
    try:
        async with asyncio.timeout(seconds):
            corpus = await services.corpora.current()

            async def look_at(idea: Idea) -> None:
                async with free:
                    levels.append((await corpus.fit(idea.text, Window.until(idea.cutoff or cutoff))).level)

            await asyncio.gather(*map(look_at, _spread(chosen)))
    except TimeoutError:
        if not levels:
            return Absent(reason=f"It could not be checked within {seconds:g} s: the service is busy.")
    except (CorpusError, LiteratureError, PartUnavailable):
        return Absent(reason="The corpus cannot be searched at the moment.")
    counts = Counter(levels)
    return ExpectedFit(checked=len(levels), good=counts["good"], partial=counts["partial"], poor=counts["poor"])


def _spread(ideas: list[Idea]) -> list[Idea]:
    """Return the ideas in an order in which every prefix is spread over the whole list, because there may be time to
    check only a prefix."""
    return [idea for step in range(_AT_ONCE) for idea in ideas[step::_AT_ONCE]]
