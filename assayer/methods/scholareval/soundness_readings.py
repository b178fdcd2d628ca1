"""Pass the papers read by the soundness module to the contribution module, which runs at the same time."""

import asyncio
from collections.abc import Sequence

from assayer.literature.work_versions import keep_one_paper_per_work
from assayer.models import Paper

MAX_COMPARED = 8
"""Maximum number of papers from the soundness module that are compared; they fit into one request."""


class SoundnessReadings:
    """Papers read in one evaluation. The soundness module publishes them once; the contribution module waits for
    them."""

    def __init__(self) -> None:
        self._is_published = asyncio.Event()
        self._papers: tuple[Paper, ...] = ()

    def publish(self, papers: Sequence[Paper] = ()) -> None:
        """Publish the papers that are relevant to a method, nearest first, and wake waiting tasks. Only the first call
        with papers counts. A call without papers just wakes the tasks, so that they do not wait for a failed module."""
        self._papers = self._papers or tuple(papers)
        self._is_published.set()

    async def select_excluding(self, compared_papers: Sequence[Paper]) -> list[Paper]:
        """Wait for the papers, and return up to `MAX_COMPARED` of them, nearest to their methods first, leaving out
        works that were already compared."""
        await self._is_published.wait()
        ids = {paper.id for paper in compared_papers}
        other_papers = [paper for paper in self._papers if paper.id not in ids]
        chosen_papers: list[Paper] = []
        for paper in other_papers:
            known_papers = [*compared_papers, *chosen_papers]
            if len(keep_one_paper_per_work([*known_papers, paper])) > len(keep_one_paper_per_work(known_papers)):
                chosen_papers.append(paper)
        return chosen_papers[:MAX_COMPARED]
