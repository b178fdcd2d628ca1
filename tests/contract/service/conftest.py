"""A small corpus, built once, and a simulated language model without a history."""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.simulator.process import Simulator
from index.building.build import build_corpus
from tests.contract.simulated import fresh
from workers.embedding.hashing_embedder import HashingEmbedder

_EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="session")
def corpus_path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="assayer-corpus-") as folder:
        path = Path(folder) / "corpus"
        asyncio.run(build_corpus([_EXAMPLES / "corpus.jsonl"], path, HashingEmbedder()))
        yield path


@pytest.fixture(scope="session")
def simulator_process() -> Iterator[Simulator]:
    with Simulator(latency_mean=0) as process:
        yield process


@pytest.fixture
def simulator(simulator_process: Simulator) -> Simulator:
    return fresh(simulator_process)
