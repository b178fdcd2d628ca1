"""How well the corpus covers the fields of proposals, told before anything is paid for: of some of them, as all take
long, as many as the time allows."""

import asyncio
import datetime as dt
from collections import Counter
from collections.abc import Sequence

from assayer.errors import CorpusError, LiteratureError, PartUnavailable
from assayer.models import Absent, Idea
from assayer.models.paper import FitLevel
from assayer.models.window import Window
from orchestrator.api.common_schemas import Resource
from orchestrator.api.services import Services

__all__ = ["ExpectedFit", "expected_fit"]

_MOST = 40
_AT_ONCE = 8
_SECONDS = 20.0


class ExpectedFit(Resource):
    """What evaluations would say of the corpus, for proposals that were looked at. Those whose field it does not cover
    (`poor`) get no score that rests on it."""

    checked: int
    """Of those whose text is at hand, spread over all of them; as many as could be in the time. Documents are read
    when they are evaluated."""
    good: int
    partial: int
    poor: int


async def expected_fit(
    services: Services, ideas: Sequence[Idea], cutoff: dt.date | None, seconds: float = _SECONDS
) -> ExpectedFit | Absent:
    """Absent, with the reason, where there is no corpus, no text, or no answer in time."""
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
            return Absent(reason=f"It could not be checked in time, {seconds:g} s: the service is busy.")
    except (CorpusError, LiteratureError, PartUnavailable):
        return Absent(reason="The corpus cannot be searched at the moment.")
    found = Counter(levels)
    return ExpectedFit(checked=len(levels), good=found["good"], partial=found["partial"], poor=found["poor"])


def _spread(ideas: list[Idea]) -> list[Idea]:
    """In an order of which every beginning is spread over all: what is looked at until the time is over."""
    return [idea for step in range(_AT_ONCE) for idea in ideas[step::_AT_ONCE]]
