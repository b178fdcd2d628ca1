"""The walk along citations: what it reaches in how many hops, why, and what it never steps on."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.literature.admitted import AdmittedLiterature
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.methods.scicompanion.walk import Found, Step, walk
from assayer.methods.scicompanion.walk_scoring import (
    CosineRange,
    moved_on,
    start_mass,
    summed_over_hops,
)
from assayer.models import OPEN, Paper, PaperId
from index.memory_corpus import MemoryCorpus
from workers.embedding.hashing_embedder import HashingEmbedder

A, B, C, D, E = (PaperId(item) for item in "abcde")
DAY = dt.date(2020, 1, 1)
TEXTS = {A: "bees in hedges", B: "frost on roofs", C: "tides of moons", D: "grain prices", E: "old harbours"}


def a_corpus(
    cited: Mapping[PaperId, Sequence[PaperId]], admitted: Callable[[Paper], bool] = lambda _: True
) -> AdmittedLiterature:
    papers = [
        Paper(id=item, title=text, abstract=f"On {text}.", publication_date=DAY, source="corpus")
        for item, text in TEXTS.items()
    ]
    return AdmittedLiterature(MemoryCorpus(papers, HashingEmbedder(), references=cited), OPEN, admitted)


def by_id(found: Sequence[Found]) -> dict[PaperId, Found]:
    return {item.paper.id: item for item in found}


async def test_references_and_citing_papers_of_the_seeds_are_reached_in_one_hop_with_their_reasons() -> None:
    corpus = a_corpus({A: [B], C: [A]})
    found = by_id(await walk(["bees in hedges"], corpus, SciCompanionOptions(hops=1, seeds=1)))
    assert found.keys() == {A, B, C}
    assert (found[A].why, found[B].why, found[C].why) == (
        (Step("dense", None, "bees in hedges"),),
        (Step("reference", A),),
        (Step("citing", A),),
    )


async def test_what_is_cited_beside_a_seed_is_reached_in_two_hops() -> None:
    corpus = a_corpus({C: [A, D], D: [E]})
    two = by_id(await walk(["bees in hedges"], corpus, SciCompanionOptions(hops=2, seeds=1)))
    assert two.keys() == {A, C, D}
    assert two[D].why == (Step("co-cited", A),)
    assert E in by_id(await walk(["bees in hedges"], corpus, SciCompanionOptions(hops=3, seeds=1)))


async def test_what_is_excluded_is_neither_found_nor_a_step_on_the_way() -> None:
    corpus = a_corpus({A: [B], B: [C]})
    found = by_id(await walk(["bees in hedges"], corpus, SciCompanionOptions(hops=3, seeds=1), exclude={B}))
    assert found.keys() == {A}


async def test_a_paper_that_is_refused_once_its_record_is_read_is_neither_found_nor_a_step_on_the_way() -> None:
    corpus = a_corpus({A: [B], B: [C], D: [B]}, admitted=lambda paper: paper.id != B)
    found = by_id(await walk(["bees in hedges"], corpus, SciCompanionOptions(hops=3, seeds=1)))
    assert found.keys() == {A}


async def test_a_walk_keeps_to_its_limits_and_gives_the_same_answer_again() -> None:
    corpus = a_corpus({A: [B, C, D], E: [A]})
    options = SciCompanionOptions(hops=2, seeds=2, found=3)
    found = await walk(["bees in hedges"], corpus, options)
    assert len(found) == 3
    assert found == await walk(["bees in hedges"], corpus, options)


def test_votes_of_several_papers_outweigh_one() -> None:
    moved = moved_on({A: 1.0, B: 1.0, C: 1.0}, {A: [D], B: [D], C: [E]}, {})
    assert moved == {D: 1.0, E: 0.5}


def test_backwards_mass_is_shared_so_that_a_famous_work_leads_nowhere_in_particular() -> None:
    crowd = [PaperId(f"x{number}") for number in range(100)]
    moved = moved_on({A: 1.0, B: 1.0}, {}, {A: crowd, B: [E]})
    assert moved[E] == 1.0
    assert moved[crowd[0]] == pytest.approx(0.1)


def test_nearness_is_measured_between_the_farthest_and_the_nearest_of_what_a_search_found() -> None:
    scale = CosineRange.of([0.5, 0.7, 0.6])
    assert [scale.nearness(item) for item in (0.7, 0.6, 0.5, 0.4)] == pytest.approx([1.0, 0.5, 0.0, -0.5])
    assert CosineRange.of([0.3]).nearness(0.3) == 1.0


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
    for hop in (*hops, summed_over_hops(hops)):
        assert all(0 <= own <= 1 for own in hop.values())
        assert not hop or max(hop.values()) == 1
