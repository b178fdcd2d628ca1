"""Kaggle and DataCite: data sets found by words and days, against the simulated world."""

import datetime as dt
from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from assayer.errors import SourceMalformed
from assayer.models import OPEN, Window
from simulator.outside.library import Library
from simulator.outside.process import OutsideWorld
from simulator.outside.sample import SAMPLE
from tests.contract.small_source_gateway import create_in_memory_gateway
from workers.datasets.adapter import DatasetsAdapter, DatasetSource
from workers.datasets.datacite import DataCite
from workers.datasets.kaggle import Kaggle
from workers.outbound.source_gateway import SourceGateway
from workers.outbound.source_requests import RequestContext
from workers.outbound.source_settings import DataCiteSettings, KaggleSettings

ASK = RequestContext("evaluation", 30.0)
DATES = {entry.date for entry in Library(SAMPLE).entries}
MIDDLE = sorted(date for date in DATES if date)[len(DATES) // 2]


@pytest.fixture
async def datasets_gateway(world: OutsideWorld) -> AsyncIterator[SourceGateway]:
    settings = {
        "kaggle": KaggleSettings(base_url=world.url("kaggle/api/v1"), api_key=SecretStr("token"), spacing_seconds=0),
        "datacite": DataCiteSettings(base_url=world.url("datacite"), spacing_seconds=0),
    }
    async with create_in_memory_gateway(settings) as gateway:
        yield gateway


@pytest.fixture(params=[Kaggle, DataCite])
def source(request: pytest.FixtureRequest, datasets_gateway: SourceGateway) -> DatasetSource:
    dataset_source: DatasetSource = request.param(datasets_gateway)
    return dataset_source


async def test_data_sets_are_found_by_words_without_duplicates_with_metadata(source: DatasetSource) -> None:
    datasets = await source.search('graph "networks": NOT (attention) AND *', 30, OPEN, ASK)
    assert len({item.key for item in datasets}) == len(datasets) > 3
    for item in datasets:
        assert item.key.startswith(("kaggle:", "doi:10."))
        assert item.title.startswith("Data ")
        assert item.description
        assert "<p>" not in item.description
        assert item.url.startswith("https://")
        assert item.publisher in ("Kaggle", "Dryad")
        assert item.licence.startswith(("CC", "Creative Commons"))
        assert item.published in DATES


@pytest.mark.parametrize("window", [Window.until(MIDDLE), Window.later_than(MIDDLE)])
async def test_dated_data_sets_fall_within_the_window(source: DatasetSource, window: Window) -> None:
    datasets = await source.search("graph networks learning", 10, window, ASK)
    assert datasets
    for item in datasets:
        assert item.published is None or (item.published <= MIDDLE) == (window.before is not None)


async def test_result_limit_is_respected_and_wordless_query_finds_nothing(source: DatasetSource) -> None:
    assert len(await source.search("graph networks learning model data", 2, OPEN, ASK)) == 2
    assert await source.search("?! ()", 5, OPEN, ASK) == []


async def test_several_queries_are_answered_in_their_order(source: DatasetSource) -> None:
    adapter = DatasetsAdapter(source, ASK)
    answers = await adapter.search(["graph networks", "language translation"], 3, OPEN)
    assert adapter.source == source.name
    assert answers == [await source.search(words, 3, OPEN, ASK) for words in ("graph networks", "language translation")]


async def test_malformed_data_set_response_is_rejected(world: OutsideWorld, datasets_gateway: SourceGateway) -> None:
    world.configure("datacite", malformed_rate=1.0)
    with pytest.raises(SourceMalformed, match="datacite"):
        await DataCite(datasets_gateway).search("graph theory", 3, Window.until(dt.date(2021, 1, 1)), ASK)
