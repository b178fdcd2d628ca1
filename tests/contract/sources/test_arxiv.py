"""Behaviour specific to arXiv."""

import pytest

from assayer.errors import SourceMalformed
from assayer.models import Window
from simulator.outside.process import OutsideWorld
from tests.contract.sources.open_gateway import open_gateway
from tests.contract.sources.specimens import ASK, LIBRARY
from workers.literature_apis.arxiv import Arxiv
from workers.outbound.source_gateway import SourceGateway

ALWAYS = Window()


async def test_a_search_longer_than_one_page_reads_every_page(crowd: OutsideWorld) -> None:
    crowd.reset()
    async with open_gateway(crowd, "arxiv") as remote:
        some = await Arxiv(remote).search("swarm robots", 450, ALWAYS, ASK)
        assert crowd.read_stats("arxiv").requests == 3
        papers = await Arxiv(remote).search("swarm robots", 2_000, ALWAYS, ASK)
    assert (len({paper.id for paper in some}), len(papers)) == (450, len({paper.id for paper in papers}))
    assert 700 < len(papers) < 1_300


async def test_many_ids_are_requested_two_hundred_at_a_time(crowd: OutsideWorld) -> None:
    async with open_gateway(crowd, "arxiv") as remote:
        names = [paper.identifiers for paper in await Arxiv(remote).search("swarm robots", 450, ALWAYS, ASK)]
        crowd.reset()
        papers = await Arxiv(remote).resolve(names, ASK)
    assert [paper.identifiers if paper else None for paper in papers] == names
    assert crowd.read_stats("arxiv").requests == 3


async def test_unexpectedly_empty_page_is_requested_again(gateway: SourceGateway, world: OutsideWorld) -> None:
    world.configure("arxiv", empty_rate=0.5, seed=5)
    source, answered_count = Arxiv(gateway), 0
    for entry in LIBRARY.entries[:10]:
        try:
            answered_count += bool(await source.search(entry.record.title, 5, ALWAYS, ASK))
        except SourceMalformed as error:
            assert "but none of those after" in error.message  # noqa: PT017 - either outcome is right
    assert world.read_stats("arxiv").requests > 10
    assert answered_count >= 5


async def test_page_that_stays_empty_unexpectedly_is_reported_as_malformed(
    gateway: SourceGateway, world: OutsideWorld
) -> None:
    world.configure("arxiv", empty_rate=1.0)
    with pytest.raises(SourceMalformed, match="but none of those after"):
        await Arxiv(gateway).search("attention", 5, ALWAYS, ASK)


async def test_withdrawn_papers_are_marked_in_search_results(gateway: SourceGateway) -> None:
    entry = next(item for item in LIBRARY.entries if item.arxiv and item.notice and item.notice.kind == "withdrawn")
    (found_paper,) = [
        paper
        for paper in await Arxiv(gateway).search(entry.record.title, 20, ALWAYS, ASK)
        if paper.identifiers.arxiv == entry.arxiv
    ]
    assert found_paper.retraction is not None
    assert entry.notice is not None
    assert (found_paper.retraction.kind, found_paper.retraction.date) == ("withdrawn", entry.notice.date)
