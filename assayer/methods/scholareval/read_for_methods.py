"""What the soundness module reads reaches the reviews of the contribution, which are asked later than it is read."""

import asyncio
from collections.abc import Collection, Iterable

from assayer.methods.scholareval.method_reading import RelevantPaper
from assayer.models import PaperId

__all__ = ["ReadForMethods"]

MOST_SHOWN = 6
"""Papers, in one review of a dimension."""


class ReadForMethods:
    """Of one evaluation: given once by the soundness module, whatever becomes of it, and waited for by the other."""

    def __init__(self) -> None:
        self._given = asyncio.Event()
        self._papers: dict[PaperId, RelevantPaper] = {}

    def give(self, papers: Iterable[RelevantPaper] = ()) -> None:
        """Of a paper that was noted for several methods the first note; those that nobody read are of no use here."""
        for one in papers:
            if one.note is not None:
                self._papers.setdefault(one.paper, one)
        self._given.set()

    async def beside(self, compared: Collection[PaperId]) -> tuple[RelevantPaper, ...]:
        """Those nearest to their methods, without those that are compared anyway."""
        await self._given.wait()
        others = [one for paper, one in self._papers.items() if paper not in compared]
        return tuple(sorted(others, key=lambda one: (-(one.similarity or 0.0), one.paper))[:MOST_SHOWN])
