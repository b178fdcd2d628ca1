"""The Literature port with a run's cutoff and own-paper check on everything that comes back.

For searches that walk on from what they find: the idea's own paper must not be a step on the way, since its references
would give the answer away.
"""

from collections.abc import Callable, Iterable, Sequence

from assayer.models import CorpusFit, Hit, Paper, PaperContents, PaperId, Passage, Retraction, Window
from assayer.ports import CitationIds, Literature


class AdmittedLiterature:
    """Literature restricted to admitted papers; implements the Literature port. `admit` decides whether the run may
    see a paper."""

    def __init__(self, literature: Literature, admit: Callable[[Paper], bool]) -> None:
        self._literature = literature
        self._judge = admit
        self._refused: set[PaperId] = set()

    @property
    def version(self) -> str:
        return self._literature.version

    @property
    def source(self) -> str:
        return self._literature.source

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Hit]]:
        return [self._hits(item) for item in await self._literature.search(queries, limit, window)]

    async def snippets(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Passage]]:
        answers = await self._literature.snippets(queries, limit, window)
        return [[passage for passage in passages if self._admit(passage.paper)] for passages in answers]

    async def neighbours(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Hit]]:
        answers = await self._literature.neighbours(papers, limit, window)
        return {paper: self._hits(hits) for paper, hits in answers.items()}

    async def references(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Paper]]:
        answers = await self._literature.references(papers, limit, window)
        return {paper: [item for item in cited if self._admit(item)] for paper, cited in answers.items()}

    async def citing(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Paper]]:
        answers = await self._literature.citing(papers, limit, window)
        return {paper: [item for item in citing if self._admit(item)] for paper, citing in answers.items()}

    async def citations(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, CitationIds]:
        """Return citations without the papers refused so far. Other papers are only judged by their records, so
        fetch them with `papers` before following their citations."""
        answers = await self._literature.citations(papers, limit, window)
        return {
            paper: CitationIds(self._unrefused(answer.cited), self._unrefused(answer.citing))
            for paper, answer in answers.items()
        }

    async def contents(self, papers: Sequence[PaperId]) -> dict[PaperId, PaperContents]:
        return await self._literature.contents(papers)

    async def papers(self, ids: Sequence[PaperId], window: Window) -> dict[PaperId, Paper]:
        known = await self._literature.papers(ids, window)
        return {key: paper for key, paper in known.items() if self._admit(paper)}

    async def similarity(self, text: str, papers: Sequence[PaperId]) -> dict[PaperId, float]:
        return await self._literature.similarity(text, papers)

    async def retractions(self, papers: Sequence[Paper]) -> dict[PaperId, Retraction]:
        return await self._literature.retractions(papers)

    async def fit(self, text: str, window: Window) -> CorpusFit:
        return await self._literature.fit(text, window)

    def _admit(self, paper: Paper) -> bool:
        admitted = self._judge(paper)
        if not admitted:
            self._refused.add(paper.id)
        return admitted

    def _unrefused(self, papers: Sequence[PaperId]) -> Sequence[PaperId]:
        return [paper for paper in papers if paper not in self._refused] if self._refused else papers

    def _hits(self, hits: Iterable[Hit]) -> list[Hit]:
        return [hit for hit in hits if self._admit(hit.paper)]
