"""The walk along citations: what it reaches in how many hops, why, and what it never steps on."""

import datetime as dt
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.literature.admitted import AdmittedLiterature
from assayer.methods.scicompanion.walk import Found, Step, WalkOptions, walk
from assayer.methods.scicompanion.walk_scoring import (
    CosineRange,
    heaviest,
    moved_on,
    ranking_scores,
    start_mass,
    summed_over_hops,
)
from assayer.models import OPEN, Paper, PaperId, Window
from index.memory_corpus import MemoryCorpus
from workers.embedding.hashing_embedder import HashingEmbedder

A, B, C, D, E = (PaperId(one) for one in "abcde")
DAY = dt.date(2020, 1, 1)
TEXTS = {A: "bees in hedges", B: "frost on roofs", C: "tides of moons", D: "grain prices", E: "old harbours"}


def a_corpus(cited: Mapping[PaperId, Sequence[PaperId]], days: Mapping[PaperId, dt.date] | None = None) -> MemoryCorpus:
    papers = [
        Paper(id=one, title=text, abstract=f"On {text}.", publication_date=(days or {}).get(one, DAY), source="corpus")
        for one, text in TEXTS.items()
    ]
    return MemoryCorpus(papers, HashingEmbedder(), references=cited)


def by_id(found: Sequence[Found]) -> dict[PaperId, Found]:
    return {one.paper.id: one for one in found}


async def test_references_and_citing_papers_of_the_seeds_are_reached_in_one_hop_with_their_reasons() -> None:
    corpus = a_corpus({A: [B], C: [A]})
    found = by_id(await walk(["bees in hedges"], corpus, OPEN, WalkOptions(hops=1, seeds=1)))
    assert found.keys() == {A, B, C}
    assert (found[A].why, found[B].why, found[C].why) == (
        (Step("dense", None, "bees in hedges"),),
        (Step("reference", A),),
        (Step("citing", A),),
    )


async def test_what_is_cited_beside_a_seed_is_reached_in_two_hops() -> None:
    corpus = a_corpus({C: [A, D], D: [E]})
    two = by_id(await walk(["bees in hedges"], corpus, OPEN, WalkOptions(hops=2, seeds=1)))
    assert two.keys() == {A, C, D}
    assert two[D].why == (Step("co-cited", A),)
    assert E in by_id(await walk(["bees in hedges"], corpus, OPEN, WalkOptions(hops=3, seeds=1)))


async def test_without_hops_or_citations_the_walk_is_the_search() -> None:
    for corpus, hops in ((a_corpus({A: [B]}), 0), (a_corpus({}), 2)):
        found = await walk(["frost on roofs"], corpus, OPEN, WalkOptions(hops=hops, seeds=5))
        (hits,) = await corpus.search(["frost on roofs"], 5, OPEN)
        assert [one.paper.id for one in found] == [hit.paper.id for hit in hits]
        assert all(one.why == (Step("dense", None, "frost on roofs"),) for one in found)


async def test_a_paper_that_several_queries_find_stands_with_the_nearest_of_them() -> None:
    corpus = a_corpus({})
    found = by_id(await walk(["tides of moons", "grain prices"], corpus, OPEN, WalkOptions(hops=0, seeds=5)))
    assert found[C].why == (Step("dense", None, "tides of moons"),)
    assert found[D].why == (Step("dense", None, "grain prices"),)


async def test_what_is_excluded_is_neither_found_nor_a_step_on_the_way() -> None:
    corpus = a_corpus({A: [B], B: [C]})
    found = by_id(await walk(["bees in hedges"], corpus, OPEN, WalkOptions(hops=3, seeds=1), exclude={B}))
    assert found.keys() == {A}


async def test_a_paper_that_is_refused_once_its_record_is_read_is_neither_found_nor_a_step_on_the_way() -> None:
    corpus = AdmittedLiterature(a_corpus({A: [B], B: [C], D: [B]}), lambda paper: paper.id != B)
    found = by_id(await walk(["bees in hedges"], corpus, OPEN, WalkOptions(hops=3, seeds=1)))
    assert found.keys() == {A}


async def test_papers_outside_the_window_are_neither_found_nor_steps() -> None:
    corpus = a_corpus({A: [B], B: [C], D: [A]}, {B: dt.date(2021, 1, 1), D: dt.date(2022, 1, 1)})
    found = by_id(await walk(["bees in hedges"], corpus, Window.until(DAY), WalkOptions(hops=3, seeds=1)))
    assert found.keys() == {A}


async def test_cycles_end_and_papers_come_once() -> None:
    corpus = a_corpus({A: [B, A], B: [A, C], C: [A]})
    found = await walk(["bees in hedges", "frost on roofs"], corpus, OPEN, WalkOptions(hops=4, seeds=2))
    assert len(by_id(found)) == len(found)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


async def test_a_walk_keeps_to_its_limits_and_gives_the_same_answer_again() -> None:
    corpus = a_corpus({A: [B, C, D], E: [A]})
    options = WalkOptions(hops=2, seeds=2, limit=3, frontier=2, edges=2)
    found = await walk(["bees in hedges"], corpus, OPEN, options)
    assert len(found) == 3
    assert found == await walk(["bees in hedges"], corpus, OPEN, options)


def test_votes_of_several_papers_outweigh_one() -> None:
    moved = moved_on({A: 1.0, B: 1.0, C: 1.0}, {A: [D], B: [D], C: [E]}, {})
    assert moved == {D: 1.0, E: 0.5}


def test_backwards_mass_is_shared_so_that_a_famous_work_leads_nowhere_in_particular() -> None:
    crowd = [PaperId(f"x{number}") for number in range(100)]
    moved = moved_on({A: 1.0, B: 1.0}, {}, {A: crowd, B: [E]})
    assert moved[E] == 1.0
    assert moved[crowd[0]] == pytest.approx(0.1)


def test_ranking_adds_nearness_in_meaning_and_along_citations() -> None:
    scores = ranking_scores({A: 1.0, B: 0.5, C: -0.1}, {B: 1.0, C: 0.25})
    assert scores == pytest.approx({A: 1.0, B: 1.5, C: 0.4})


def test_nearness_is_measured_between_the_farthest_and_the_nearest_of_what_a_search_found() -> None:
    scale = CosineRange.of([0.5, 0.7, 0.6])
    assert [scale.nearness(one) for one in (0.7, 0.6, 0.5, 0.4)] == pytest.approx([1.0, 0.5, 0.0, -0.5])
    assert CosineRange.of([0.3]).nearness(0.3) == 1.0


MASSES = st.dictionaries(st.sampled_from([A, B, C, D, E]), st.floats(0, 1), max_size=5)


@given(
    start=st.lists(st.dictionaries(st.sampled_from([A, B, C]), st.floats(-1, 1), max_size=3), max_size=3),
    cited=st.dictionaries(st.sampled_from([A, B, C]), st.lists(st.sampled_from([A, B, C, D]), max_size=4)),
    citing=st.dictionaries(st.sampled_from([A, B, C]), st.lists(st.sampled_from([A, B, C, E]), max_size=4)),
)
def test_mass_lies_between_none_and_one_whatever_the_graph(
    start: list[dict[PaperId, float]],
    cited: dict[PaperId, list[PaperId]],
    citing: dict[PaperId, list[PaperId]],
) -> None:
    mass = start_mass(start)
    hops = [mass, moved_on(mass, cited, citing)]
    for one in (*hops, summed_over_hops(hops)):
        assert all(0 <= own <= 1 for own in one.values())
        assert not one or max(one.values()) == 1


@given(mass=MASSES, count=st.integers(0, 6))
def test_the_heaviest_are_those_with_most(mass: dict[PaperId, float], count: int) -> None:
    kept = heaviest(mass, count)
    assert len(kept) == min(count, len(mass))
    assert all(own <= least for one, own in mass.items() if one not in kept for least in kept.values())
