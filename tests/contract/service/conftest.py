"""A small corpus, built once, a simulated language model without a history, and settings of a service with both."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from cluster.settings import Settings
from index.building.build import build_corpus
from orchestrator.store import Database
from simulator.process import Simulator
from tests.contract.service.running_service import RunningService, run_service
from workers.embedding.hashing_embedder import HashingEmbedder

_EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="session")
def corpus_path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="assayer-corpus-") as folder:
        path = Path(folder) / "corpus"
        asyncio.run(build_corpus([_EXAMPLES / "corpus.jsonl"], path, HashingEmbedder()))
        yield path


@pytest.fixture
def settings(
    database_url: str, database: Database, corpus_path: Path, simulator: Simulator, tmp_path: Path
) -> Settings:
    """Settings of a service over an empty database."""
    return Settings.model_validate(
        {
            "home": tmp_path,
            "database": {"url": SecretStr(database_url)},
            "corpus": {"path": corpus_path},
            "keys": {"requests_per_minute": 1_000_000, "requests_per_minute_per_tenant": 1_000_000},
            "llm": {
                "base_url": simulator.base_url,
                "model": "simulated",
                "api_key": "sk-test",
                "prices": {"simulated": [1.0, 2.0]},
            },
        }
    )


@pytest.fixture
async def running(settings: Settings) -> AsyncIterator[RunningService]:
    async with run_service(settings) as service:
        yield service
