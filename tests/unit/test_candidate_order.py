"""In which order found papers get a look: rankings fused, every method its turn, a reranker above both."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from assayer.methods.scholareval.candidate_order import fused, in_turn, reranked
from assayer.methods.scholareval.schemas import FirstLookQuestion
from assayer.models import PaperId
from tests.unit.scholareval_runs import corpus_papers, evaluated, twin_backends

RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh").map(PaperId), unique=True), max_size=4)


def ids(letters: str) -> list[PaperId]:
    return [PaperId(one) for one in letters]


@given(RANKINGS, st.integers(0, 10))
def test_orders_hold_every_paper_once_and_no_more_than_asked(rankings: list[list[PaperId]], most: int) -> None:
    everything = {paper for ranking in rankings for paper in ranking}
    assert sorted(fused(rankings)) == sorted(everything)
    turns = in_turn(rankings, most)
    assert len(turns) == len(set(turns)) == min(most, len(everything))


def test_what_two_rankings_agree_on_comes_before_what_one_has_first() -> None:
    assert fused([ids("ab"), ids("cb")])[0] == "b"


def test_every_ranking_has_its_turn_before_any_has_a_second() -> None:
    assert in_turn([ids("abc"), ids("xyz"), ids("b")], 5) == ids("axbyc")


class ByLength:
    """Prefers long texts."""

    name = "by length"

    def __init__(self) -> None:
        self.queries: list[str] = []

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.queries.append(query)
        return [len(text) / 10_000 for text in texts]


async def test_reranker_decides_where_there_is_one_and_nothing_changes_without() -> None:
    papers = corpus_papers()[:5]
    given_order = [paper.id for paper in papers]
    longest = sorted(papers, key=lambda paper: -len(f"{paper.title}. {paper.abstract}"))
    assert await reranked(None, "q", papers) == given_order
    assert await reranked(ByLength(), "q", papers) == [paper.id for paper in longest]


async def test_methods_and_dimensions_are_reranked_by_their_own_words() -> None:
    backends, llm = twin_backends()
    reranker = ByLength()
    report = await evaluated(replace(backends, reranker=reranker))
    looks = [one for _, one in llm.asked if isinstance(one, FirstLookQuestion)]
    assert {look.purpose for look in looks} == {"soundness", "contribution"}
    assert len(reranker.queries) >= sum(len(part.assessments) for part in report.parts)
    assert report.provenance.reranking_model == "by length"
