"""A harvest and the service take turns where both meet in one database, and a harvest without one goes its own way."""

import asyncio
import logging
from pathlib import Path

import pytest
from pydantic import SecretStr

from cluster.clock import SystemClock
from cluster.corpora.shared_pacing import SERVICE_ADDRESSES, open_shared_pacer
from cluster.settings import Settings
from cluster.settings_loading import load_settings
from orchestrator.store import Database, DatabaseSettings, PgSharedState
from tests.contract.scripted_service import answer, run_script
from workers.fetching.resumable_downloads import ResumableDownloader
from workers.fetching.settings import FetchingSettings, TransferSettings
from workers.outbound.source_pace import Pace, PaceLimits, Pacer, Wait
from workers.outbound.source_retries import SourceAddress
from workers.outbound.source_settings import SemanticScholarSettings

KEY = SecretStr("sk-s2")


def _build_settings(home: Path, url: str | None, spacing: float = 60.0) -> Settings:
    database = DatabaseSettings(url=SecretStr(url), connect_seconds=1.0) if url else DatabaseSettings()
    return Settings(home=home, database=database, s2=SemanticScholarSettings(api_key=KEY, spacing_seconds=spacing))


def _create_service_pacer(database: Database, settings: Settings) -> Pacer:
    """Return a pacer like that of the service's gateway."""
    address = SourceAddress("semantic_scholar", settings.s2, "https://api.semanticscholar.org")
    return Pacer(PgSharedState(database), address.rate_limit_key, PaceLimits(settings.s2.spacing_seconds, 1, 60.0))


async def _get_wait(pacer: Pacer) -> Wait:
    """Return the wait reported to a caller that requests a turn and does not wait for it."""
    reported_wait: asyncio.Future[Wait] = asyncio.get_running_loop().create_future()

    def check(wait: Wait | None) -> None:
        if wait is not None and not reported_wait.done():
            reported_wait.set_result(wait)

    async def ask() -> None:
        async with pacer.take_turn(check=check):
            raise AssertionError("the spacing has not gone by")

    task = asyncio.create_task(ask())
    try:
        async with asyncio.timeout(30):
            return await reported_wait
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_service_waits_during_a_harvest_request_and_its_spacing(
    tmp_path: Path, database: Database, database_url: str
) -> None:
    settings = _build_settings(tmp_path, database_url)
    service = _create_service_pacer(database, settings)
    async with open_shared_pacer(settings, "semantic_scholar") as pacer:
        assert pacer is not None
        async with pacer.take_turn():
            await _get_wait(service)
    assert 50.0 < (await _get_wait(service)).opening <= 60.0
    await service.aclose()


async def test_harvest_waits_for_the_spacing_after_a_request_of_the_service(
    tmp_path: Path, database: Database, database_url: str
) -> None:
    settings = _build_settings(tmp_path, database_url)
    service = _create_service_pacer(database, settings)
    async with service.take_turn():
        pass
    await service.aclose()
    async with open_shared_pacer(settings, "semantic_scholar") as pacer:
        assert pacer is not None
        assert 50.0 < (await _get_wait(pacer)).opening <= 60.0


async def test_each_download_waits_for_a_rate_limit_slot(tmp_path: Path, database: Database, database_url: str) -> None:
    settings = _build_settings(tmp_path, database_url, spacing=0.0)
    fetching = FetchingSettings(allow=("127.0.0.0/8",))
    with run_script([answer([]), answer([])]) as services:
        async with (
            open_shared_pacer(settings, "semantic_scholar") as pacer,
            ResumableDownloader(fetching, TransferSettings(), SystemClock(), pace=pacer) as transfers,
        ):
            assert [await transfers.read(services.url), await transfers.read(services.url)] == [b"[]", b"[]"]
    key = SourceAddress("semantic_scholar", settings.s2, "https://api.semanticscholar.org").rate_limit_key
    pace = await PgSharedState(database).change(key, lambda text, _: (text, Pace.from_json(text)))
    assert (pace.spent, pace.in_flight) == (2, {})


async def test_harvest_without_database_runs_without_shared_pacer(tmp_path: Path) -> None:
    async with open_shared_pacer(_build_settings(tmp_path, None), "arxiv") as pacer:
        assert pacer is None


@pytest.mark.parametrize("missing_setting", ["server", "tables"])
async def test_unusable_database_is_logged_and_harvest_paces_itself(
    tmp_path: Path, empty_database_url: str, caplog: pytest.LogCaptureFixture, missing_setting: str
) -> None:
    url = empty_database_url if missing_setting == "tables" else "postgresql://nobody@127.0.0.1:9/none"
    with caplog.at_level(logging.WARNING):
        async with open_shared_pacer(_build_settings(tmp_path, url), "arxiv") as pacer:
            assert pacer is None
    assert "does not share rate limits with the service" in caplog.text


def test_rate_limit_addresses_match_the_online_profile() -> None:
    online = load_settings("online")
    assert {name: online.sources[name].base_url for name in SERVICE_ADDRESSES} == SERVICE_ADDRESSES
