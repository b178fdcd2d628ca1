"""bge-m3 in the installed program: a corpus with lexical weights built, searched, updated by a night, in shards.

The model is a tiny random one: what is shown is that weights are kept and used, not what they are worth.
"""

from pathlib import Path
from typing import NamedTuple

import pytest

from index.records.paper_record import PaperRecord
from index.records.parquet_records import RecordWriter
from tests.contract.bge_models import create_small_bge_m3, create_small_llm_reranker
from tests.corpus_papers import record, write_jsonl
from tests.e2e.program import Ended, Homes, Program

pytestmark = pytest.mark.slow


class WeighedRun(NamedTuple):
    program: Program
    built: Ended
    info: Ended
    found: Ended
    before: Ended
    night: Ended
    after: Ended


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return create_small_bge_m3(tmp_path_factory.mktemp("models") / "bge-m3")


@pytest.fixture(scope="module", params=["whole", "shards"])
def weighed_run(homes: Homes, model: Path, request: pytest.FixtureRequest) -> WeighedRun:
    program = homes.create_home(f"bge-{request.param}")
    program = program.with_settings(
        CORPUS__PATH=program.home / "corpus",
        EMBEDDER__LIBRARY="FlagEmbedding",
        EMBEDDER__MODEL=model,
        EMBEDDER__MAX_TOKENS=512,
    )
    source = write_jsonl(program.home / "papers.jsonl", [record(number) for number in range(24)])
    shards = ("--shards", 2) if request.param == "shards" else ()
    build = program.run("corpus", "build", source, *shards)
    search = ("corpus", "search", "moths at unlit stretches of road verges", "--limit", 30)
    ingest = program.home / "ingest"
    (ingest / "upserts").mkdir(parents=True)
    with RecordWriter(ingest / "upserts" / "part-00000.parquet") as file:
        file.write(PaperRecord.model_validate(record(50, title="Moths again at unlit road verges")))
    return WeighedRun(
        program,
        build,
        program.run("corpus", "info"),
        program.run(*search),
        program.run(*search, "--before", "2015-06-30"),
        program.run("corpus", "nightly", ingest, "--no-fetch"),
        program.run(*search),
    )


def test_corpus_is_built_with_lexical_weights(weighed_run: WeighedRun) -> None:
    assert (weighed_run.built.code, weighed_run.built.err) == (0, "")
    assert "24 papers" in weighed_run.built.out
    assert "64 dimensions, with lexical weights" in weighed_run.info.out


def test_a_search_keeps_to_its_cutoff(weighed_run: WeighedRun) -> None:
    assert (weighed_run.found.code, weighed_run.found.err) == (0, "")
    assert "bee-17" in weighed_run.found.out  # of 2015-09
    assert (weighed_run.before.code, weighed_run.before.err) == (0, "")
    assert "bee-03" in weighed_run.before.out
    assert "bee-17" not in weighed_run.before.out


def test_nightly_update_publishes_new_paper(weighed_run: WeighedRun) -> None:
    assert (weighed_run.night.code, weighed_run.night.err) == (0, "")
    assert "1 new" in weighed_run.night.out
    assert "bee-50" not in weighed_run.found.out
    assert "bee-50" in weighed_run.after.out


def test_library_mismatch_with_corpus_is_rejected_with_required_setting(weighed_run: WeighedRun) -> None:
    refusal = weighed_run.program.with_settings(EMBEDDER__LIBRARY="sentence-transformers").run(
        "corpus", "search", "moths"
    )
    assert (refusal.code, refusal.out) == (2, "")
    assert "ASSAYER_EMBEDDER__LIBRARY=FlagEmbedding" in refusal.err
    assert len(refusal.err.splitlines()) == 1


def test_doctor_reports_both_models_and_missing_sparse_head(homes: Homes, model: Path, tmp_path: Path) -> None:
    gemma = create_small_llm_reranker(tmp_path / "gemma")
    program = homes.create_home("bge-doctor").with_settings(
        EMBEDDER__LIBRARY="FlagEmbedding",
        EMBEDDER__MODEL=model,
        RERANKER__LIBRARY="FlagEmbedding",
        RERANKER__MODEL=gemma,
    )
    doctor_output = program.run("doctor").out
    assert "bge-m3, with FlagEmbedding 1." in doctor_output
    assert "gemma, with FlagEmbedding 1." in doctor_output
    bare = create_small_bge_m3(tmp_path / "bare", with_heads=False)
    assert "no sparse_linear.pt" in " ".join(program.with_settings(EMBEDDER__MODEL=bare).run("doctor").out.split())


def test_packaged_model_is_rejected_for_flag_embedding(homes: Homes) -> None:
    result = homes.create_home("bge-packaged").with_settings(EMBEDDER__LIBRARY="FlagEmbedding").run("corpus", "info")
    assert result.code == 2
    assert "set ASSAYER_EMBEDDER__MODEL to BAAI/bge-m3" in result.err
