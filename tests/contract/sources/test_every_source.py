"""Contract tests of every source, each for the capabilities it has."""

import datetime as dt
from typing import Any

import pytest

from assayer.errors import SourceError, SourceMalformed, SourceUnavailable
from assayer.models import Identifiers, Paper, Window
from simulator.outside.library import Entry
from simulator.outside.process import OutsideWorld
from tests.contract.sources.specimens import ASK, LIBRARY, UNKNOWN_IDENTIFIERS, Specimen, specimens_with
from workers.literature_apis.capabilities import (
    ListsCitingPapers,
    ListsReferences,
    LocatesPdfs,
    RecommendsPapers,
    ReportsRetractions,
    ResolvesIdentifiers,
    SearchesPapers,
    SearchesSnippets,
)
from workers.outbound.source_gateway import SourceGateway

QUERY = "Sparse attention for machine translation"
ALWAYS = Window()


def list_known_entries(specimen: Specimen) -> list[Entry]:
    return [entry for entry in LIBRARY.entries if specimen.identifiers(entry) != Identifiers()]


def find_entry(paper: Paper) -> Entry:
    """The paper of the simulated library that this one is."""
    names = paper.identifiers
    entries = (LIBRARY.by_s2.get(names.s2), LIBRARY.by_openalex.get(names.openalex), LIBRARY.by_arxiv.get(names.arxiv))
    entry = next((item for item in (*entries, LIBRARY.by_doi.get(names.doi)) if item), None)
    assert entry is not None, paper
    return entry


def check(paper: Paper, specimen: Specimen) -> None:
    """A paper as the contract has it, and as the library has it."""
    entry = find_entry(paper)
    assert paper.id.startswith(f"{specimen.prefix}:")
    assert paper.source == specimen.service
    assert paper.title == entry.record.title
    assert paper.abstract in {entry.record.abstract, ""}
    assert paper.authors == entry.record.authors
    assert paper.publication_date == specimen.day(entry)
    assert paper.citation_count in {entry.record.citation_count, None}
    names = paper.identifiers
    registered = f"10.48550/arxiv.{entry.arxiv}"
    assert names.doi in {entry.doi, ""} or (names.doi == registered and not entry.doi)
    assert names.arxiv in {entry.arxiv, ""}
    assert names.acl in {entry.acl, ""}
    assert all(address.endswith(entry.pdf_path) for address in paper.pdf_urls)


@pytest.fixture
def source(specimen: Specimen, gateway: SourceGateway) -> Any:
    return specimen.make(gateway)


@pytest.mark.parametrize("specimen", specimens_with(SearchesPapers))
async def test_search_finds_the_paper_with_that_title_first(specimen: Specimen, source: SearchesPapers) -> None:
    known_entry = next(entry for entry in list_known_entries(specimen) if "attention" in entry.record.title)
    papers = await source.search(known_entry.record.title, 10, ALWAYS, ASK)
    assert find_entry(papers[0]) == known_entry
    assert len({paper.id for paper in papers}) == len(papers) > 1
    for paper in papers:
        check(paper, specimen)


@pytest.mark.parametrize("specimen", specimens_with(SearchesPapers))
async def test_search_respects_a_small_limit(source: SearchesPapers) -> None:
    many = await source.search("model", 8, ALWAYS, ASK)
    assert [paper.id for paper in await source.search("model", 3, ALWAYS, ASK)] == [paper.id for paper in many[:3]]


@pytest.mark.parametrize("specimen", specimens_with(SearchesPapers))
async def test_search_returns_only_papers_published_within_the_window(source: SearchesPapers) -> None:
    window = Window(after=dt.date(2015, 6, 1), before=dt.date(2019, 3, 15))
    papers = await source.search("model", 64, window, ASK)
    assert papers
    for paper in papers:
        assert paper.publication_date is not None
        assert dt.date(2015, 6, 1) <= paper.publication_date <= dt.date(2019, 3, 15)
    earlier = await source.search("model", 64, Window(before=dt.date(2015, 5, 31)), ASK)
    assert earlier
    assert not {paper.id for paper in earlier} & {paper.id for paper in papers}


@pytest.mark.parametrize("specimen", specimens_with(SearchesPapers))
async def test_search_without_matches_returns_an_empty_list(source: SearchesPapers) -> None:
    assert await source.search("xylophone zeppelin", 10, ALWAYS, ASK) == []
    assert await source.search("  ?! \u200b ", 10, ALWAYS, ASK) == []


@pytest.mark.parametrize("specimen", specimens_with(SearchesPapers))
async def test_query_operators_in_a_search_are_treated_as_plain_text(source: SearchesPapers) -> None:
    for decoration in ('"{}', "({}", "{})", "{} AND", "NOT {}", "{}:", "ti:{}", "[{} TO", "{}*", "-{}"):
        titles = {paper.title for paper in await source.search(decoration.format("diffusion"), 8, ALWAYS, ASK)}
        assert any(title.startswith("Diffusion models") for title in titles), decoration


@pytest.mark.parametrize("specimen", specimens_with(ResolvesIdentifiers))
async def test_resolve_keeps_the_order_and_uses_few_requests(
    specimen: Specimen, source: ResolvesIdentifiers, world: OutsideWorld
) -> None:
    entries = list_known_entries(specimen)
    identifiers = [specimen.identifiers(entry) for entry in entries]
    identifiers[3:3] = UNKNOWN_IDENTIFIERS
    papers = await source.resolve([*identifiers, identifiers[0]], ASK)
    assert papers[3 : 3 + len(UNKNOWN_IDENTIFIERS)] == [None] * len(UNKNOWN_IDENTIFIERS)
    found_papers = [paper for paper in papers if paper]
    assert [find_entry(paper) for paper in found_papers] == [*entries, entries[0]]
    for paper in found_papers:
        check(paper, specimen)
    assert world.read_stats(specimen.service).requests <= 6


@pytest.mark.parametrize("specimen", specimens_with(ResolvesIdentifiers))
async def test_resolve_of_only_unknown_papers_returns_none_for_each(source: ResolvesIdentifiers) -> None:
    assert await source.resolve(UNKNOWN_IDENTIFIERS, ASK) == [None] * len(UNKNOWN_IDENTIFIERS)
    assert await source.resolve([], ASK) == []


@pytest.mark.parametrize("specimen", specimens_with(ListsReferences))
async def test_references_match_the_library(specimen: Specimen, source: ListsReferences) -> None:
    entry = max(
        list_known_entries(specimen), key=lambda item: (len(LIBRARY.list_references(item)), item.corpus_id % 20 != 7)
    )
    papers = await source.references(specimen.identifiers(entry), 100, ASK)
    for paper in papers:
        check(paper, specimen)
    assert {find_entry(paper) for paper in papers} == set(LIBRARY.list_references(entry)) & set(
        list_known_entries(specimen)
    )
    assert len(await source.references(specimen.identifiers(entry), 2, ASK)) == 2


@pytest.mark.parametrize("specimen", specimens_with(ListsReferences))
async def test_unknown_papers_have_no_references(source: ListsReferences) -> None:
    for unknown in UNKNOWN_IDENTIFIERS:
        assert await source.references(unknown, 10, ASK) == []


@pytest.mark.parametrize("specimen", specimens_with(ListsCitingPapers))
async def test_citing_papers_match_the_library_within_the_window(specimen: Specimen, source: ListsCitingPapers) -> None:
    entry = max(list_known_entries(specimen), key=lambda item: len(LIBRARY.list_citations(item)))
    papers = await source.citing(specimen.identifiers(entry), 100, ALWAYS, ASK)
    for paper in papers:
        check(paper, specimen)
    assert {find_entry(paper) for paper in papers} == set(LIBRARY.list_citations(entry)) & set(
        list_known_entries(specimen)
    )
    assert len(await source.citing(specimen.identifiers(entry), 2, ALWAYS, ASK)) == 2
    days = sorted(paper.publication_date for paper in papers if paper.publication_date)
    window = Window(before=days[len(days) // 2])
    earlier = await source.citing(specimen.identifiers(entry), 100, window, ASK)
    assert {paper.id for paper in earlier} == {
        paper.id for paper in papers if paper.publication_date and window.contains(paper.publication_date)
    }


@pytest.mark.parametrize("specimen", specimens_with(ListsCitingPapers))
async def test_unknown_papers_have_no_citing_papers(source: ListsCitingPapers) -> None:
    for unknown in UNKNOWN_IDENTIFIERS:
        assert await source.citing(unknown, 10, ALWAYS, ASK) == []


@pytest.mark.parametrize("specimen", specimens_with(RecommendsPapers))
@pytest.mark.parametrize("seeds", [1, 3])
async def test_recommendations_exclude_the_seed_papers(
    specimen: Specimen, source: RecommendsPapers, seeds: int
) -> None:
    seed_entries = list_known_entries(specimen)[:seeds]
    papers = await source.recommend([specimen.identifiers(entry) for entry in seed_entries], 5, ASK)
    assert len(papers) == 5
    for paper in papers:
        check(paper, specimen)
    assert not {find_entry(paper) for paper in papers} & set(seed_entries)
    assert await source.recommend(UNKNOWN_IDENTIFIERS, 5, ASK) == []


@pytest.mark.parametrize("specimen", specimens_with(SearchesSnippets))
async def test_snippets_match_the_text_of_their_papers(specimen: Specimen, source: SearchesSnippets) -> None:
    before = dt.date(2021, 6, 30)
    snippets = await source.snippets("residue contacts in protein folding", 20, Window(before=before), ASK)
    sections = {snippet.section for snippet in snippets}
    assert "abstract" in sections
    assert sections & {"Introduction", "Related Work", "Method", "Experiments", "Conclusion"}
    for snippet in snippets:
        check(snippet.paper, specimen)
        assert snippet.paper.publication_date is not None
        assert snippet.paper.publication_date <= before
        if snippet.section == "abstract":
            assert snippet.text == find_entry(snippet.paper).record.abstract
    cited = {name for snippet in snippets for name in snippet.cites}
    assert cited
    assert all(LIBRARY.by_s2[name.s2] for name in cited)


@pytest.mark.parametrize("specimen", specimens_with(ReportsRetractions))
async def test_retractions_are_reported_only_for_papers_with_a_notice(
    specimen: Specimen, source: ReportsRetractions
) -> None:
    entries = list_known_entries(specimen)
    retractions = await source.retractions(
        [*(specimen.identifiers(entry) for entry in entries), *UNKNOWN_IDENTIFIERS], ASK
    )
    marked = {entry for entry in entries if specimen.identifiers(entry) in retractions}
    kinds = {notice.kind for notice in retractions.values()}
    assert marked
    assert marked == {entry for entry in entries if entry.notice and entry.notice.kind in kinds}
    assert all(notice.source == specimen.service for notice in retractions.values())


@pytest.mark.parametrize("specimen", specimens_with(LocatesPdfs))
async def test_pdf_addresses_match_the_record(specimen: Specimen, source: LocatesPdfs) -> None:
    url_lists = {
        entry: await source.pdf_urls(specimen.identifiers(entry), ASK) for entry in list_known_entries(specimen)[:12]
    }
    assert any(url_lists.values())
    for entry, addresses in url_lists.items():
        assert all(address.endswith(entry.pdf_path) for address in addresses)
    assert [await source.pdf_urls(unknown, ASK) for unknown in UNKNOWN_IDENTIFIERS] == [()] * len(UNKNOWN_IDENTIFIERS)


async def send_first_request(specimen: Specimen, gateway: SourceGateway) -> None:
    """Send a request that every source supports."""
    source = specimen.make(gateway)
    if isinstance(source, SearchesPapers):
        await source.search(QUERY, 5, ALWAYS, ASK)
    else:
        assert isinstance(source, LocatesPdfs)
        await source.pdf_urls(specimen.identifiers(list_known_entries(specimen)[0]), ASK)


async def test_a_source_that_is_down_is_unavailable(
    specimen: Specimen, gateway: SourceGateway, world: OutsideWorld
) -> None:
    world.configure(specimen.service, down=True)
    with pytest.raises(SourceUnavailable):
        await send_first_request(specimen, gateway)


async def test_persistently_unreadable_answer_is_reported_as_malformed(
    specimen: Specimen, gateway: SourceGateway, world: OutsideWorld
) -> None:
    world.configure(specimen.service, malformed_rate=1.0)
    with pytest.raises(SourceMalformed):
        await send_first_request(specimen, gateway)


async def test_intermittent_faults_are_retried_or_raise_source_errors(
    specimen: Specimen, gateway: SourceGateway, world: OutsideWorld
) -> None:
    world.configure(specimen.service, server_error_rate=0.15, drop_rate=0.15, malformed_rate=0.15, seed=3)
    source = specimen.make(gateway)
    outcomes = []
    for entry in list_known_entries(specimen)[:20]:
        try:
            if isinstance(source, SearchesPapers):
                await source.search(entry.record.title, 5, ALWAYS, ASK)
            elif isinstance(source, LocatesPdfs):
                await source.pdf_urls(specimen.identifiers(entry), ASK)
            outcomes.append("answered")
        except SourceError:
            outcomes.append("failed")
    assert outcomes.count("answered") >= 12
    assert sum(world.read_stats(specimen.service).injected.values()) > 0
