"""Hybrid selection of sources: by embedding, by reranker if there is one, then by judged relevance and quality.

score = α·semantic + (1−α)·judge, both on a scale of 0 to 10 (the paper's equation 6)."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assayer.citing.evidence import batch_evidence
from assayer.evaluation_context import EvaluationContext
from assayer.methods.innoeval.dimensions import EvidenceKind
from assayer.methods.innoeval.options import InnoEvalOptions
from assayer.methods.innoeval.prompt_evidence import build_evidence_item, clean_text
from assayer.methods.innoeval.schemas import EvidenceItem, EvidenceRelevance, EvidenceRelevanceQuestion
from assayer.methods.innoeval.search.fast_search import SOURCE_KINDS, SOURCE_NOUNS, SearchCandidate
from assayer.methods.innoeval.tasks import RELEVANCE
from assayer.methods.scholareval.paper_evidence import extract_own_work
from assayer.models import PaperId
from assayer.run.concurrency import gather_all, gather_settled


class RankedCandidate(NamedTuple):
    candidate: SearchCandidate
    relevance: int
    score: float
    """Combined score, 0 to 10."""


class HybridSelection:
    """Selects an evaluation's sources. Each candidate is measured and judged only once, regardless of the round in
    which it was found."""

    def __init__(self, context: EvaluationContext[InnoEvalOptions], digest: str, idea_summary: str) -> None:
        """`idea_summary` is a summary of the idea that is short enough for the embedding model to read in full."""
        self._context, self._backends, self._library = context, context.backends, context.library
        self._run, self._options = context.run, context.options
        self._digest, self._idea_summary = digest, idea_summary
        self._cosines: dict[PaperId, float] = {}
        self._reranker_scores: dict[PaperId, float] = {}
        self._relevance_by_paper: dict[PaperId, EvidenceRelevance] = {}
        self._sent_to_judge: set[PaperId] = set()
        """Papers sent to the judge model, whether or not the request succeeded."""

    async def judge_candidates(self, candidates: Sequence[SearchCandidate]) -> None:
        """Judge, concurrently, all candidates that are near enough and were not judged before."""
        await self._measure_similarity(candidates)
        nearest_candidates = [item for kind in SOURCE_KINDS for item in self._select_nearest(candidates, kind)]
        new_candidates = [item for item in nearest_candidates if item.paper.id not in self._sent_to_judge]
        await self._rerank(new_candidates)
        self._sent_to_judge |= {item.paper.id for item in new_candidates}
        batches = [
            batch
            for kind in SOURCE_KINDS
            for batch in batch_evidence(
                [self._build_evidence_item(item) for item in new_candidates if item.kind == kind],
                self._options.judged_per_call,
            )
        ]
        outcomes = await gather_settled(batches, self._judge_batch)
        for verdicts in self._run.keep_successes(outcomes, "source to be judged", [len(batch) for batch in batches]):
            self._relevance_by_paper |= verdicts

    def is_relevant(self, paper: PaperId) -> bool:
        verdict = self._relevance_by_paper.get(paper)
        return verdict is not None and verdict.relevance >= self._options.least_relevance

    def select_best_candidates(self, candidates: Sequence[SearchCandidate], limit: int) -> list[RankedCandidate]:
        """Return the relevant candidates, best first, up to `limit` of each kind. The journal records why the others
        were left out."""
        best = []
        for kind in SOURCE_KINDS:
            of_kind = [candidate for candidate in candidates if candidate.kind == kind]
            ranking = sorted(
                (self._score_candidate(item) for item in of_kind if self.is_relevant(item.paper.id)),
                key=lambda item: (-item.score, item.candidate.paper.id),
            )
            best += ranking[:limit]
            judged_count = sum(item.paper.id in self._relevance_by_paper for item in of_kind)
            left_out = {
                "not close enough to the idea to be judged": sum(
                    item.paper.id not in self._sent_to_judge for item in of_kind
                ),
                "judged not relevant enough to be read": judged_count - len(ranking),
                "relevant, but ranked below those read": len(ranking[limit:]),
            }
            for reason, count in left_out.items():
                self._run.journal.record_dropped(SOURCE_NOUNS[kind], reason, count)
        return best

    def get_relevance(self, paper: PaperId) -> int:
        """Return the judged relevance, 0 to 10, or 0 if the paper was not judged. It is used only to sort titles."""
        verdict = self._relevance_by_paper.get(paper)
        return verdict.relevance if verdict else 0

    @property
    def summary(self) -> str:
        """Description of how sources were ranked, for the report."""
        backends, options = self._backends, self._options
        reranking_text = f", then {backends.reranker.name}" if backends.reranker else "; no reranker is configured"
        return (
            f"Sources were ranked by {options.alpha:g} × similarity (cosines of "
            f"{backends.embedder.name}{reranking_text}) + "
            f"{1 - options.alpha:g} × judged relevance and quality."
        )

    def _score_candidate(self, candidate: SearchCandidate) -> RankedCandidate:
        """Score a candidate. If the judge did not rate its quality, the relevance rating is used for both."""
        paper, options = candidate.paper.id, self._options
        verdict = self._relevance_by_paper[paper]
        quality = verdict.relevance if verdict.quality is None else verdict.quality
        judged_score = (1 - options.quality_weight) * verdict.relevance + options.quality_weight * quality
        semantic = 10 * min(1.0, max(0.0, self._reranker_scores.get(paper, self._cosines.get(paper, 0.0))))
        score = options.alpha * semantic + (1 - options.alpha) * judged_score
        return RankedCandidate(candidate, verdict.relevance, round(score, 3))

    def _select_nearest(self, candidates: Iterable[SearchCandidate], kind: EvidenceKind) -> list[SearchCandidate]:
        """Return the nearest candidates of a kind, up to twice as many as will be read."""
        of_kind = [candidate for candidate in candidates if candidate.kind == kind]
        of_kind.sort(key=lambda item: (-self._cosines.get(item.paper.id, 0.0), item.paper.id))
        return of_kind[: 2 * self._options.top]

    async def _measure_similarity(self, candidates: Sequence[SearchCandidate]) -> None:
        new_candidates = [candidate for candidate in candidates if candidate.paper.id not in self._cosines]
        papers = [item.paper.id for item in new_candidates if item.kind == "literature"]
        other_candidates = [item for item in new_candidates if item.kind != "literature"]
        for similarities in await gather_all(
            [self._library.similarity(self._idea_summary, papers), self._measure_other_similarities(other_candidates)]
        ):
            self._cosines |= similarities

    async def _measure_other_similarities(self, candidates: Sequence[SearchCandidate]) -> dict[PaperId, float]:
        if not candidates:
            return {}
        texts = [f"{candidate.paper.title}. {candidate.paper.abstract}" for candidate in candidates]
        embedder = self._backends.embedder
        (idea_vector,) = await embedder.embed([self._idea_summary], "query")
        vectors = await embedder.embed(texts, "passage")
        return {
            candidate.paper.id: float(row @ idea_vector) for candidate, row in zip(candidates, vectors, strict=True)
        }

    async def _rerank(self, candidates: Sequence[SearchCandidate]) -> None:
        if self._backends.reranker is None or not candidates:
            return
        texts = [f"{candidate.paper.title}. {candidate.paper.abstract}" for candidate in candidates]
        scores = await self._backends.reranker.score(self._idea_summary, texts)
        self._reranker_scores |= {
            candidate.paper.id: float(score) for candidate, score in zip(candidates, scores, strict=True)
        }

    def _build_evidence_item(self, candidate: SearchCandidate) -> EvidenceItem:
        paper = candidate.paper
        self._run.journal.read.add(paper.id)
        text = clean_text(extract_own_work(paper.abstract), paper, self._run, self._options.judged_chars)
        return build_evidence_item(paper, candidate.kind, text, candidate.standing)

    async def _judge_batch(self, batch: tuple[EvidenceItem, ...]) -> dict[PaperId, EvidenceRelevance]:
        question = EvidenceRelevanceQuestion(digest=self._digest, kind=batch[0].kind, evidence=batch)
        answer = await self._context.ask(RELEVANCE, question)
        papers_by_label = {item.label: item.paper_id for item in batch}
        return {papers_by_label[judgement.label]: judgement for judgement in answer.judgements}
