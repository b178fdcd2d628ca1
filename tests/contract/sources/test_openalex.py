import datetime as dt

import pytest

from assayer.errors import SourceBusy, SourceMalformed, SourceRefused
from assayer.models import Identifiers
from benchmarks.simulator.outside.openalex_works import abstract_known, doi_of, former_id, pmid_of
from benchmarks.simulator.outside.process import OutsideWorld
from tests.contract.sources.doors import ASK, KNOWN, open_door
from workers.sources.openalex import OpenAlex
from workers.sources.source import Window

_TITLED = [entry for entry in KNOWN.entries if entry.corpus_id % 200]


async def test_a_search_finds_papers_by_their_words_with_abstract_and_identifiers(world: OutsideWorld) -> None:
    entry = next(one for one in _TITLED if abstract_known(one) and one.arxiv and one.doi and one.day_known)
    async with open_door(world, "openalex") as remote:
        papers = await OpenAlex(remote).search(entry.record.title, 20, Window(), ASK)
    paper = next(one for one in papers if one.identifiers.openalex == entry.openalex)
    assert paper.title == entry.record.title
    assert paper.abstract == entry.record.abstract
    assert paper.authors == entry.record.authors
    assert (paper.identifiers.doi, paper.identifiers.arxiv) == (entry.doi, entry.arxiv)
    assert paper.citation_count == entry.record.citation_count


async def test_a_search_keeps_to_its_window(world: OutsideWorld) -> None:
    window = Window(dt.date(2015, 1, 1), dt.date(2018, 12, 31))
    async with open_door(world, "openalex") as remote:
        papers = await OpenAlex(remote).search("learning", 100, window, ASK)
    assert papers
    assert all(paper.publication_date and window.after <= paper.publication_date <= window.before for paper in papers)  # type: ignore[operator]


@pytest.mark.parametrize(
    "query",
    [
        "knowledge distillation?",
        'knowledge" distillation',
        "(knowledge distillation",
        "!knowledge -distillation",
        "knowledge|distillation",
        "knowledge* distillation~2",
        "knowledge NOT distillation",
        "the knowledge AND (distillation OR nothing",
    ],
)
async def test_signs_and_operators_in_a_query_change_nothing(world: OutsideWorld, query: str) -> None:
    async with open_door(world, "openalex") as remote:
        plain = await OpenAlex(remote).search("knowledge distillation", 50, Window(), ASK)
        signed = await OpenAlex(remote).search(query, 50, Window(), ASK)
    words = {"not", "nothing"} & set(query.lower().split())
    assert plain
    assert signed == ([] if words else plain)


async def test_a_query_cannot_add_parameters_to_the_request(world: OutsideWorld) -> None:
    async with open_door(world, "openalex") as remote:
        papers = await OpenAlex(remote).search("distillation,is_retracted:true&per_page=1&select=x#", 50, Window(), ASK)
    assert papers == []
    assert world.stats("openalex").by_status == {"200": 1}


async def test_papers_are_resolved_by_every_name_in_few_requests(world: OutsideWorld) -> None:
    names = [Identifiers(openalex=entry.openalex) for entry in _TITLED]
    names += [Identifiers(doi=doi_of(entry)) for entry in _TITLED if doi_of(entry)]
    names += [Identifiers(arxiv=entry.arxiv) for entry in _TITLED if entry.arxiv and not entry.doi]
    names += [Identifiers(pubmed=pmid_of(entry)) for entry in _TITLED if pmid_of(entry)]
    unknown = [Identifiers(openalex=f"W9{number:09}") for number in range(150)]
    async with open_door(world, "openalex") as remote:
        papers = await OpenAlex(remote).resolve([*names, *unknown], ASK)
    for name, paper in zip(names, papers, strict=False):
        assert paper is not None
        assert name.doi in {"", paper.identifiers.doi}
        assert name.openalex in {"", paper.identifiers.openalex}
    assert papers[len(names) :] == [None] * len(unknown)
    assert world.stats("openalex").requests <= 6
    assert set(world.stats("openalex").by_status) == {"200"}


async def test_a_merged_record_is_found_under_its_former_id(world: OutsideWorld) -> None:
    async with open_door(world, "openalex") as remote:
        (paper,) = await OpenAlex(remote).resolve([Identifiers(openalex=former_id(_TITLED[0]))], ASK)
    assert paper is not None
    assert paper.identifiers.openalex == _TITLED[0].openalex


async def test_references_and_citations_are_those_of_the_paper(world: OutsideWorld) -> None:
    entry = max(_TITLED, key=lambda one: min(len(KNOWN.references(one)), len(KNOWN.citations(one))))
    async with open_door(world, "openalex") as remote:
        cited = await OpenAlex(remote).references(Identifiers(openalex=entry.openalex), 100, ASK)
        citing = await OpenAlex(remote).citations(Identifiers(doi=doi_of(entry), openalex=""), 100, ASK)
    titled = {one.openalex for one in _TITLED}
    assert [one.identifiers.openalex for one in cited] == [
        one.openalex for one in KNOWN.references(entry) if one.openalex in titled
    ]
    if doi_of(entry):
        assert {one.identifiers.openalex for one in citing} == {
            one.openalex for one in KNOWN.citations(entry) if one.openalex in titled
        }


async def test_retractions_are_those_that_retraction_watch_lists(world: OutsideWorld) -> None:
    names = {Identifiers(openalex=entry.openalex): entry for entry in KNOWN.entries}
    async with open_door(world, "openalex") as remote:
        notices = await OpenAlex(remote).retractions(list(names), ASK)
    retracted = {name for name, entry in names.items() if entry.notice and entry.notice.kind == "retracted"}
    assert set(notices) == retracted
    assert retracted


async def test_free_copies_are_the_publishers_and_arxivs(world: OutsideWorld) -> None:
    entry = next(one for one in KNOWN.entries if one.free_pdf and one.arxiv and one.doi)
    async with open_door(world, "openalex") as remote:
        urls = await OpenAlex(remote).pdf_urls(Identifiers(doi=entry.doi), ASK)
        none = await OpenAlex(remote).pdf_urls(Identifiers(doi="10.1000/unknown"), ASK)
    assert urls == (world.url(entry.pdf_path.removeprefix("/")), f"https://arxiv.org/pdf/{entry.arxiv}")
    assert none == ()


async def test_a_spent_budget_of_the_day_is_busy_not_broken(world: OutsideWorld) -> None:
    world.configure("openalex", per_day=200)
    async with open_door(world, "openalex") as remote:
        source = OpenAlex(remote)
        await source.search("graph", 5, Window(), ASK)
        await source.search("attention", 5, Window(), ASK)
        with pytest.raises(SourceBusy):
            await source.search("diffusion", 5, Window(), ASK)


async def test_a_wrong_key_is_refused_and_not_repeated(world: OutsideWorld) -> None:
    world.configure("openalex", api_key="right")
    async with open_door(world, "openalex", api_key="wrong") as remote:
        with pytest.raises(SourceRefused) as refused:
            await OpenAlex(remote).search("graph", 5, Window(), ASK)
    assert "wrong" not in str(refused.value)


async def test_a_garbled_answer_is_malformed(world: OutsideWorld) -> None:
    world.configure("openalex", malformed_rate=1.0)
    async with open_door(world, "openalex") as remote:
        with pytest.raises(SourceMalformed):
            await OpenAlex(remote).search("graph", 5, Window(), ASK)
