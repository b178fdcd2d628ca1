"""A real PostgreSQL for the contract tests: one server a run, one database a worker, empty tables for every test."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from playwright.sync_api import Browser, sync_playwright
from pydantic import SecretStr

from orchestrator.store import Database, DatabaseSettings
from simulator.datasets.process import SimulatedDatasets
from simulator.outside.library import Library
from simulator.outside.process import OutsideWorld
from simulator.outside.sample import SAMPLE
from simulator.process import Simulator
from tests.chromium import launch_options
from tests.contract.simulated import reset
from tests.contract.small_source import SmallSource
from tests.contract.store_jobs import Queue, create_tenant
from tests.loopback import loopback_only
from tests.object_store import ObjectStore, object_store
from tests.postgres import SharedPostgres, owner_url
from workers.embedding.embedder import SentenceTransformerEmbedder
from workers.embedding.settings import EmbedderSettings

_TABLES = (
    "answers",
    "ledger",
    "evaluations",
    "replies",
    "reply_claims",
    "erased_runs",
    "document_files",
    "turns",
    "llm_batch_calls",
    "llm_batches",
    "viewpoint_graphs",
    "tenants",
    "request_rates",
)
_APPEND_ONLY = ("audit_log", "audit_contents", "audit_heads")
_EMPTY = "; ".join(
    (
        *(f"DELETE FROM {table}" for table in _TABLES),  # noqa: S608 - put together from constants
        "SET session_replication_role = replica",  # without the triggers that refuse it
        *(f"DELETE FROM {table}" for table in _APPEND_ONLY),  # noqa: S608 - put together from constants
        "SET session_replication_role = DEFAULT",
    )
)
"""Statements that empty all tables, with cascades. TRUNCATE would take twenty times as long, because it creates new
files for every table and index."""


@pytest.fixture(scope="session")
def postgres(run_folder: Path) -> Iterator[SharedPostgres]:
    server = SharedPostgres(run_folder)
    server.start()
    yield server
    server.stop()


@pytest.fixture
async def empty_database_url(postgres: SharedPostgres) -> str:
    """A database without tables."""
    return await postgres.empty_database()


@pytest.fixture(scope="session")
def database_url(postgres: SharedPostgres) -> str:
    """URL of the database of this worker."""
    return asyncio.run(postgres.migrated_database())


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """Migrated and empty."""
    owner = await asyncpg.connect(owner_url(database_url))
    await owner.execute(_EMPTY)
    await owner.close()
    async with Database(DatabaseSettings(url=SecretStr(database_url))) as opened_database:
        yield opened_database


@pytest.fixture
async def queue(database: Database) -> Queue:
    """The stores of jobs, with one tenant."""
    await create_tenant(database)
    return Queue(database)


@pytest.fixture
async def source() -> AsyncIterator[SmallSource]:
    async with SmallSource() as small_source:
        yield small_source


@pytest.fixture(scope="session")
def simulator_process() -> Iterator[Simulator]:
    with Simulator(latency_mean=0) as process:
        yield process


@pytest.fixture
def simulator(simulator_process: Simulator) -> Simulator:
    """Return the simulated language model, reset: without latency, faults and history."""
    return reset(simulator_process)


@pytest.fixture(scope="session")
def running_world() -> Iterator[tuple[OutsideWorld, dict[str, dict[str, Any]]]]:
    """All simulated services, and the knobs that they start with."""
    from simulator.outside.server import SERVICES

    library = Library(SAMPLE)
    with OutsideWorld(with_limits=False) as world:
        services = [make(library).name for make in SERVICES]
        yield world, {service: world.read_knobs(service) for service in services}


@pytest.fixture
def world(running_world: tuple[OutsideWorld, dict[str, dict[str, Any]]]) -> Iterator[OutsideWorld]:
    """All simulated services as new: without limits, latency and faults. The test fails if a packet leaves loopback."""
    world, knobs = running_world
    for service, knob_values in knobs.items():
        world.configure(service, **knob_values)
    world.reset()
    with loopback_only() as outbound:
        yield world
    assert outbound.attempts == []


@pytest.fixture(scope="session")
def datasets_process() -> Iterator[SimulatedDatasets]:
    with SimulatedDatasets() as running:
        yield running


@pytest.fixture
def services(datasets_process: SimulatedDatasets) -> SimulatedDatasets:
    """The simulated hosts of data sets as new: in their first edition, without faults."""
    datasets_process.reset()
    return datasets_process


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    """Start an object store with the S3 protocol."""
    with object_store() as running:
        yield running


@pytest.fixture(scope="session")
def embedding_model() -> Iterator[SentenceTransformerEmbedder]:
    """Return the packaged embedding model."""
    with closing(SentenceTransformerEmbedder(EmbedderSettings())) as embedder:
        yield embedder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium that is steered without an event loop."""
    with sync_playwright() as running:
        browser = running.chromium.launch(**launch_options())
        yield browser
        browser.close()
