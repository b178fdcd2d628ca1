"""The literature that one evaluation may use.

The cutoff is passed to the source, and everything returned is checked again; the idea's own paper is detected and
excluded. Methods search only through this class."""

from collections.abc import Collection, Iterable, Sequence

from assayer.cutoff import admits
from assayer.literature.admitted import AdmittedLiterature
from assayer.literature.own_paper import build_shingles, is_own_paper
from assayer.literature.work_versions import (
    keep_one_hit_per_work,
    keep_one_paper_per_work,
    keep_passages_of_best_records,
)
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

_MIN_PAPERS_BEYOND_CORPUS = 5
"""Minimum number of near papers from outside the corpus that raises the coverage; a keyword search always finds a few
by chance."""


class Library:
    """One run's view of the literature. All methods raise LiteratureError if a source fails."""

    def __init__(self, literature: Literature, full_texts: FullTexts, run: Run, idea: Idea) -> None:
        self._literature = literature
        self._full_texts = full_texts
        self._run = run
        self._window = Window.until(run.cutoff)
        self._window_after_cutoff = Window.later_than(run.cutoff) if run.cutoff else None
        self._title = idea.own_words.title
        self._shingles = build_shingles(idea.own_words.text)
        self._admissions: dict[PaperId, bool] = {}
        self.own_papers: dict[PaperId, Paper] = {}

    def admits(self, paper: Paper) -> bool:
        """Return whether a paper may be used: it was published by the cutoff, and it is not the idea's own paper."""
        if paper.id not in self._admissions:
            self._admissions[paper.id] = self._admit_paper(paper)
        return self._admissions[paper.id]

    def _admit_paper(self, paper: Paper) -> bool:
        """Return whether a paper may be used, and record the decision in the journal."""
        if not admits(self._window, paper.publication_date):
            self._run.journal.record_dropped("paper", "published after the cutoff, or undated")
            return False
        if self._is_own(paper):
            self._run.journal.record_dropped("paper", "the idea's own paper")
            return False
        self._run.journal.found.add(paper.id)
        if paper.versions is not None and not admits(self._window, paper.versions.newest_day):
            self._run.journal.revised_later.add(paper.id)
        return True

    def _admit_later_paper(self, paper: Paper) -> bool:
        """Return whether a paper published after the cutoff may be used, and record it in the journal if so."""
        if (
            self._window_after_cutoff is None
            or not admits(self._window_after_cutoff, paper.publication_date)
            or self._is_own(paper)
        ):
            return False
        self._run.journal.found.add(paper.id)
        return True

    def _is_own(self, paper: Paper) -> bool:
        is_own = is_own_paper(self._title, self._shingles, paper)
        if is_own:
            self.own_papers[paper.id] = paper
        return is_own

    @property
    def admitted(self) -> AdmittedLiterature:
        """The same literature, for following citations. Unlike `search`, it keeps all records of a work."""
        return AdmittedLiterature(self._literature, self._window, self.admits)

    async def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        answers = await self._literature.search(queries, limit, self._window)
        return [keep_one_hit_per_work([hit for hit in hits if self.admits(hit.paper)]) for hits in answers]

    async def search_after_cutoff(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        """Search papers published after the cutoff, for revision advice and never for judging. Returns empty lists if
        there is no cutoff."""
        if self._window_after_cutoff is None:
            return [[] for _ in queries]
        answers = await self._literature.search(queries, limit, self._window_after_cutoff)
        return [keep_one_hit_per_work([hit for hit in hits if self._admit_later_paper(hit.paper)]) for hits in answers]

    async def snippets(self, queries: Sequence[str], limit: int) -> list[list[Passage]]:
        answers = await self._literature.snippets(queries, limit, self._window)
        admitted_passages = ([passage for passage in passages if self.admits(passage.paper)] for passages in answers)
        return [keep_passages_of_best_records(passages) for passages in admitted_passages]

    async def neighbours(self, papers: Sequence[PaperId], limit: int) -> dict[PaperId, list[Paper]]:
        answers = await self._literature.neighbours(papers, limit, self._window)
        return {
            key: keep_one_paper_per_work([hit.paper for hit in hits if self.admits(hit.paper)])
            for key, hits in answers.items()
        }

    async def references(self, papers: Sequence[PaperId], limit: int) -> dict[PaperId, list[Paper]]:
        answers = await self._literature.references(papers, limit, self._window)
        return {key: [paper for paper in cited if self.admits(paper)] for key, cited in answers.items()}

    async def contents(self, papers: Sequence[PaperId]) -> dict[PaperId, PaperContents]:
        return await self._literature.contents(papers) if papers else {}

    async def papers(self, ids: Sequence[PaperId]) -> list[Paper]:
        if not ids:
            return []
        papers_by_id = await self._literature.papers(ids, self._window)
        return [papers_by_id[item] for item in ids if item in papers_by_id and self.admits(papers_by_id[item])]

    async def full_texts(self, papers: Sequence[Paper], *, later: bool = False) -> dict[PaperId, FullText]:
        """Return the available full texts, as they were at the cutoff or, if `later`, as of today. The reasons why
        others are unavailable are recorded in the journal."""
        window = self._window_after_cutoff if later and self._window_after_cutoff else self._window
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
        return await self._literature.fit(text, self._window)

    async def add_retractions(self, papers: Sequence[Paper]) -> tuple[Paper, ...]:
        """Return the papers with retraction notices filled in, where a source knows of a retraction. Call this before
        citing them."""
        notices = await self._literature.retractions(papers)
        return tuple(
            paper.model_copy(update={"retraction": notices[paper.id]}) if paper.id in notices else paper
            for paper in papers
        )


def list_ids_beyond_corpus(results: Iterable[Hit | Passage]) -> set[PaperId]:
    """Return the ids of papers near the query that only sources outside the local corpus returned."""
    return {item.paper.id for item in results if item.near_beyond_corpus}


def rate_field_coverage(fit: FitLevel, papers_beyond_corpus: Collection[PaperId]) -> FitLevel:
    """Return how well the searched literature covers the idea's field.

    This is the corpus's coverage, raised from poor to partial if searches outside the corpus found several papers near
    their queries (`papers_beyond_corpus`). It is never raised further: such searches return only what matches their
    queries, and do not show what else exists.

    `papers_beyond_corpus` must hold only results of searches that the caller waited for. With results of concurrent
    searches, prompts would depend on which search finished first."""
    return "partial" if fit == "poor" and len(papers_beyond_corpus) >= _MIN_PAPERS_BEYOND_CORPUS else fit
