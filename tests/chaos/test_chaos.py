"""Small runs of benchmarks.chaos: real processes, killed, and a reader of the tables who finds nothing to object to."""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.chaos.redis import find_redis_program
from benchmarks.chaos.run_summary import summarise
from benchmarks.chaos.running import Chaos, Ground, Outcome, run
from index import build_corpus
from tests.corpus_papers import ON_TOPIC, RECORDS, write_jsonl
from workers.embedding.embedder import SentenceTransformerEmbedder
from workers.embedding.settings import EmbedderSettings

pytestmark = pytest.mark.slow

TEXTS = [f"Variant {number} of an idea. {ON_TOPIC}" for number in range(8)]


@pytest.fixture(scope="module")
def corpus() -> Iterator[Path]:
    with (
        tempfile.TemporaryDirectory(prefix="assayer-bees-") as folder,
        closing(SentenceTransformerEmbedder(EmbedderSettings())) as embedder,
    ):
        papers = write_jsonl(Path(folder) / "papers.jsonl", RECORDS)
        asyncio.run(build_corpus([papers], Path(folder) / "corpus", embedder))
        yield Path(folder) / "corpus"


@pytest.fixture
def home() -> Iterator[Path]:
    # Not pytest's own temporary directory: as root the database's server runs as a user who may not pass through it.
    with tempfile.TemporaryDirectory(prefix="assayer-chaos-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


def chaos(ground: Ground, kinds: tuple[str, ...], corpus: Path) -> Chaos:
    """Return a chaos run that kills each kind of process once."""
    return Chaos(
        seed=7,
        ground=ground,
        kinds=kinds,
        texts=TEXTS,
        corpus=corpus,
        seconds=3.0 * len(kinds),
        max_kills=len(kinds),
        mean_pause=1.0,
        latency=0.7,
        settling_seconds=300.0,
    )


def held(outcome: Outcome, kinds: tuple[str, ...]) -> None:
    found = outcome.findings
    assert found.violations == [], summarise(outcome)
    assert sorted(killing.kind for killing in outcome.kills) == sorted(kinds)
    assert found.accepted == len(TEXTS)
    assert found.states.keys() <= {"succeeded", "cancelled"}, summarise(outcome)
    # Only what had not been stored at a kill is asked again, and that is no more than was ever in flight at once.
    assert outcome.stats.repeated_answers <= len(outcome.kills) * outcome.stats.peak_in_flight, summarise(outcome)


async def test_no_work_is_lost_or_duplicated_when_service_and_database_are_killed(corpus: Path, home: Path) -> None:
    kinds = ("service", "postgres")
    held(await run(chaos("one-process", kinds, corpus), home), kinds)


async def test_no_work_is_lost_or_duplicated_when_ray_pools_are_killed(corpus: Path, home: Path) -> None:
    kinds = ("evaluator", "ingress", "postgres")
    held(await run(chaos("ray", kinds, corpus), home), kinds)


async def test_killed_head_and_node_are_replaced_without_losing_work(corpus: Path, home: Path) -> None:
    try:
        find_redis_program()
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    kinds = ("head", "pools-0")
    plan = chaos("rayservice", kinds, corpus)._replace(has_small_pools=True, pods=1, seconds=20.0, with_faults=False)
    outcome = await run(plan, home)
    held(outcome, kinds)
    assert outcome.gave_up == "", summarise(outcome)
