"""`assayer corpus search NAME --naming` over a corpus on disk: what it lists, filters, and refuses."""

import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cluster.cli.main import app
from index import build_corpus
from tests.corpus_papers import RECORDS, record, write_jsonl
from workers.embedding.embedder import SentenceTransformerEmbedder
from workers.embedding.settings import EmbedderSettings

NET = record(
    20,
    title="HedgeNet: Graph Neural Networks for Wild Bees",
    abstract="We propose HedgeNet for wild bees. Our results show that it counts more of them than people do.",
    publication_date="2021-05-01",
)
HEIR = record(
    21,
    title="Counting hoverflies at night",
    abstract="We build on HedgeNet to count hoverflies at night. Graph neural networks see them in the dark.",
    publication_date="2023-05-01",
)


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    source = write_jsonl(tmp_path / "papers.jsonl", [*RECORDS[:4], NET, HEIR])
    embedder = SentenceTransformerEmbedder(EmbedderSettings())
    try:
        asyncio.run(build_corpus([source], tmp_path / "corpus", embedder))
    finally:
        embedder.close()
    monkeypatch.setenv("ASSAYER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ASSAYER_CORPUS__PATH", str(tmp_path / "corpus"))
    return tmp_path / "corpus"


def search(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["corpus", "search", *arguments])


def test_papers_naming_the_term_are_newest_first_and_filterable(corpus: Path) -> None:
    result = search("graph neural network", "--naming")
    assert result.exit_code == 0, result.output
    assert result.output.index("Counting hoverflies") < result.output.index("HedgeNet: Graph")
    assert "cosine" not in result.output
    earlier = search("hedgenet", "--naming", "--before", "2022-01-01")
    assert "HedgeNet: Graph" in earlier.output
    assert "Counting hoverflies" not in earlier.output
    single_result = search("HEDGENET", "--naming", "--limit", "1", "--without", "bee-21")
    assert "HedgeNet: Graph" in single_result.output
    assert "No paper in the corpus graph mentions the query" in search("transformers of nobody", "--naming").output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("", "--naming"), "is not a name"),
        (("?! …", "--naming"), "is not a name"),
        (("hedgenet", "--naming"), "corpus"),
        (("hedgenet", "--naming", "--snippets"), "--naming cannot be combined"),
        (("hedgenet", "--naming", "--before", "soon"), "date for --before"),
        (("hedgenet", "--naming", "--after", "2023-01-02", "--before", "2023-01-01"), "is later than --before"),
    ],
)
def test_invalid_options_and_then_a_missing_corpus_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.setenv("ASSAYER_HOME", str(tmp_path))
    result = search(*arguments)
    assert result.exit_code != 0
    assert message in f"{result.output} {result.exception}"
