"""How well the corpus covers the fields of proposals, told before anything is paid for: of some of them, as all take
long."""

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
    """Of those whose text is at hand, spread over all of them. Documents are read when they are evaluated."""
    good: int
    partial: int
    poor: int


async def expected_fit(services: Services, ideas: Sequence[Idea], cutoff: dt.date | None) -> ExpectedFit | Absent:
    """Absent, with the reason, where there is no corpus, no text, or no answer in time."""
    if services.corpora is None:
        return Absent(reason="This service has no corpus to search.")
    chosen = [ideas[place * len(ideas) // _MOST] for place in range(_MOST)] if len(ideas) > _MOST else list(ideas)
    if not chosen:
        return Absent(reason="Documents are read when they are evaluated.")
    free = asyncio.Semaphore(_AT_ONCE)
    try:
        async with asyncio.timeout(_SECONDS):
            corpus = await services.corpora.current()

            async def level(idea: Idea) -> FitLevel:
                async with free:
                    return (await corpus.fit(idea.text, Window.until(idea.cutoff or cutoff))).level

            found = Counter(await asyncio.gather(*map(level, chosen)))
    except (CorpusError, LiteratureError, PartUnavailable, TimeoutError):
        return Absent(reason="The corpus cannot be searched at the moment.")
    return ExpectedFit(checked=len(chosen), good=found["good"], partial=found["partial"], poor=found["poor"])
