"""Papers read by the soundness module, for the comparison of novelty, which runs later."""

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
        """Add papers that are relevant to a method, nearest first, and wake waiting tasks. Called without papers if the
        module fails."""
        self._papers = self._papers or tuple(papers)
        self._published.set()

    async def excluding(self, compared: Sequence[Paper]) -> list[Paper]:
        """Return the papers nearest to their methods that are not among those already compared, each work once."""
        await self._published.wait()
        ids = {paper.id for paper in compared}
        others = [paper for paper in self._papers if paper.id not in ids]
        chosen: list[Paper] = []
        for paper in others:
            known = [*compared, *chosen]
            if len(one_paper_per_work([*known, paper])) > len(one_paper_per_work(known)):
                chosen.append(paper)
        return chosen[:MOST_COMPARED]
