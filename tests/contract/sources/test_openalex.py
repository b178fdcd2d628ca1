import pytest

from assayer.errors import SourceBusy
from assayer.models import Identifiers, Window
from simulator.outside.openalex_works import get_doi, get_former_id, get_pmid
from simulator.outside.process import OutsideWorld
from tests.contract.sources.open_gateway import open_gateway
from tests.contract.sources.specimens import ASK, LIBRARY
from workers.literature_apis.openalex import OpenAlex

_TITLED = [entry for entry in LIBRARY.entries if entry.corpus_id % 200]


async def test_a_query_cannot_add_parameters_to_the_request(world: OutsideWorld) -> None:
    async with open_gateway(world, "openalex") as remote:
        papers = await OpenAlex(remote).search("distillation,is_retracted:true&per_page=1&select=x#", 50, Window(), ASK)
    assert {paper.title.split(" for ")[0] for paper in papers} == {"Knowledge distillation"}
    assert all(paper.authors for paper in papers)
    assert set(world.read_stats("openalex").by_status) == {"200"}


async def test_papers_are_resolved_by_every_identifier_type_in_few_requests(world: OutsideWorld) -> None:
    names = [Identifiers(openalex=entry.openalex) for entry in _TITLED]
    names += [Identifiers(doi=get_doi(entry)) for entry in _TITLED if get_doi(entry)]
    names += [Identifiers(arxiv=entry.arxiv) for entry in _TITLED if entry.arxiv and not entry.doi]
    names += [Identifiers(pubmed=get_pmid(entry)) for entry in _TITLED if get_pmid(entry)]
    unknown = [Identifiers(openalex=f"W9{number:09}") for number in range(150)]
    async with open_gateway(world, "openalex") as remote:
        papers = await OpenAlex(remote).resolve([*names, *unknown], ASK)
    for name, paper in zip(names, papers, strict=False):
        assert paper is not None
        assert name.doi in {"", paper.identifiers.doi}
        assert name.openalex in {"", paper.identifiers.openalex}
    assert papers[len(names) :] == [None] * len(unknown)
    assert world.read_stats("openalex").requests <= 6
    assert set(world.read_stats("openalex").by_status) == {"200"}


async def test_a_merged_record_is_found_under_its_former_id(world: OutsideWorld) -> None:
    async with open_gateway(world, "openalex") as remote:
        (paper,) = await OpenAlex(remote).resolve([Identifiers(openalex=get_former_id(_TITLED[0]))], ASK)
    assert paper is not None
    assert paper.identifiers.openalex == _TITLED[0].openalex


async def test_search_falls_back_to_any_word_when_few_papers_match_all(world: OutsideWorld) -> None:
    async with open_gateway(world, "openalex") as remote:
        papers = await OpenAlex(remote).search("diffusion zeppelin", 50, Window(), ASK)
        no_papers = await OpenAlex(remote).search("xylophone zeppelin", 50, Window(), ASK)
    assert {paper.title.split(" for ")[0] for paper in papers} == {"Diffusion models"}
    assert no_papers == []


async def test_exhausted_daily_budget_raises_source_busy(world: OutsideWorld) -> None:
    world.configure("openalex", per_day=200)
    async with open_gateway(world, "openalex") as remote:
        source = OpenAlex(remote)
        await source.search("graph", 5, Window(), ASK)
        await source.search("attention", 5, Window(), ASK)
        with pytest.raises(SourceBusy):
            await source.search("diffusion", 5, Window(), ASK)


async def test_pdf_lookup_does_not_use_the_daily_budget(world: OutsideWorld) -> None:
    async with open_gateway(world, "openalex", daily_budget=10) as remote:
        source = OpenAlex(remote)
        urls = [await source.pdf_urls(Identifiers(openalex=entry.openalex), ASK) for entry in LIBRARY.entries[:12]]
        papers = await source.search("graph", 5, Window(), ASK)
    assert [bool(url) for url in urls] == [item.free_pdf or bool(item.arxiv) for item in LIBRARY.entries[:12]]
    assert papers
