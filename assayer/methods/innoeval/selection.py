"""Hybrid selection: near by embedding, nearer by reranker where there is one, then judged for relevance and quality.

score = α·semantic + (1−α)·judge, both on 0 to 10 (the paper's equation 6).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assayer.flow import each, together
from assayer.library import Library
from assayer.methods.innoeval.dossier import Kind
from assayer.methods.innoeval.finds import batches, clean, find_of
from assayer.methods.innoeval.options import Options
from assayer.methods.innoeval.schemas import Find, Relevance, RelevanceQuestion
from assayer.methods.innoeval.sources import KINDS, NOUNS, Candidate
from assayer.methods.innoeval.tasks import RELEVANCE
from assayer.models import PaperId
from assayer.run import Run
from assayer.tasks import ask
from assayer.world import World

__all__ = ["Ranked", "Selection"]


class Ranked(NamedTuple):
    candidate: Candidate
    relevance: int
    score: float
    """0 to 10."""


class Selection:
    """Measures and judges each candidate of one evaluation once, whatever round found it."""

    def __init__(self, world: World, library: Library, run: Run, options: Options, digest: str, about: str) -> None:
        """`about` is the idea in so few words that an embedding model reads all of them."""
        self._world, self._library, self._run, self._options = world, library, run, options
        self._digest, self._about = digest, about
        self._cosines: dict[PaperId, float] = {}
        self._reranked: dict[PaperId, float] = {}
        self._verdicts: dict[PaperId, Relevance] = {}
        self._asked: set[PaperId] = set()
        """Judged, or lost when they were to be."""

    async def judge(self, candidates: Sequence[Candidate]) -> None:
        """Everything near enough that was not judged before, side by side."""
        await self._measure(candidates)
        near = [one for kind in KINDS for one in self._near(candidates, kind)]
        new = [one for one in near if one.paper.id not in self._asked]
        await self._rerank(new)
        self._asked |= {one.paper.id for one in new}
        batched = [
            batch
            for kind in KINDS
            for batch in batches([self._shown(one) for one in new if one.kind == kind], self._options.judged_per_call)
        ]
        outcomes = await each(batched, self._weigh)
        for verdicts in self._run.keep(outcomes, "find to be judged", [len(batch) for batch in batched]):
            self._verdicts |= verdicts

    def relevant(self, paper: PaperId) -> bool:
        verdict = self._verdicts.get(paper)
        return verdict is not None and verdict.relevance >= self._options.least_relevance

    def best(self, candidates: Sequence[Candidate], most: int) -> list[Ranked]:
        """The relevant ones, at most so many of each kind, the best first; the others are counted with the reason."""
        chosen = []
        for kind in KINDS:
            ours = [one for one in candidates if one.kind == kind]
            ranked = sorted(
                (self._ranked(one) for one in ours if self.relevant(one.paper.id)),
                key=lambda one: (-one.score, one.candidate.paper.id),
            )
            chosen += ranked[:most]
            judged = sum(one.paper.id in self._verdicts for one in ours)
            left_out = {
                "not near enough to the idea to be judged": sum(one.paper.id not in self._asked for one in ours),
                "judged not relevant enough to be read": judged - len(ranked),
                "relevant, but ranked below those read": len(ranked[most:]),
            }
            for reason, count in left_out.items():
                self._run.journal.drop(NOUNS[kind], reason, count)
        return chosen

    def relevance(self, paper: PaperId) -> int:
        """0 to 10; 0 for what was not judged, which only orders titles by it."""
        verdict = self._verdicts.get(paper)
        return verdict.relevance if verdict else 0

    @property
    def account(self) -> str:
        """How finds were ranked, for the report."""
        world, options = self._world, self._options
        reranked = f", then {world.reranker.name}" if world.reranker else "; no reranker is configured"
        return (
            f"Finds were ranked by {options.alpha:g} × closeness (cosines of {world.embedder.name}{reranked}) + "
            f"{1 - options.alpha:g} × judged relevance and quality."
        )

    def _ranked(self, candidate: Candidate) -> Ranked:
        """Where no quality was judged, relevance alone is the judge's score."""
        paper, options = candidate.paper.id, self._options
        verdict = self._verdicts[paper]
        quality = verdict.relevance if verdict.quality is None else verdict.quality
        judged = (1 - options.quality_weight) * verdict.relevance + options.quality_weight * quality
        semantic = 10 * min(1.0, max(0.0, self._reranked.get(paper, self._cosines.get(paper, 0.0))))
        score = options.alpha * semantic + (1 - options.alpha) * judged
        return Ranked(candidate, verdict.relevance, round(score, 3))

    def _near(self, candidates: Iterable[Candidate], kind: Kind) -> list[Candidate]:
        """Twice as many of a kind as will be read."""
        ours = [one for one in candidates if one.kind == kind]
        ours.sort(key=lambda one: (-self._cosines.get(one.paper.id, 0.0), one.paper.id))
        return ours[: 2 * self._options.top]

    async def _measure(self, candidates: Sequence[Candidate]) -> None:
        new = [one for one in candidates if one.paper.id not in self._cosines]
        papers = [one for one in new if one.kind == "literature"]
        others = [one for one in new if one.kind != "literature"]
        for found in await together([self._of_papers(papers), self._of_others(others)]):
            self._cosines |= found

    async def _of_papers(self, candidates: Sequence[Candidate]) -> dict[PaperId, float]:
        return await self._library.similarity(self._about, [one.paper.id for one in candidates])

    async def _of_others(self, candidates: Sequence[Candidate]) -> dict[PaperId, float]:
        if not candidates:
            return {}
        texts = [f"{one.paper.title}. {one.paper.abstract}" for one in candidates]
        embedder = self._world.embedder
        (about,) = await embedder.embed([self._about], "query")
        vectors = await embedder.embed(texts, "passage")
        return {one.paper.id: float(row @ about) for one, row in zip(candidates, vectors, strict=True)}

    async def _rerank(self, candidates: Sequence[Candidate]) -> None:
        if self._world.reranker is None or not candidates:
            return
        texts = [f"{one.paper.title}. {one.paper.abstract}" for one in candidates]
        scores = await self._world.reranker.score(self._about, texts)
        self._reranked |= {one.paper.id: float(score) for one, score in zip(candidates, scores, strict=True)}

    def _shown(self, candidate: Candidate) -> Find:
        paper = candidate.paper
        self._run.journal.read.add(paper.id)
        text = clean(paper.abstract, paper, self._run, self._options.judged_chars)
        return find_of(paper, candidate.kind, text, candidate.standing)

    async def _weigh(self, batch: tuple[Find, ...]) -> dict[PaperId, Relevance]:
        question = RelevanceQuestion(digest=self._digest, kind=batch[0].kind, evidence=batch)
        answer = await ask(self._world.llm, RELEVANCE, question, self._run)
        shown = {find.label: find.paper_id for find in batch}
        return {shown[one.label]: one for one in answer.judgements}
