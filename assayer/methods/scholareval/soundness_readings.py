"""Papers read by the soundness module, passed on to the novelty comparison, which runs later."""

import asyncio
from collections.abc import Sequence

from assayer.literature.work_versions import one_paper_per_work
from assayer.models import Paper

MOST_COMPARED = 8
"""Maximum number of papers from the soundness module that are compared; they fit in one request."""


class SoundnessReadings:
    """Papers read by one evaluation: published once by the soundness module, awaited by the contribution module."""

    def __init__(self) -> None:
        self._published = asyncio.Event()
        self._papers: tuple[Paper, ...] = ()

    def publish(self, papers: Sequence[Paper] = ()) -> None:
        """Publish the papers that are relevant to a method, nearest first, and wake waiting tasks. A later call does
        not replace them; a call without papers only wakes the tasks, so that they do not wait for a failed module."""
        self._papers = self._papers or tuple(papers)
        self._published.set()

    async def excluding(self, compared: Sequence[Paper]) -> list[Paper]:
        """Wait for the papers, and return at most `MOST_COMPARED` of them, nearest to their methods first, without
        works that were already compared."""
        await self._published.wait()
        ids = {paper.id for paper in compared}
        others = [paper for paper in self._papers if paper.id not in ids]
        chosen: list[Paper] = []
        for paper in others:
            known = [*compared, *chosen]
            if len(one_paper_per_work([*known, paper])) > len(one_paper_per_work(known)):
                chosen.append(paper)
        return chosen[:MOST_COMPARED]
