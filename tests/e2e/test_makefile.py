"""`make evaluate` in a clone that is installed already."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from index import Manifest, VersionStore, read_manifest
from tests.corpus_papers import RECORDS, write_jsonl
from tests.e2e.program import CORPUS, ROOT, Homes, Program, read_reports, run_process

pytestmark = pytest.mark.slow


@pytest.fixture
def clone(homes: Homes) -> Iterator[Path]:
    """The files that `make evaluate` reads, and a data directory without a corpus in `home`."""
    clone = homes.folder / "clone"
    (clone / "home").mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", clone)
    shutil.copy(ROOT / "pyproject.toml", clone)
    (clone / "examples").symlink_to(ROOT / "examples")
    yield clone
    Program(clone / "home").stop_server()


def make_evaluate(clone: Path) -> str:
    own = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAYER_", "OPENAI_", "MAKE"))}
    command = ["make", "--old-file=.venv/.installed", f"BIN={Path(sys.executable).parent}", "evaluate"]
    result = run_process(command, cwd=clone, env={**own, "ASSAYER_HOME": str(clone / "home")})
    assert result.code == 0, result.err
    return result.out


def read_corpus_manifest(corpus: Path) -> Manifest:
    return read_manifest(VersionStore(corpus).find_current_path())


def list_sources(corpus: Path) -> list[str]:
    return [source.name for source in read_corpus_manifest(corpus).sources]


def list_corpus_versions(folder: Path) -> list[str]:
    """Version of the corpus of each report."""
    return [report["provenance"]["corpus_version"] for report in read_reports(folder).values()]


def test_evaluate_make_target_uses_example_corpus_and_keeps_an_existing_user_corpus(clone: Path) -> None:
    own_corpus = clone / "home" / "corpus"
    make_evaluate(clone)
    examples = read_corpus_manifest(own_corpus).version
    assert list_sources(own_corpus) == [CORPUS.name]
    assert list_corpus_versions(clone / "out") == [examples] * 3

    source = write_jsonl(clone / "mine.jsonl", RECORDS)
    assert Program(clone / "home").run("corpus", "build", source).code == 0
    output = make_evaluate(clone)
    assert list_sources(own_corpus) == ["mine.jsonl"]
    assert "Already built: 84 papers" in output
    assert list_corpus_versions(clone / "out") == [examples] * 3
