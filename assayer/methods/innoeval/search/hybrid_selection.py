"""Hybrid selection: by embedding, by reranker where there is one, then by judged relevance and quality.

score = α·semantic + (1−α)·judge, both on 0 to 10 (the paper's equation 6).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assayer.backends import Backends
from assayer.citing.evidence import evidence_batches
from assayer.literature.library import Library
from assayer.llm import ask
from assayer.methods.innoeval.dimensions import EvidenceKind
from assayer.methods.innoeval.options import InnoEvalOptions
from assayer.methods.innoeval.prompt_evidence import clean_text, evidence_item
from assayer.methods.innoeval.schemas import EvidenceItem, EvidenceRelevance, EvidenceRelevanceQuestion
from assayer.methods.innoeval.search.fast_search import SOURCE_KINDS, SOURCE_NOUNS, SearchCandidate
from assayer.methods.innoeval.tasks import RELEVANCE
from assayer.models import PaperId
from assayer.run.run import Run
from assayer.run.structured_concurrency import each, together

__all__ = ["HybridSelection", "RankedCandidate"]


class RankedCandidate(NamedTuple):
    candidate: SearchCandidate
    relevance: int
    score: float
    """0 to 10."""


class HybridSelection:
    """Measures and judges each candidate of one evaluation once, whatever round found it."""

    def __init__(
        self, backends: Backends, library: Library, run: Run, options: InnoEvalOptions, digest: str, idea_summary: str
    ) -> None:
        """`idea_summary` is the idea in so few words that an embedding model reads all of them."""
        self._backends, self._library, self._run, self._options = backends, library, run, options
        self._digest, self._idea_summary = digest, idea_summary
        self._cosines: dict[PaperId, float] = {}
        self._reranker_scores: dict[PaperId, float] = {}
        self._relevance_by_paper: dict[PaperId, EvidenceRelevance] = {}
        self._sent_to_judge: set[PaperId] = set()
        """Judged, or lost when they were to be."""

    async def judge_candidates(self, candidates: Sequence[SearchCandidate]) -> None:
        """Everything near enough that was not judged before, side by side."""
        await self._measure_similarity(candidates)
        near = [one for kind in SOURCE_KINDS for one in self._nearest(candidates, kind)]
        new = [one for one in near if one.paper.id not in self._sent_to_judge]
        await self._rerank(new)
        self._sent_to_judge |= {one.paper.id for one in new}
        batched = [
            batch
            for kind in SOURCE_KINDS
            for batch in evidence_batches(
                [self._shown(one) for one in new if one.kind == kind], self._options.judged_per_call
            )
        ]
        outcomes = await each(batched, self._judge_batch)
        for verdicts in self._run.keep_successes(
            outcomes, "found source to be judged", [len(batch) for batch in batched]
        ):
            self._relevance_by_paper |= verdicts

    def is_relevant(self, paper: PaperId) -> bool:
        verdict = self._relevance_by_paper.get(paper)
        return verdict is not None and verdict.relevance >= self._options.least_relevance

    def best_candidates(self, candidates: Sequence[SearchCandidate], most: int) -> list[RankedCandidate]:
        """The relevant ones, at most so many of each kind, the best first; the others are counted with the reason."""
        chosen = []
        for kind in SOURCE_KINDS:
            of_kind = [one for one in candidates if one.kind == kind]
            ranked = sorted(
                (self._rank(one) for one in of_kind if self.is_relevant(one.paper.id)),
                key=lambda one: (-one.score, one.candidate.paper.id),
            )
            chosen += ranked[:most]
            judged = sum(one.paper.id in self._relevance_by_paper for one in of_kind)
            left_out = {
                "not close enough to the idea to be judged": sum(
                    one.paper.id not in self._sent_to_judge for one in of_kind
                ),
                "judged not relevant enough to be read": judged - len(ranked),
                "relevant, but ranked below those read": len(ranked[most:]),
            }
            for reason, count in left_out.items():
                self._run.journal.record_dropped(SOURCE_NOUNS[kind], reason, count)
        return chosen

    def relevance(self, paper: PaperId) -> int:
        """0 to 10; 0 for what was not judged, which only orders titles by it."""
        verdict = self._relevance_by_paper.get(paper)
        return verdict.relevance if verdict else 0

    @property
    def summary(self) -> str:
        """How sources were ranked, for the report."""
        backends, options = self._backends, self._options
        reranked = f", then {backends.reranker.name}" if backends.reranker else "; no reranker is configured"
        return (
            f"Sources were ranked by {options.alpha:g} × similarity (cosines of {backends.embedder.name}{reranked}) + "
            f"{1 - options.alpha:g} × judged relevance and quality."
        )

    def _rank(self, candidate: SearchCandidate) -> RankedCandidate:
        """Where no quality was judged, relevance alone is the judge's score."""
        paper, options = candidate.paper.id, self._options
        verdict = self._relevance_by_paper[paper]
        quality = verdict.relevance if verdict.quality is None else verdict.quality
        judged = (1 - options.quality_weight) * verdict.relevance + options.quality_weight * quality
        semantic = 10 * min(1.0, max(0.0, self._reranker_scores.get(paper, self._cosines.get(paper, 0.0))))
        score = options.alpha * semantic + (1 - options.alpha) * judged
        return RankedCandidate(candidate, verdict.relevance, round(score, 3))

    def _nearest(self, candidates: Iterable[SearchCandidate], kind: EvidenceKind) -> list[SearchCandidate]:
        """Twice as many of a kind as will be read."""
        of_kind = [one for one in candidates if one.kind == kind]
        of_kind.sort(key=lambda one: (-self._cosines.get(one.paper.id, 0.0), one.paper.id))
        return of_kind[: 2 * self._options.top]

    async def _measure_similarity(self, candidates: Sequence[SearchCandidate]) -> None:
        new = [one for one in candidates if one.paper.id not in self._cosines]
        papers = [one for one in new if one.kind == "literature"]
        others = [one for one in new if one.kind != "literature"]
        for found in await together([self._paper_similarities(papers), self._other_similarities(others)]):
            self._cosines |= found

    async def _paper_similarities(self, candidates: Sequence[SearchCandidate]) -> dict[PaperId, float]:
        return await self._library.similarity(self._idea_summary, [one.paper.id for one in candidates])

    async def _other_similarities(self, candidates: Sequence[SearchCandidate]) -> dict[PaperId, float]:
        if not candidates:
            return {}
        texts = [f"{one.paper.title}. {one.paper.abstract}" for one in candidates]
        embedder = self._backends.embedder
        (idea_vector,) = await embedder.embed([self._idea_summary], "query")
        vectors = await embedder.embed(texts, "passage")
        return {one.paper.id: float(row @ idea_vector) for one, row in zip(candidates, vectors, strict=True)}

    async def _rerank(self, candidates: Sequence[SearchCandidate]) -> None:
        if self._backends.reranker is None or not candidates:
            return
        texts = [f"{one.paper.title}. {one.paper.abstract}" for one in candidates]
        scores = await self._backends.reranker.score(self._idea_summary, texts)
        self._reranker_scores |= {one.paper.id: float(score) for one, score in zip(candidates, scores, strict=True)}

    def _shown(self, candidate: SearchCandidate) -> EvidenceItem:
        paper = candidate.paper
        self._run.journal.read.add(paper.id)
        text = clean_text(paper.abstract, paper, self._run, self._options.judged_chars)
        return evidence_item(paper, candidate.kind, text, candidate.standing)

    async def _judge_batch(self, batch: tuple[EvidenceItem, ...]) -> dict[PaperId, EvidenceRelevance]:
        question = EvidenceRelevanceQuestion(digest=self._digest, kind=batch[0].kind, evidence=batch)
        answer = await ask(self._backends.llm, RELEVANCE, question, self._run)
        shown = {item.label: item.paper_id for item in batch}
        return {shown[one.label]: one for one in answer.judgements}
