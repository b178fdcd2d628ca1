"""The base graph as a part of segments: what it holds, that equal papers make equal files, and odd citations."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from assayer.models import Filters, NamedContent, PaperId
from index import Corpus, VersionStore, build_corpus, build_shards, read_manifest
from index.building.update import read_delta, update_corpus
from index.hashing import hash64
from index.segments.citation_graph import CitationGraph, write_citations
from index.segments.segment import Segment
from tests.corpus_papers import RECORDS, record, write_jsonl
from workers.embedding.hashing_embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()
NET = record(
    20,
    title="HedgeNet: Graph Neural Networks for Wild Bees",
    abstract="We propose HedgeNet for wild bees. Our results show that it counts more of them than people do.",
)
HEIR = record(
    21,
    title="Counting hoverflies at night",
    abstract="We build on HedgeNet to count hoverflies at night. Graph neural networks see them in the dark.",
    references=["bee-20"],
)


async def build_example_corpus(tmp_path: Path, records: Sequence[dict[str, Any]], name: str = "corpus") -> Path:
    await build_corpus([write_jsonl(tmp_path / f"{name}.jsonl", records)], tmp_path / name, EMBEDDER)
    return tmp_path / name


def list_segments(directory: Path) -> list[Segment]:
    versions = VersionStore(directory)
    manifest = read_manifest(versions.find_current_path())
    none = np.empty(0, np.int64)
    return [
        Segment(versions.get_segment_path(segment.name), segment, none, manifest.exact_up_to)
        for segment in manifest.segments
    ]


def index_by_name(contents: Sequence[NamedContent]) -> dict[str, NamedContent]:
    return {item.name: item for item in contents}


@pytest.mark.parametrize("shards", [0, 3])
async def test_paper_contents_include_names_sentences_and_claims(tmp_path: Path, shards: int) -> None:
    source = write_jsonl(tmp_path / "papers.jsonl", [*RECORDS, NET, HEIR])
    if shards:
        await build_shards([source], shards, tmp_path / "corpus", EMBEDDER)
    else:
        await build_corpus([source], tmp_path / "corpus", EMBEDDER)
    corpus = Corpus.open(tmp_path / "corpus", EMBEDDER)
    contents = await corpus.contents([PaperId("bee-20"), PaperId("bee-21"), PaperId("nobody")])
    newest = [paper.id for paper in await corpus.find_papers_naming("Graph Neural Network", 9, Filters())]
    papers_naming = await corpus.find_papers_naming("hedgenet", 9, Filters(without=frozenset({PaperId("bee-21")})))
    assert await corpus.find_papers_naming("of nobody", 9, Filters()) == []
    corpus.close()
    assert newest == ["bee-21", "bee-20"]
    assert [paper.id for paper in papers_naming] == ["bee-20"]
    assert list(contents) == ["bee-20", "bee-21"]
    net, heir = index_by_name(contents[PaperId("bee-20")].named), index_by_name(contents[PaperId("bee-21")].named)
    assert net["HedgeNet"].introduced
    assert heir["HedgeNet"].built_on
    assert heir["HedgeNet"].sentence == "We build on HedgeNet to count hoverflies at night."
    assert contents[PaperId("bee-20")].claims == ("Our results show that it counts more of them than people do.",)


async def test_same_papers_in_any_order_produce_identical_files(tmp_path: Path) -> None:
    first_corpus = await build_example_corpus(tmp_path, [*RECORDS, NET, HEIR], "one")
    second_corpus = await build_example_corpus(tmp_path, [HEIR, NET, *RECORDS[::-1]], "other")
    parts = [
        {path.name: path.read_bytes() for path in next(iter((place / "segments").iterdir()), place).glob("contents/*")}
        for place in (first_corpus, second_corpus)
    ]
    assert len(parts[0]) == 9
    assert parts[0] == parts[1]


async def test_update_adds_names_of_new_papers_without_changing_other_segments(tmp_path: Path) -> None:
    directory = await build_example_corpus(tmp_path, [*(record(number) for number in range(30, 60)), NET])
    before = list_segments(directory)
    await update_corpus(read_delta([write_jsonl(tmp_path / "new.jsonl", [HEIR])]), directory, EMBEDDER)
    after = list_segments(directory)
    assert after[0].entry == before[0].entry
    assert [entry.papers for entry in (segment.entry for segment in after)] == [31, 1]
    corpus = Corpus.open(directory, EMBEDDER)
    assert [item.id for item in await corpus.find_papers_naming("hedgenet", 9, Filters())] == ["bee-21", "bee-20"]
    corpus.close()


async def test_node_and_edge_counts_match_segment_contents(tmp_path: Path) -> None:
    (segment,) = list_segments(await build_example_corpus(tmp_path, [NET, HEIR]))
    counts, contents = segment.entry.graph, [segment.get_contents(row) for row in range(2)]
    named_contents = [item for paper in contents for item in paper.named]
    assert counts.claims == sum(len(content.claims) for content in contents)
    assert (counts.uses, counts.concerns) == tuple(
        sum(item.kind == kind for item in named_contents) for kind in ("method", "concept")
    )
    assert (counts.introduces, counts.builds_on) == (
        sum(item.introduced for item in named_contents),
        sum(item.built_on for item in named_contents),
    )
    assert counts.citations == 1
    assert counts.methods == len({item.name for item in named_contents if item.kind == "method"})


async def test_papers_without_names_or_citations_produce_a_readable_segment(tmp_path: Path) -> None:
    (segment,) = list_segments(await build_example_corpus(tmp_path, [record(1, title="?", abstract="...")]))
    assert segment.get_contents(0).named == ()
    assert segment.contents.find_papers_naming(7).tolist() == []
    assert len(segment.citations) == 0


def test_heavily_cited_paper_in_a_cycle_is_found_from_all_citing_papers(tmp_path: Path) -> None:
    citing = [["hub"]] * 100_000
    write_citations([pa.array([[f"p{number}" for number in range(100_000)], *citing], pa.list_(pa.string()))], tmp_path)
    graph = CitationGraph(tmp_path)
    (hub,) = hash64(["hub"]).tolist()
    assert len(graph) == 200_000
    assert np.array_equal(graph.find_citing_rows(hub), np.arange(1, 100_001))
    assert len(graph.get_cited_hashes(0)) == 100_000
