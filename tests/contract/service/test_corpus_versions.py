"""An evaluation ends with the version of the corpus that it began with, whoever does it."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from assayer.errors import CorpusError
from assayer.ideas.parsing import parse_idea
from assayer.models import EvaluationId, Report
from assayer.run.no_progress import NoProgress
from cluster.engine import Engine, open_engine
from cluster.engine_components import SharedComponents
from cluster.run_request import RunRequest
from cluster.settings import Settings
from index import BuildOptions, Delta, VersionStore, build_corpus, update_corpus
from index.records.paper_record import PaperRecord
from orchestrator.store import Database
from tests.corpus_papers import ON_TOPIC, RECORDS, record, write_jsonl
from tests.polling import wait_until_async
from workers.embedding.hashing_embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()
IDEA = parse_idea(ON_TOPIC * 2, "bees.txt")
METHOD = "scholareval"


@pytest.fixture
async def settings(database_url: str, database: Database, tmp_path: Path) -> Settings:
    await build_corpus([write_jsonl(tmp_path / "papers.jsonl", RECORDS)], tmp_path / "corpus", EMBEDDER)
    return Settings.model_validate({"home": tmp_path, "database": {"url": SecretStr(database_url)}})


async def open_other_engine(settings: Settings, stack: AsyncExitStack) -> Engine:
    """Open an engine as another process would."""
    opening = open_engine(settings, (METHOD,), for_service=True, components=SharedComponents(embedder=EMBEDDER))
    return await stack.enter_async_context(opening)


async def publish(settings: Settings, title: str) -> str:
    """A version with another title, which leaves none of those before on the disk that nobody reads."""
    delta = Delta([PaperRecord.model_validate(record(3, title=title))])
    done = await update_corpus(delta, settings.corpus_path, EMBEDDER, options=BuildOptions(keep=1))
    return done.manifest.version


async def evaluate(engine: Engine, corpus: str = "") -> tuple[Report, dict[str, Any]]:
    """Evaluate the idea, and return the report with the request pinned at the start."""
    pinned: dict[str, Any] = {}

    async def begun(run: EvaluationId, request: dict[str, Any]) -> None:
        pinned.update(request)

    run_request = RunRequest(job="job_1", corpus=corpus, on_start=begun)
    evaluation = await engine.evaluate(IDEA, METHOD, None, NoProgress(), run_request)
    return evaluation.report, pinned


async def test_resumed_evaluation_keeps_its_corpus_version(settings: Settings) -> None:
    version = VersionStore(settings.corpus_path).read_current_version()
    async with AsyncExitStack() as stack:
        engine = await open_other_engine(settings, stack)
        first, pinned = await evaluate(engine)
        later_version = await publish(settings, "Lichens on walls")
        other_engine = await open_other_engine(settings, stack)
        again, _ = await evaluate(other_engine, pinned["corpus"])
        anew, now = await evaluate(other_engine)
    assert pinned["corpus"] == version != later_version
    assert again.evaluation_id == first.evaluation_id
    assert again.provenance.corpus_version == first.provenance.corpus_version
    assert now["corpus"] == anew.provenance.corpus_version == later_version
    assert anew.evaluation_id != first.evaluation_id
    assert not any("version of the corpus" in item.reason for item in again.coverage.dropped)


async def test_evaluation_restarts_with_the_current_corpus_when_its_version_is_gone(settings: Settings) -> None:
    old_version = VersionStore(settings.corpus_path).read_current_version()
    current = await publish(settings, "Lichens on walls")
    async with AsyncExitStack() as stack:
        report, pinned = await evaluate(await open_other_engine(settings, stack), old_version)
    assert pinned["corpus"] == report.provenance.corpus_version == current
    (dropped_start,) = [item for item in report.coverage.dropped if item.item_kind == "start of the evaluation"]
    assert "restarted with the current one" in dropped_start.reason


async def test_running_service_switches_to_a_new_corpus_version(settings: Settings) -> None:
    async with AsyncExitStack() as stack:
        engine = await open_other_engine(settings, stack)
        before, _ = await evaluate(engine)
        later_version = await publish(settings, "Lichens on walls")
        await engine.corpora.current()
        await wait_until_async(engine.corpora.current, lambda corpus: corpus.version == later_version)
        after, _ = await evaluate(engine)
    assert before.provenance.corpus_version != later_version
    assert after.provenance.corpus_version == later_version


async def test_service_without_a_corpus_reports_it_until_a_corpus_is_built(settings: Settings, tmp_path: Path) -> None:
    other_settings = settings.model_copy(
        update={"corpus": settings.corpus.model_copy(update={"path": tmp_path / "none"})}
    )
    async with AsyncExitStack() as stack:
        engine = await open_other_engine(other_settings, stack)
        with pytest.raises(CorpusError, match="There is no corpus"):
            await evaluate(engine)
        assert isinstance((await engine.find_unavailable_methods())[METHOD], CorpusError)
        await build_corpus([tmp_path / "papers.jsonl"], tmp_path / "none", EMBEDDER)
        assert (await engine.find_unavailable_methods())[METHOD] is None
        report, _ = await evaluate(engine)
    assert report.provenance.corpus_version == VersionStore(tmp_path / "none").read_current_version()
