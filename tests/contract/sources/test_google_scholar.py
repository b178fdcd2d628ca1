"""Google Scholar through an API in the manner of Serper: what it shows of a paper, pages, years."""

import datetime as dt
from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from assayer.models import OPEN, Window
from simulator.outside.library import Library
from simulator.outside.process import OutsideWorld
from simulator.outside.sample import SAMPLE
from tests.contract.small_source_gateway import create_in_memory_gateway
from workers.literature.record_merging import add_url_identifiers, group_by_paper
from workers.literature_apis.arxiv import Arxiv
from workers.literature_apis.google_scholar import GoogleScholar
from workers.outbound.source_gateway import SourceGateway
from workers.outbound.source_requests import RequestContext
from workers.outbound.source_settings import ArxivSettings, GoogleScholarSettings

ASK = RequestContext("evaluation", 30.0)
KNOWN = {entry.record.title: entry for entry in Library(SAMPLE).entries}


@pytest.fixture
async def scholar_gateway(world: OutsideWorld) -> AsyncIterator[SourceGateway]:
    settings = {
        "google_scholar": GoogleScholarSettings(
            base_url=world.url("serper"), api_key=SecretStr("right"), spacing_seconds=0
        ),
        "arxiv": ArxivSettings(base_url=world.url("arxiv"), spacing_seconds=0),
    }
    async with create_in_memory_gateway(settings) as gateway:
        yield gateway


async def test_truncated_fields_are_omitted_from_found_papers(scholar_gateway: SourceGateway) -> None:
    papers = await GoogleScholar(scholar_gateway).search('graph "networks": NOT learning', 25, OPEN, ASK)
    assert len(papers) > 10
    for paper in papers:
        known = KNOWN[paper.title].record
        assert paper.publication_date == (dt.date(known.year, 12, 31) if known.year else None)
        assert paper.citation_count == known.citation_count
        assert paper.abstract.rstrip("…") in known.abstract
        assert len(paper.authors) <= len(known.authors)
        assert not any("…" in text for text in (*paper.authors, paper.venue))


async def test_search_respects_the_year_window(scholar_gateway: SourceGateway) -> None:
    window = Window(after=dt.date(2018, 6, 1), before=dt.date(2021, 12, 31))
    papers = await GoogleScholar(scholar_gateway).search("graph networks learning", 40, window, ASK)
    assert {paper.publication_date.year for paper in papers if paper.publication_date} <= {2018, 2019, 2020, 2021}
    early = await GoogleScholar(scholar_gateway).search(
        "graph networks learning", 40, Window.until(dt.date(2021, 6, 1)), ASK
    )
    assert all(paper.publication_date and paper.publication_date.year < 2021 for paper in early)


async def test_scholar_and_arxiv_records_of_a_paper_are_merged(scholar_gateway: SourceGateway) -> None:
    result_page = await GoogleScholar(scholar_gateway).search("graph networks learning", 30, OPEN, ASK)
    records = [add_url_identifiers(paper) for paper in result_page]
    of_arxiv = [paper for paper in records if paper.identifiers.arxiv]
    full_papers = [
        paper for paper in await Arxiv(scholar_gateway).resolve([item.identifiers for item in of_arxiv], ASK) if paper
    ]
    assert full_papers
    assert len(group_by_paper([*of_arxiv, *full_papers])) == len(of_arxiv)
