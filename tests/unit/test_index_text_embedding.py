from pathlib import Path

import numpy as np
import pytest

from assayer.models import PaperId
from assayer.ports import Vectors
from index import BuildOptions, VersionStore, build_corpus, read_delta, read_manifest, update_corpus
from index.building.gathered_vectors import RecordVectors
from index.building.text_embedding import KnownVectors, VectorBlock
from index.hashing import hash64
from index.records.paper_record import PaperRecord
from index.records.parquet_records import RecordVector, RecordWithVector
from index.search.version_reader import VersionReader
from index.segments.passages import build_paper_text
from tests.corpus_papers import RECORDS, record, write_jsonl
from tests.unit.index_building import RefusingEmbedder
from workers.embedding.hashing_embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()


def open_reader(directory: Path) -> VersionReader:
    versions = VersionStore(directory)
    return VersionReader.open(versions, read_manifest(versions.find_current_path()))


def make_unit_vectors(count: int) -> Vectors:
    random_vectors = np.random.default_rng(1).normal(size=(count, EMBEDDER.dimensions)).astype(np.float32)
    normed: Vectors = random_vectors / np.linalg.norm(random_vectors, axis=1, keepdims=True)
    return normed


def test_known_vectors_are_copied_and_missing_rows_are_returned() -> None:
    first, second = np.eye(4, dtype=np.float32), np.full((2, 4), 0.5, np.float32)
    known_vectors = KnownVectors(
        [
            VectorBlock(hash64(["a", "b"]), np.array([2, 0]), first),
            VectorBlock(hash64(["b", "c"]), np.array([0, 1]), second),
        ]
    )
    vectors = np.zeros((5, 4), np.float32)
    missing_rows = known_vectors.fill(vectors, hash64(["x", "c", "b", "a", "a"]), np.array([0, 1, 2, 3]))
    assert missing_rows.tolist() == [0]
    assert vectors.tolist() == [[0] * 4, [0.5] * 4, first[0].tolist(), first[2].tolist(), [0] * 4]


def test_ready_vectors_are_found_by_paper_text_and_change_the_signature(tmp_path: Path) -> None:
    papers = [PaperRecord.model_validate(record(number)) for number in range(3)]
    signatures = {}
    for scale in (1.0, 0.5):
        files = [
            RecordWithVector(paper, RecordVector(np.full(4, scale * n, np.float32), "m"))
            for n, paper in enumerate(papers)
        ]
        with RecordVectors(tmp_path) as ready:
            assert list(ready.collect([*files, RecordWithVector(papers[0])])) == [*papers, papers[0]]
            known_vectors = ready.get_vectors()
        vectors = np.zeros((1, 4), np.float32)
        missing_rows = known_vectors.fill(
            vectors, hash64([build_paper_text(papers[2].title, papers[2].abstract)]), np.arange(1)
        )
        assert not len(missing_rows)
        signatures[known_vectors.signature] = vectors[0, 0].item()
    assert sorted(signatures.values()) == [1.0, 2.0]
    assert not list(tmp_path.iterdir())


async def test_build_embeds_only_papers_without_ready_vectors(tmp_path: Path) -> None:
    vectors = make_unit_vectors(3)
    papers = [record(number, vector=vectors[number].tolist(), vector_model=EMBEDDER.name) for number in range(3)]
    paper_without_vector = PaperRecord.model_validate(record(5))
    source = write_jsonl(tmp_path / "papers.jsonl", [*papers, record(5)])
    embedder = RefusingEmbedder(build_paper_text(paper_without_vector.title, paper_without_vector.abstract))
    await build_corpus([source], tmp_path / "corpus", embedder)
    ids = [PaperId(f"bee-{number:02}") for number in range(3)]
    for vector, item in zip(vectors, ids, strict=True):
        assert open_reader(tmp_path / "corpus").compute_similarities([item], vector) == pytest.approx(
            {item: 1.0}, abs=0.001
        )


async def test_different_vectors_for_same_papers_produce_different_segments(tmp_path: Path) -> None:
    vectors, names = make_unit_vectors(2), set()
    for vector in vectors:
        papers = [record(0, vector=vector.tolist(), vector_model=EMBEDDER.name), record(1)]
        source = write_jsonl(tmp_path / "papers.jsonl", papers)
        manifest = (await build_corpus([source], tmp_path / "corpus", EMBEDDER)).manifest
        names.add(manifest.segments[0].name)
    anew = await build_corpus([source], tmp_path / "other", EMBEDDER, options=BuildOptions(embed_anew=True))
    assert len({*names, anew.manifest.segments[0].name}) == 3


async def test_update_uses_ready_vectors(tmp_path: Path) -> None:
    await build_corpus([write_jsonl(tmp_path / "papers.jsonl", RECORDS)], tmp_path / "corpus", EMBEDDER)
    (vector,) = make_unit_vectors(1)
    night = write_jsonl(tmp_path / "night.jsonl", [record(20, vector=vector.tolist(), vector_model=EMBEDDER.name)])
    delta = read_delta([night], None, EMBEDDER)
    summary = await update_corpus(delta, tmp_path / "corpus", EMBEDDER)
    assert summary.manifest.changes is not None
    assert (summary.manifest.changes.new, summary.manifest.changes.embedded) == (1, 0)
    assert summary.manifest.papers == len(RECORDS) + 1
    reader = open_reader(tmp_path / "corpus")
    known_ids = [PaperId("bee-20")]
    assert reader.compute_similarities(known_ids, vector) == pytest.approx({"bee-20": 1.0}, abs=0.001)
