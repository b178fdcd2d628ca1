"""The walk along citations: what it reaches in how many hops, why, and what it never steps on."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.literature.admitted import AdmittedLiterature
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.methods.scicompanion.walk import Found, Step, walk_citations
from assayer.methods.scicompanion.walk_scoring import (
    CosineRange,
    compute_start_mass,
    move_mass,
    sum_over_hops,
)
from assayer.models import OPEN, Paper, PaperId
from tests.memory_corpus import MemoryCorpus
from workers.embedding.hashing_embedder import HashingEmbedder

A, B, C, D, E = (PaperId(item) for item in "abcde")
DAY = dt.date(2020, 1, 1)
TEXTS = {A: "bees in hedges", B: "frost on roofs", C: "tides of moons", D: "grain prices", E: "old harbours"}


def make_corpus(
    cited: Mapping[PaperId, Sequence[PaperId]], is_admitted: Callable[[Paper], bool] = lambda _: True
) -> AdmittedLiterature:
    papers = [
        Paper(id=item, title=text, abstract=f"On {text}.", publication_date=DAY, source="corpus")
        for item, text in TEXTS.items()
    ]
    return AdmittedLiterature(MemoryCorpus(papers, HashingEmbedder(), references=cited), OPEN, is_admitted)


def index_by_id(found_papers: Sequence[Found]) -> dict[PaperId, Found]:
    return {item.paper.id: item for item in found_papers}


async def test_seed_references_and_citing_papers_are_reached_in_single_hop_with_reasons() -> None:
    corpus = make_corpus({A: [B], C: [A]})
    found_by_id = index_by_id(await walk_citations(["bees in hedges"], corpus, SciCompanionOptions(hops=1, seeds=1)))
    assert found_by_id.keys() == {A, B, C}
    assert (found_by_id[A].why, found_by_id[B].why, found_by_id[C].why) == (
        (Step("dense", None, "bees in hedges"),),
        (Step("reference", A),),
        (Step("citing", A),),
    )


async def test_papers_cocited_with_seed_are_reached_in_two_hops() -> None:
    corpus = make_corpus({C: [A, D], D: [E]})
    two = index_by_id(await walk_citations(["bees in hedges"], corpus, SciCompanionOptions(hops=2, seeds=1)))
    assert two.keys() == {A, C, D}
    assert two[D].why == (Step("co-cited", A),)
    assert E in index_by_id(await walk_citations(["bees in hedges"], corpus, SciCompanionOptions(hops=3, seeds=1)))


async def test_excluded_paper_is_neither_found_nor_traversed() -> None:
    corpus = make_corpus({A: [B], B: [C]})
    found_by_id = index_by_id(
        await walk_citations(["bees in hedges"], corpus, SciCompanionOptions(hops=3, seeds=1), exclude={B})
    )
    assert found_by_id.keys() == {A}


async def test_paper_rejected_after_reading_record_is_neither_found_nor_traversed() -> None:
    corpus = make_corpus({A: [B], B: [C], D: [B]}, is_admitted=lambda paper: paper.id != B)
    found_by_id = index_by_id(await walk_citations(["bees in hedges"], corpus, SciCompanionOptions(hops=3, seeds=1)))
    assert found_by_id.keys() == {A}


async def test_walk_respects_limits_and_is_deterministic() -> None:
    corpus = make_corpus({A: [B, C, D], E: [A]})
    options = SciCompanionOptions(hops=2, seeds=2, found=3)
    found_papers = await walk_citations(["bees in hedges"], corpus, options)
    assert len(found_papers) == 3
    assert found_papers == await walk_citations(["bees in hedges"], corpus, options)


def test_votes_of_several_papers_outweigh_a_single_vote() -> None:
    mass_after = move_mass({A: 1.0, B: 1.0, C: 1.0}, {A: [D], B: [D], C: [E]}, {})
    assert mass_after == {D: 1.0, E: 0.5}


def test_widely_cited_paper_spreads_its_mass_over_citing_papers() -> None:
    crowd = [PaperId(f"x{number}") for number in range(100)]
    mass_after = move_mass({A: 1.0, B: 1.0}, {}, {A: crowd, B: [E]})
    assert mass_after[E] == 1.0
    assert mass_after[crowd[0]] == pytest.approx(0.1)


def test_nearness_is_scaled_between_farthest_and_nearest_search_results() -> None:
    scale = CosineRange.from_cosines([0.5, 0.7, 0.6])
    assert [scale.compute_nearness(item) for item in (0.7, 0.6, 0.5, 0.4)] == pytest.approx([1.0, 0.5, 0.0, -0.5])
    assert CosineRange.from_cosines([0.3]).compute_nearness(0.3) == 1.0


@given(
    start=st.lists(st.dictionaries(st.sampled_from([A, B, C]), st.floats(-1, 1), max_size=3), max_size=3),
    cited=st.dictionaries(st.sampled_from([A, B, C]), st.lists(st.sampled_from([A, B, C, D]), max_size=4)),
    citing=st.dictionaries(st.sampled_from([A, B, C]), st.lists(st.sampled_from([A, B, C, E]), max_size=4)),
)
def test_walk_mass_stays_between_0_and_1_for_any_graph(
    start: list[dict[PaperId, float]],
    cited: dict[PaperId, list[PaperId]],
    citing: dict[PaperId, list[PaperId]],
) -> None:
    mass = compute_start_mass(start)
    hops = [mass, move_mass(mass, cited, citing)]
    for hop in (*hops, sum_over_hops(hops)):
        assert all(0 <= mass <= 1 for mass in hop.values())
        assert not hop or max(hop.values()) == 1
