"""A harvest and the service take turns where both meet in one database, and a harvest without one goes its own way."""

import asyncio
import logging
from pathlib import Path

import pytest
from pydantic import SecretStr

from cluster.clock import SystemClock
from cluster.corpora.shared_turns import SERVICE_ADDRESSES, open_shared_turns
from cluster.settings import Settings
from cluster.settings_loading import load_settings
from orchestrator.store import Database, DatabaseSettings, PgRateLimits
from tests.contract.scripted_service import answer, serving
from tests.polling import wait_until_async
from workers.fetching.resumable_downloads import ResumableDownloader
from workers.fetching.settings import FetchingSettings, TransferSettings
from workers.remote.rate_limit import RateBucket, RateLimits, SharedRateLimit, TurnDeferred, TurnEvent, TurnRequest
from workers.remote.settings import SemanticScholarSettings
from workers.remote.transport import SourceEndpoint

KEY = SecretStr("sk-s2")


def _settings(home: Path, url: str | None, spacing: float = 60.0) -> Settings:
    database = DatabaseSettings(url=SecretStr(url), connect_seconds=1.0) if url else DatabaseSettings()
    return Settings(home=home, database=database, s2=SemanticScholarSettings(api_key=KEY, spacing_seconds=spacing))


def _service(database: Database, settings: Settings) -> SharedRateLimit:
    """As the gateway of the service keeps it."""
    endpoint = SourceEndpoint("semantic_scholar", settings.s2, "https://api.semanticscholar.org")
    limits = RateLimits(60.0, 0.0, 1, None, 10.0, 60.0)
    return SharedRateLimit(PgRateLimits(database), endpoint.bucket, limits, SystemClock())


async def test_service_waits_while_a_harvest_asks_and_for_the_spacing_after_it(
    tmp_path: Path, database: Database, database_url: str
) -> None:
    settings = _settings(tmp_path, database_url)
    service = _service(database, settings)
    async with open_shared_turns(settings, "semantic_scholar") as pace:
        assert pace is not None
        async with pace.permit():
            assert isinstance(await service.exchange((), TurnRequest("service", "1", 1)), TurnDeferred)
        after = await service.exchange((), TurnRequest("service", "1", 1))
    assert isinstance(after, TurnDeferred)
    assert 50.0 < after.opening <= 60.0


async def test_harvest_waits_for_the_spacing_after_a_request_of_the_service(
    tmp_path: Path, database: Database, database_url: str
) -> None:
    settings = _settings(tmp_path, database_url)
    service, now = _service(database, settings), SystemClock().monotonic()
    await service.exchange((), TurnRequest("service", "1", 1))
    await service.exchange([TurnEvent("sent", "1", now), TurnEvent("answered", "1", now)], None)

    async def ask() -> None:
        async with open_shared_turns(settings, "semantic_scholar") as pace:
            assert pace is not None
            async with pace.permit():
                raise AssertionError("a minute has not gone by")

    async def queued() -> bool:
        shared = await PgRateLimits(database).read(service.bucket)
        return bool(RateBucket.from_json(shared.text).queue)

    asking = asyncio.create_task(ask())
    await wait_until_async(queued)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_downloads_ask_for_a_turn_for_every_answer(tmp_path: Path, database: Database, database_url: str) -> None:
    settings = _settings(tmp_path, database_url, spacing=0.0)
    fetching = FetchingSettings(allow=("127.0.0.0/8",))
    with serving([answer([]), answer([])]) as services:
        async with (
            open_shared_turns(settings, "semantic_scholar") as pace,
            ResumableDownloader(fetching, TransferSettings(), SystemClock(), pace=pace) as transfers,
        ):
            assert [await transfers.read(services.url), await transfers.read(services.url)] == [b"[]", b"[]"]
    shared = await PgRateLimits(database).read(_service(database, settings).bucket)
    assert RateBucket.from_json(shared.text).spent == 2


async def test_without_a_database_a_harvest_keeps_its_pace_alone(tmp_path: Path) -> None:
    async with open_shared_turns(_settings(tmp_path, None), "arxiv") as pace:
        assert pace is None


@pytest.mark.parametrize("lacking", ["server", "tables"])
async def test_database_that_cannot_be_used_stops_no_harvest_and_is_told(
    tmp_path: Path, empty_database_url: str, caplog: pytest.LogCaptureFixture, lacking: str
) -> None:
    url = empty_database_url if lacking == "tables" else "postgresql://nobody@127.0.0.1:9/none"
    with caplog.at_level(logging.WARNING):
        async with open_shared_turns(_settings(tmp_path, url), "arxiv") as pace:
            assert pace is None
    assert "keeps its pace by itself" in caplog.text


def test_limits_are_named_by_the_addresses_of_the_profile_in_which_the_service_asks() -> None:
    online = load_settings("online")
    assert {name: online.sources[name].base_url for name in SERVICE_ADDRESSES} == SERVICE_ADDRESSES
