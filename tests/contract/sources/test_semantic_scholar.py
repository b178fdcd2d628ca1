"""Behaviour specific to Semantic Scholar."""

import datetime as dt
from contextlib import suppress

import pytest

from assayer.errors import SourceMalformed, SourceRefused
from assayer.models import Identifiers, Window
from simulator.outside.process import OutsideWorld
from tests.contract.sources.open_gateway import open_gateway
from tests.contract.sources.specimens import ASK, LIBRARY
from workers.literature_apis.semantic_scholar import SemanticScholar
from workers.outbound.source_gateway import SourceGateway

ALWAYS = Window()
SERVICE = "semantic_scholar"


async def test_search_pages_up_to_the_depth_limit(crowd: OutsideWorld) -> None:
    crowd.reset()
    async with open_gateway(crowd, SERVICE) as remote:
        some = await SemanticScholar(remote).search("swarm robots", 250, ALWAYS, ASK)
        assert crowd.read_stats(SERVICE).requests == 3
        most_cited = await SemanticScholar(remote).search("swarm robots", 5_000, ALWAYS, ASK)
    assert (len({paper.id for paper in some}), len({paper.id for paper in most_cited})) == (250, 1_000)
    assert crowd.read_stats(SERVICE).by_status.keys() == {"200"}


async def test_a_large_batch_is_sent_in_parts_of_five_hundred(crowd: OutsideWorld) -> None:
    crowd.reset()
    async with open_gateway(crowd, SERVICE) as remote:
        source = SemanticScholar(remote)
        names = [paper.identifiers for paper in await source.search("swarm robots", 1_000, ALWAYS, ASK)]
        papers = await source.resolve(names, ASK)
    assert [paper.identifiers if paper else None for paper in papers] == names
    assert crowd.read_stats(SERVICE).by_operation == {"batch": 3, "search": 10}


async def test_papers_with_only_a_year_are_dated_to_its_last_day(gateway: SourceGateway) -> None:
    entry = next(item for item in LIBRARY.entries if not item.is_day_known)
    year = entry.record.year or 0
    source = SemanticScholar(gateway)
    inside = await source.search(entry.record.title, 64, Window(before=dt.date(year, 12, 31)), ASK)
    outside = await source.search(entry.record.title, 64, Window(before=dt.date(year, 12, 30)), ASK)
    assert entry.s2 in {paper.identifiers.s2 for paper in inside}
    assert entry.s2 not in {paper.identifiers.s2 for paper in outside}


async def test_a_word_with_a_hyphen_is_searched_as_two(gateway: SourceGateway) -> None:
    papers = await SemanticScholar(gateway).search("open-domain question-answering", 8, ALWAYS, ASK)
    assert papers
    assert all("question answering" in paper.title for paper in papers)


async def test_references_withheld_by_the_publisher_return_an_empty_list(gateway: SourceGateway) -> None:
    entry = next(item for item in LIBRARY.entries if item.corpus_id % 20 == 7)
    assert LIBRARY.list_references(entry)
    assert await SemanticScholar(gateway).references(Identifiers(s2=entry.s2), 10, ASK) == []


async def test_every_identifier_of_a_paper_returns_its_references(gateway: SourceGateway) -> None:
    entry = next(
        item for item in LIBRARY.entries if item.doi and item.arxiv and item.acl and LIBRARY.list_references(item)
    )
    source = SemanticScholar(gateway)
    names = [
        Identifiers(s2=entry.s2),
        Identifiers(doi=entry.doi),
        Identifiers(arxiv=entry.arxiv),
        Identifiers(acl=entry.acl),
    ]
    reference_sets = [{paper.identifiers.s2 for paper in await source.references(name, 100, ASK)} for name in names]
    assert reference_sets == [{reference.s2 for reference in LIBRARY.list_references(entry)}] * len(names)


async def test_a_paper_outside_the_pool_for_single_papers_still_gets_recommendations(
    gateway: SourceGateway, world: OutsideWorld
) -> None:
    entry = next(item for item in LIBRARY.entries if item.corpus_id % 4 == 0)
    assert len(await SemanticScholar(gateway).recommend([Identifiers(s2=entry.s2)], 5, ASK)) == 5
    assert world.read_stats(SERVICE).by_operation == {"recommendations": 1, "recommendations_for_paper": 1}


async def test_unknown_seed_does_not_prevent_recommendations(gateway: SourceGateway) -> None:
    seeds = [Identifiers(s2=entry.s2) for entry in LIBRARY.entries[:3]]
    source = SemanticScholar(gateway)
    with_stranger = await source.recommend([*seeds, Identifiers(doi="10.9999/unknown")], 5, ASK)
    assert len(with_stranger) == 5
    assert with_stranger == await source.recommend(seeds, 5, ASK)


async def test_a_snippet_search_takes_two_requests(gateway: SourceGateway, world: OutsideWorld) -> None:
    snippets = await SemanticScholar(gateway).snippets("a reward that experts agree with", 20, ALWAYS, ASK)
    assert any(snippet.cites for snippet in snippets)
    assert world.read_stats(SERVICE).by_operation == {"batch": 1, "snippets": 1}


async def test_a_wrong_key_is_refused_without_showing_it(world: OutsideWorld) -> None:
    world.configure(SERVICE, api_key="right")
    async with open_gateway(world, SERVICE, api_key="wrong-and-secret") as remote:
        with pytest.raises(SourceRefused, match="Forbidden") as caught:
            await SemanticScholar(remote).search("graphs", 5, ALWAYS, ASK)
    assert "wrong-and-secret" not in str(caught.value)
    async with open_gateway(world, SERVICE, api_key="right") as remote:
        assert await SemanticScholar(remote).search("graph", 5, ALWAYS, ASK)


async def test_an_unreadable_answer_is_replaced_in_the_cache(gateway: SourceGateway, world: OutsideWorld) -> None:
    world.configure(SERVICE, malformed_rate=0.5, seed=2)
    source, papers_by_name = SemanticScholar(gateway), {}
    for entry in LIBRARY.entries[:20]:
        with suppress(SourceMalformed):
            papers_by_name[entry.record.title] = await source.search(entry.record.title, 3, ALWAYS, ASK)
    assert world.read_stats(SERVICE).requests > 20
    world.configure(SERVICE, down=True)
    assert {title: await source.search(title, 3, ALWAYS, ASK) for title in papers_by_name} == papers_by_name
