"""A run's literature, for searches that follow citations.

Such a search must not reach papers published after the cutoff. Nor may it reach the idea's own paper, whose references
would give the answer away."""

from collections.abc import Callable, Sequence

from assayer.models import Hit, Paper, PaperId, Window
from assayer.ports import CitationIds, Literature


class AdmittedLiterature:
    """Literature restricted to a date window and to the papers that `admit` accepts. All methods raise LiteratureError
    if the source fails."""

    def __init__(self, literature: Literature, window: Window, admit: Callable[[Paper], bool]) -> None:
        self._literature, self._window, self._judge = literature, window, admit
        self._refused_papers: set[PaperId] = set()

    async def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        answers = await self._literature.search(queries, limit, self._window)
        return [[hit for hit in hits if self._admit(hit.paper)] for hits in answers]

    async def citations(self, papers: Sequence[PaperId], limit: int) -> dict[PaperId, CitationIds]:
        """Return citations, without the papers refused so far. A paper is only admitted or refused once its record is
        known, so fetch the record with `papers` before following the paper's citations."""
        answers = await self._literature.citations(papers, limit, self._window)
        return {
            paper: CitationIds(self._remove_refused(answer.cited), self._remove_refused(answer.citing))
            for paper, answer in answers.items()
        }

    async def papers(self, ids: Sequence[PaperId]) -> list[Paper]:
        papers_by_id = await self._literature.papers(ids, self._window)
        return [paper for paper in papers_by_id.values() if self._admit(paper)]

    async def similarity(self, text: str, papers: Sequence[PaperId]) -> dict[PaperId, float]:
        return await self._literature.similarity(text, papers)

    def _admit(self, paper: Paper) -> bool:
        admitted = self._judge(paper)
        if not admitted:
            self._refused_papers.add(paper.id)
        return admitted

    def _remove_refused(self, papers: Sequence[PaperId]) -> list[PaperId]:
        return [paper for paper in papers if paper not in self._refused_papers]
