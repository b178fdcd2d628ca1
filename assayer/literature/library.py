"""The literature as one evaluation may see it.

The cutoff is handed to the source and checked again on everything that comes back; the idea's own paper is
recognised and kept out. Methods search through this and nothing else.
"""

from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager

from assayer.cutoff import admits
from assayer.literature.admitted import AdmittedLiterature
from assayer.literature.own_paper import is_own_paper, shingles
from assayer.models import (
    Absent,
    CorpusFit,
    FitLevel,
    FullText,
    Hit,
    Idea,
    Paper,
    PaperContents,
    PaperId,
    Passage,
    Window,
)
from assayer.ports import FullTexts, Literature
from assayer.run.run import Run

__all__ = ["Library", "field_coverage", "near_beyond_corpus"]


_SEVERAL = 5
"""Papers; a search by words always finds a few that are near by chance."""


class Library:
    """A run's view of the literature. All of it raises LiteratureError."""

    def __init__(self, literature: Literature, full_texts: FullTexts, run: Run, idea: Idea) -> None:
        self._literature = literature
        self._full_texts = full_texts
        self._run = run
        self._window = Window.until(run.cutoff)
        self._later = Window.later_than(run.cutoff) if run.cutoff else None
        self._title = idea.own_words.title
        self._shingles = shingles(idea.own_words.text)
        self._verdicts: dict[PaperId, bool] = {}
        self.own_papers: dict[PaperId, Paper] = {}

    def _admit(self, paper: Paper) -> bool:
        if paper.id not in self._verdicts:
            self._verdicts[paper.id] = self._judge(paper)
        return self._verdicts[paper.id]

    def _judge(self, paper: Paper) -> bool:
        if not admits(self._window, paper.publication_date):
            self._run.journal.record_dropped("paper", "published after the cutoff, or undated")
            return False
        if is_own_paper(self._title, self._shingles, paper):
            self.own_papers[paper.id] = paper
            self._run.journal.record_dropped("paper", "the idea's own paper")
            return False
        self._run.journal.found.add(paper.id)
        if paper.versions is not None and not admits(self._window, paper.versions.newest_day):
            self._run.journal.revised_later.add(paper.id)
        return True

    def _admit_later(self, paper: Paper) -> bool:
        if self._later is None or not admits(self._later, paper.publication_date):
            return False
        if is_own_paper(self._title, self._shingles, paper):
            self.own_papers[paper.id] = paper
            return False
        self._run.journal.found.add(paper.id)
        return True

    @property
    def window(self) -> Window:
        """Of what may be judged by."""
        return self._window

    @property
    def admitted(self) -> AdmittedLiterature:
        """The same literature behind the port, for walks along citations."""
        return AdmittedLiterature(self._literature, self._admit)

    async def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        with self._searching():
            answers = await self._literature.search(queries, limit, self._window)
        return [[hit for hit in hits if self._admit(hit.paper)] for hits in answers]

    async def search_after_cutoff(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        """Papers published after the cutoff: for advice on revision, never to judge by. None without a cutoff."""
        if self._later is None:
            return [[] for _ in queries]
        with self._searching():
            answers = await self._literature.search(queries, limit, self._later)
        return [[hit for hit in hits if self._admit_later(hit.paper)] for hits in answers]

    async def snippets(self, queries: Sequence[str], limit: int) -> list[list[Passage]]:
        with self._searching():
            answers = await self._literature.snippets(queries, limit, self._window)
        return [[passage for passage in passages if self._admit(passage.paper)] for passages in answers]

    async def neighbours(self, papers: Sequence[PaperId], limit: int) -> dict[PaperId, list[Paper]]:
        with self._searching():
            answers = await self._literature.neighbours(papers, limit, self._window)
        return {key: [hit.paper for hit in hits if self._admit(hit.paper)] for key, hits in answers.items()}

    async def references(self, papers: Sequence[PaperId], limit: int) -> dict[PaperId, list[Paper]]:
        with self._searching():
            answers = await self._literature.references(papers, limit, self._window)
        return {key: [paper for paper in cited if self._admit(paper)] for key, cited in answers.items()}

    async def contents(self, papers: Sequence[PaperId]) -> dict[PaperId, PaperContents]:
        return await self._literature.contents(papers) if papers else {}

    async def papers(self, ids: Sequence[PaperId]) -> list[Paper]:
        if not ids:
            return []
        known = await self._literature.papers(ids, self._window)
        return [known[one] for one in ids if one in known and self._admit(known[one])]

    async def full_texts(self, papers: Sequence[Paper], *, later: bool = False) -> dict[PaperId, FullText]:
        """Those that could be had, as of the cutoff or, of `later` papers, as of today; the others are counted with
        their reason."""
        window = self._later if later and self._later else self._window
        with self._run.activities.during("full_texts", self._run.clock):
            answers = await self._full_texts.get(papers, window)
        texts: dict[PaperId, FullText] = {}
        for paper in papers:
            answer = answers[paper.id]
            if isinstance(answer, Absent):
                self._run.journal.record_missing_full_text(paper.id, answer.reason)
            else:
                texts[paper.id] = answer
        return texts

    async def similarity(self, text: str, papers: Sequence[PaperId]) -> dict[PaperId, float]:
        return await self._literature.similarity(text, papers)

    async def fit(self, text: str) -> CorpusFit:
        with self._searching():
            return await self._literature.fit(text, self._window)

    def _searching(self) -> AbstractContextManager[None]:
        return self._run.activities.during("searching", self._run.clock)

    async def with_retractions(self, papers: Sequence[Paper]) -> tuple[Paper, ...]:
        """Papers that are about to be cited, marked where a source knows that they were retracted."""
        notices = await self._literature.retractions(papers)
        return tuple(
            paper.model_copy(update={"retraction": notices[paper.id]}) if paper.id in notices else paper
            for paper in papers
        )


def near_beyond_corpus(found: Iterable[Hit | Passage]) -> set[PaperId]:
    """The papers near what was asked that only sources beyond the local corpus returned."""
    return {one.paper.id for one in found if one.near_beyond_corpus}


def field_coverage(fit: FitLevel, beyond: Collection[PaperId]) -> FitLevel:
    """How much the literature searched covers the idea's field: as much as the corpus, but at least in part once
    searches beyond the corpus have found several papers near what they were asked. No more: they return what they were
    asked for, which says nothing about what else exists.

    `beyond` are the finds of searches that the caller waited for. What others find meanwhile must not count: prompts
    would depend on who was first.
    """
    return "partial" if fit == "poor" and len(beyond) >= _SEVERAL else fit
