"""Corpora of the citation graphs, made by the program's own builder and kept for the next run."""

import json
from pathlib import Path

from assayer.ports import Embedder
from benchmarks.quality.citations.records import Graph
from index import Corpus, build_corpus

__all__ = ["open_corpus"]


async def open_corpus(graph: Graph, directory: Path, embedder: Embedder) -> Corpus:
    """Built in the directory unless it is there: minutes of embedding. Papers without an abstract are left out."""
    source = _written(graph, directory)
    await build_corpus([source], directory / "corpus", embedder)
    return Corpus.open(directory / "corpus", embedder)


def _written(graph: Graph, directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    source = directory / "records.jsonl"
    text = "".join(json.dumps(one, sort_keys=True) + "\n" for one in graph.records)
    if not source.is_file() or source.read_text(encoding="utf-8") != text:
        source.write_text(text, encoding="utf-8")
    return source
