"""The literature as one evaluation may see it.

The cutoff is handed to the source and checked again on everything that comes back; the idea's own paper is
recognised and kept out. Methods search through this and nothing else.
"""

import datetime as dt
import re
from collections.abc import Sequence
from typing import Literal

from rapidfuzz import fuzz

from assayer.models import Absent, CorpusFit, FullText, Hit, Idea, Paper, PaperId, Passage
from assayer.ports import FullTexts, Literature
from assayer.run import Run

__all__ = ["Library", "is_own_paper", "shingles"]

_SAME_TITLE = 93.0
"""Ratio (0 to 100) of two normalised titles that we take for the same paper."""
_SHINGLE = 6
"""Words; a run of this many shared words is copied text, not shared jargon."""
_SEVERAL = 5
"""Papers; a search by words always finds a few that are near by chance."""
_COPIED = 0.5
"""Share of an abstract's shingles that also stand in the idea: the idea was made from this paper."""


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def shingles(text: str) -> set[tuple[str, ...]]:
    """Runs of words, as `is_own_paper` compares them."""
    words = _words(text)
    return {tuple(words[i : i + _SHINGLE]) for i in range(len(words) - _SHINGLE + 1)}


def is_own_paper(idea_title: str, idea_shingles: set[tuple[str, ...]], paper: Paper) -> bool:
    """Whether the idea was made from this paper: same title, or an abstract that the idea contains."""
    title, other = " ".join(_words(idea_title)), " ".join(_words(paper.title))
    if len(other.split()) >= 4 and fuzz.ratio(title, other) >= _SAME_TITLE:
        return True
    abstract = shingles(paper.abstract)
    return bool(abstract) and len(abstract & idea_shingles) / len(abstract) >= _COPIED


class Library:
    """A run's view of the literature. All of it raises LiteratureError."""

    def __init__(self, literature: Literature, full_texts: FullTexts, run: Run, idea: Idea) -> None:
        self._literature = literature
        self._full_texts = full_texts
        self._run = run
        self._before = run.cutoff
        self._title = idea.title
        self._shingles = shingles(idea.text)
        self._verdicts: dict[PaperId, bool] = {}
        self.own_papers: dict[PaperId, Paper] = {}

    def _admit(self, paper: Paper) -> bool:
        if paper.id not in self._verdicts:
            self._verdicts[paper.id] = self._judge(paper)
        return self._verdicts[paper.id]

    def _judge(self, paper: Paper) -> bool:
        if not _known(paper.publication_date, self._before):
            self._run.journal.drop("paper", "published after the cutoff, or at an unknown date")
            return False
        if is_own_paper(self._title, self._shingles, paper):
            self.own_papers[paper.id] = paper
            self._run.journal.drop("paper", "the idea's own paper")
            return False
        self._run.journal.found.add(paper.id)
        return True

    def _admit_later(self, paper: Paper) -> bool:
        published = paper.publication_date
        if published is None or self._before is None or published <= self._before:
            return False
        if is_own_paper(self._title, self._shingles, paper):
            self.own_papers[paper.id] = paper
            return False
        self._run.journal.found.add(paper.id)
        return True

    async def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        answers = await self._literature.search(queries, limit, self._before)
        return [[hit for hit in hits if self._admit(hit.paper)] for hits in answers]

    async def search_later(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        """Papers published after the cutoff: for advice on revision, never to judge by. None without a cutoff."""
        if self._before is None:
            return [[] for _ in queries]
        answers = await self._literature.search(queries, limit, None)
        return [[hit for hit in hits if self._admit_later(hit.paper)] for hits in answers]

    async def snippets(self, query: str, limit: int) -> list[Passage]:
        (passages,) = await self._literature.snippets([query], limit, self._before)
        return [passage for passage in passages if self._admit(passage.paper)]

    async def neighbours(self, papers: Sequence[PaperId], limit: int) -> dict[PaperId, list[Paper]]:
        answers = await self._literature.neighbours(papers, limit, self._before)
        return {key: [hit.paper for hit in hits if self._admit(hit.paper)] for key, hits in answers.items()}

    async def references(self, papers: Sequence[PaperId], limit: int) -> dict[PaperId, list[Paper]]:
        answers = await self._literature.references(papers, limit, self._before)
        return {key: [paper for paper in cited if self._admit(paper)] for key, cited in answers.items()}

    async def papers(self, ids: Sequence[PaperId]) -> list[Paper]:
        if not ids:
            return []
        known = await self._literature.papers(ids, self._before)
        return [known[one] for one in ids if one in known and self._admit(known[one])]

    async def full_texts(self, papers: Sequence[Paper]) -> dict[PaperId, FullText]:
        """Those that could be had; the others are counted with their reason."""
        answers = await self._full_texts.get(papers)
        texts: dict[PaperId, FullText] = {}
        for paper in papers:
            answer = answers[paper.id]
            if isinstance(answer, Absent):
                self._run.journal.without_full_text(paper.id, answer.reason)
            else:
                texts[paper.id] = answer
        return texts

    async def similarity(self, text: str, papers: Sequence[PaperId]) -> dict[PaperId, float]:
        return await self._literature.similarity(text, papers)

    async def fit(self, text: str) -> CorpusFit:
        return await self._literature.fit(text, self._before)

    def level(self, fit: Literal["good", "partial", "poor"]) -> Literal["good", "partial", "poor"]:
        """How much the literature searched so far covers the idea's field: as much as the corpus, but at least in
        part once searches beyond the corpus have found several papers near what they were asked. No more: they found
        what they were asked for, and nobody knows what else there is."""
        return "partial" if fit == "poor" and len(self._run.journal.near_beyond) >= _SEVERAL else fit

    async def as_they_stand(self, papers: Sequence[Paper]) -> tuple[Paper, ...]:
        """Papers that are about to be cited, marked where a source knows that they were retracted."""
        notices = await self._literature.retractions(papers)
        return tuple(
            paper.model_copy(update={"retraction": notices[paper.id]}) if paper.id in notices else paper
            for paper in papers
        )


def _known(published: dt.date | None, cutoff: dt.date | None) -> bool:
    return cutoff is None or (published is not None and published <= cutoff)
