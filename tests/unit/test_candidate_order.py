"""Order in which papers are considered: rankings fused, methods in turn, a reranker above both."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import Defect
from assayer.methods.scholareval.candidate_order import fuse_rankings, interleave_rankings, rerank_papers
from assayer.methods.scholareval.schemas import FirstLookQuestion
from assayer.models import PaperId, Score
from assayer.run.journal import Journal
from tests.unit.scholareval_runs import evaluate_idea, make_corpus_papers, make_twin_backends

RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh").map(PaperId), unique=True), max_size=4)


def make_paper_ids(letters: str) -> list[PaperId]:
    return [PaperId(letter) for letter in letters]


@given(RANKINGS, st.integers(0, 10))
def test_merged_rankings_contain_every_paper_once_within_limit(rankings: list[list[PaperId]], max_papers: int) -> None:
    ranked_papers = {paper for ranking in rankings for paper in ranking}
    assert sorted(fuse_rankings(rankings)) == sorted(ranked_papers)
    turns = interleave_rankings(rankings, max_papers)
    assert len(turns) == len(set(turns)) == min(max_papers, len(ranked_papers))


def test_rank_fusion_prefers_paper_found_by_both_rankings() -> None:
    assert fuse_rankings([make_paper_ids("ab"), make_paper_ids("cb")])[0] == "b"


def test_round_robin_takes_papers_from_each_ranking_in_turn() -> None:
    assert interleave_rankings(
        [make_paper_ids("abc"), make_paper_ids("xyz"), make_paper_ids("b")], 5
    ) == make_paper_ids("axbyc")


class LengthReranker:
    """Reranker that prefers long texts."""

    name = "by length"

    def __init__(self) -> None:
        self.queries: list[str] = []

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.queries.append(query)
        return [len(text) / 10_000 for text in texts]


async def test_reranker_sets_paper_order_and_order_is_kept_without_reranker() -> None:
    papers = make_corpus_papers()[:5]
    given_order = [paper.id for paper in papers]
    longest = sorted(papers, key=lambda paper: -len(f"{paper.title}. {paper.abstract}"))
    assert await rerank_papers(None, "q", papers, Journal()) == given_order
    assert await rerank_papers(LengthReranker(), "q", papers, Journal()) == [paper.id for paper in longest]


async def test_methods_and_dimensions_are_reranked_with_their_own_queries() -> None:
    backends, llm = make_twin_backends()
    reranker = LengthReranker()
    report = await evaluate_idea(replace(backends, reranker=reranker))
    first_looks = llm.list_questions(FirstLookQuestion)
    assert {question.purpose for question in first_looks} == {"soundness", "contribution"}
    assert len(reranker.queries) >= sum(len(part.assessments) for part in report.parts)
    assert report.provenance.reranking_model == "by length"


class WaitingReranker(LengthReranker):
    """Reranker that answers no query until `count` queries have arrived."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.arrived = asyncio.Barrier(count)

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        async with asyncio.timeout(30):
            await self.arrived.wait()
        return await super().score(query, texts)


async def test_methods_and_dimensions_are_reranked_concurrently() -> None:
    backends, _ = make_twin_backends()
    report = await evaluate_idea(replace(backends, reranker=WaitingReranker(6)))
    assert "reranking of papers" not in {item.item_kind for item in report.coverage.dropped}


class FailingReranker(LengthReranker):
    """Reranker that fails if the query names a measurement."""

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        if "compar" in query:
            raise Defect("The reranker failed.")
        return await super().score(query, texts)


async def test_failed_reranking_keeps_order_and_evaluation_completes() -> None:
    papers, journal = make_corpus_papers()[:5], Journal()
    assert await rerank_papers(FailingReranker(), "compare", papers, journal) == [paper.id for paper in papers]
    assert [(item.item_kind, item.count) for item in journal.list_dropped()] == [("reranking of papers", 1)]
    backends, _ = make_twin_backends()

    class AlwaysBroken(FailingReranker):
        async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
            raise Defect("The reranker failed.")

    report = await evaluate_idea(replace(backends, reranker=AlwaysBroken()))
    assert all(part.assessments for part in report.parts)
    assert any(isinstance(part.score, Score) for part in report.parts)
    assert "reranking of papers" in {item.item_kind for item in report.coverage.dropped}
