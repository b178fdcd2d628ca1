"""Search and building on GPUs, with the CPU standing in for them: everything but their kernels."""

import datetime as dt
import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import ConfigurationError
from assayer.models import Window
from assayer.ports import Vectors
from index import (
    BuildOptions,
    Corpus,
    Delta,
    VersionStore,
    build_corpus,
    build_shards,
    faiss_build,
    read_manifest,
    update_corpus,
)
from index.building import build, version_builder
from index.nightly import NightlyHistory, NightlyUpdate
from index.search import local_reader
from index.segments import gpus
from index.segments.approximate_index import ApproximateIndexKind
from index.segments.gpu_search import GpuVectors
from index.segments.gpus import MAX_SELECTED, Device, FaissGpus, GpuMatches, Gpus, open_gpus
from index.segments.row_filter import RowFilter
from index.segments.vector_index import (
    INDEX_FILE,
    VectorIndex,
    VectorIndexParameters,
    build_vector_index,
    create_vectors_file,
)
from index.versions.manifest import RejectionCount
from tests.corpus_papers import RECORDS, record, write_jsonl
from tests.in_memory import GpuStandIn
from workers.embedding.hashing_embedder import HashingEmbedder

ROWS, DIMENSIONS, LIMIT = 6_000, 32, 10
EMBEDDER = HashingEmbedder()
DEVICES: tuple[Device, ...] = ("cpu", "cuda")
FEWEST = 500
"""Rows on each GPU: of four, three are asked for the first 4,000 rows."""


def make_unit_vectors(rows: int, seed: int) -> Vectors:
    random_vectors = np.random.default_rng(seed).normal(size=(rows, DIMENSIONS))
    unit: np.ndarray = random_vectors / np.linalg.norm(random_vectors, axis=1, keepdims=True)
    return unit.astype(np.float16)


class CountingGpus(GpuStandIn):
    """GPU stand-in that records the rows stored on and requested from each GPU."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.stored_blocks: list[tuple[int, int]] = []
        self.searches: list[tuple[int, int]] = []

    def put(self, gpu: int, rows: Vectors) -> Any:
        self.stored_blocks.append((gpu, len(rows)))
        return super().put(gpu, rows)

    def find_nearest(self, gpu: int, queries: Vectors, rows: Any, limit: int) -> GpuMatches:
        self.searches.append((gpu, len(rows)))
        return super().find_nearest(gpu, queries, rows, limit)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    dense_folder = tmp_path_factory.mktemp("dense")
    create_vectors_file(dense_folder, ROWS, DIMENSIONS)[:] = make_unit_vectors(ROWS, seed=5)
    return dense_folder


def open_exact_index(folder: Path) -> VectorIndex:
    return VectorIndex(folder, VectorIndexParameters(kind="exact", rows=ROWS), ROWS)


QUERIES = make_unit_vectors(ROWS, seed=5)[::97].astype(np.float32)


def has_same_answers(folder: Path, cards: Gpus, allowed: RowFilter, limit: int = LIMIT) -> bool:
    cpu_index, gpu_index = open_exact_index(folder), open_exact_index(folder)
    gpu_index._on_gpus = GpuVectors(gpu_index.vectors, cards, FEWEST)
    pairs = zip(
        cpu_index.find_nearest(QUERIES, limit, allowed), gpu_index.find_nearest(QUERIES, limit, allowed), strict=True
    )
    return all(
        item.rows.tolist() == gpu_item.rows.tolist() and item.similarities.tolist() == gpu_item.similarities.tolist()
        for item, gpu_item in pairs
    )


@pytest.mark.parametrize("rows", [ROWS, 4_001, 1_000, 5, 0])
@pytest.mark.parametrize("kept_share", [1.0, 0.98, 0.5, 0.02])
@pytest.mark.parametrize("count", [1, 4])
def test_gpu_answers_match_exact_search_for_any_filter(folder: Path, rows: int, kept_share: float, count: int) -> None:
    mask = np.random.default_rng(6).random(ROWS) < kept_share if kept_share < 1 else None
    assert has_same_answers(folder, GpuStandIn(count), RowFilter(rows, mask))


@given(
    rows=st.integers(0, ROWS),
    hidden=st.lists(st.tuples(st.integers(0, ROWS), st.integers(0, ROWS)), max_size=3),
    limit=st.sampled_from([1, LIMIT, 300, 3_000]),
    count=st.integers(1, 5),
)
def test_gpu_answers_match_exact_search_with_hidden_row_ranges(
    folder: Path, rows: int, hidden: Sequence[tuple[int, int]], limit: int, count: int
) -> None:
    mask = np.ones(ROWS, bool)
    for start, length in hidden:
        mask[start : start + length] = False
    assert has_same_answers(folder, GpuStandIn(count), RowFilter(rows, mask), limit)


def test_query_with_all_nearest_rows_hidden_falls_back_to_cpu(folder: Path) -> None:
    vectors = make_unit_vectors(ROWS, seed=5)
    nearness = vectors.astype(np.float32) @ QUERIES[0]
    mask = nearness < np.sort(nearness)[-MAX_SELECTED]
    gpu_vectors = GpuVectors(vectors, GpuStandIn())
    assert gpu_vectors.find_candidates(QUERIES[:1], LIMIT, RowFilter(ROWS, mask)) is None
    assert gpu_vectors.find_candidates(QUERIES[:1], LIMIT, RowFilter(ROWS)) is not None
    assert has_same_answers(folder, GpuStandIn(), RowFilter(ROWS, mask))


def test_limit_beyond_gpu_selection_falls_back_to_cpu() -> None:
    gpu_vectors = GpuVectors(make_unit_vectors(ROWS, seed=5), GpuStandIn())
    assert gpu_vectors.find_candidates(QUERIES, MAX_SELECTED, RowFilter(ROWS)) is None
    candidates = gpu_vectors.find_candidates(QUERIES, MAX_SELECTED - 8, RowFilter(ROWS))
    assert candidates is not None
    assert candidates.shape == (len(QUERIES), MAX_SELECTED)


def test_rows_are_spread_evenly_and_cutoff_queries_only_relevant_gpus() -> None:
    cards = CountingGpus(4)
    gpu_vectors = GpuVectors(make_unit_vectors(ROWS, seed=5), cards, FEWEST)
    assert sorted(cards.stored_blocks) == [(gpu, ROWS // 4) for gpu in range(4)]
    gpu_vectors.find_candidates(QUERIES, LIMIT, RowFilter(4_000))
    assert sorted(row_count for _, row_count in cards.searches) == [1_000, 1_500, 1_500]
    assert len({gpu for gpu, _ in cards.searches}) == 3


def test_small_arrays_are_placed_on_successive_gpus() -> None:
    cards = CountingGpus(3)
    for _ in range(3):
        GpuVectors(make_unit_vectors(FEWEST, seed=5), cards, FEWEST)
    assert sorted(cards.stored_blocks) == [(gpu, FEWEST) for gpu in range(3)]


def test_gpu_blocks_stay_within_the_size_limit(folder: Path) -> None:
    cards = CountingGpus(2)
    cpu_index, gpu_index = open_exact_index(folder), open_exact_index(folder)
    gpu_index._on_gpus = GpuVectors(gpu_index.vectors, cards, FEWEST, max_values=1_999 * DIMENSIONS)
    assert sorted(cards.stored_blocks) == [(0, 1_500), (0, 1_500), (1, 1_500), (1, 1_500)]
    (cpu_hits, *_), (gpu_hits, *_) = (
        index.find_nearest(QUERIES, LIMIT, RowFilter(4_000)) for index in (cpu_index, gpu_index)
    )
    assert cpu_hits.rows.tolist() == gpu_hits.rows.tolist()


@pytest.mark.parametrize("kind", ["ivf_sq8", "ivf_pq"])
def test_index_file_is_identical_with_and_without_gpu_assignment(kind: ApproximateIndexKind, tmp_path: Path) -> None:
    files = {}
    for name, assigning in (("own", None), ("given", GpuStandIn(2))):
        folder = tmp_path / name
        folder.mkdir()
        vectors = create_vectors_file(folder, ROWS, DIMENSIONS)
        vectors[:] = make_unit_vectors(ROWS, seed=5)
        parameters = build_vector_index(vectors, folder, QUERIES, 0, kind, assigning)
        assert parameters.gpus == (assigning.count if assigning else None)
        files[name] = (
            hashlib.sha256((folder / INDEX_FILE).read_bytes()).digest(),
            parameters.model_copy(update={"gpus": 0}),
        )
    assert files["own"] == files["given"]


@pytest.fixture
def uncached_gpus() -> None:
    open_gpus.cache_clear()
    faiss_build.load_faiss.cache_clear()


@pytest.mark.usefixtures("uncached_gpus")
class TestRefusal:
    """GPU configurations refused with an error message before any GPU is used."""

    def test_cpu_device_opens_no_gpu(self) -> None:
        assert open_gpus("cpu") is None

    def test_cpu_build_of_faiss_is_rejected_for_cuda(self, monkeypatch: pytest.MonkeyPatch) -> None:
        if hasattr(faiss_build.load_faiss(), "StandardGpuResources"):
            monkeypatch.delattr(faiss_build.load_faiss(), "StandardGpuResources")
        monkeypatch.setattr(gpus, "list_faiss_packages", lambda: ["faiss-cpu"])
        with pytest.raises(ConfigurationError, match="does not support GPUs") as raised:
            open_gpus("cuda")
        assert "pip install 'assayer-research[gpu]'" in raised.value.hint
        assert "ASSAYER_CORPUS__DEVICE=cpu" in raised.value.hint

    def test_conflicting_faiss_builds_are_rejected_with_a_hint(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setattr(faiss_build, "version", lambda name: {"faiss-cpu": "1", "faiss-gpu": "1"}[name])
        monkeypatch.setattr(faiss_build, "PackageNotFoundError", KeyError)
        with pytest.raises(ConfigurationError, match="faiss-cpu and faiss-gpu are both installed") as raised:
            open_gpus("cuda")
        assert "pip uninstall faiss-cpu faiss-gpu" in raised.value.hint
        assert "are both installed" in caplog.text  # whoever searches on the CPU goes on, and is told

    def test_missing_gpu_is_reported(self) -> None:
        with pytest.raises(ConfigurationError, match="CUDA finds no GPU"):
            FaissGpus(FaissModule(cards=0))

    def test_torch_seeing_fewer_gpus_than_faiss_is_rejected(self) -> None:
        torch = pytest.importorskip("torch")
        cards = torch.cuda.device_count() + 1
        with pytest.raises(ConfigurationError, match=f"FAISS finds {cards} GPUs, but torch"):
            FaissGpus(FaissModule(cards))

    def test_broken_faiss_installation_is_reported(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(faiss_build.load_faiss(), "IndexFlatIP")
        faiss_build.load_faiss.cache_clear()
        with pytest.raises(ConfigurationError, match="FAISS is incomplete"):
            faiss_build.load_faiss()

    def test_missing_faiss_is_reported(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "faiss", None)
        monkeypatch.setattr(faiss_build, "list_faiss_packages", list)
        with pytest.raises(ConfigurationError, match="FAISS, which is not installed"):
            faiss_build.load_faiss()

    async def test_builds_and_updates_without_gpu_fail_before_reading_input(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(gpus, "load_faiss", lambda: FaissModule(cards=0))
        monkeypatch.setattr(gpus, "list_faiss_packages", list)
        missing_source, directory, options = (
            tmp_path / "nowhere.jsonl",
            tmp_path / "corpus",
            BuildOptions(device="cuda"),
        )
        await build_corpus([write_jsonl(tmp_path / "papers.jsonl", RECORDS)], directory, EMBEDDER)
        with pytest.raises(ConfigurationError, match="CUDA finds no GPU"):
            await build_corpus([missing_source], directory, EMBEDDER, options=options)
        with pytest.raises(ConfigurationError, match="CUDA finds no GPU"):
            await build_shards([missing_source], 2, tmp_path / "shards", EMBEDDER, options=options)
        with pytest.raises(ConfigurationError, match="CUDA finds no GPU"):
            await update_corpus(Delta([]), directory, EMBEDDER, options=options)
        night = NightlyUpdate(directory, tmp_path, EMBEDDER, lambda: dt.datetime.now(dt.UTC), options)
        with pytest.raises(ConfigurationError, match="CUDA finds no GPU"):
            await night.run(fail_on_fetch)
        (nightly_run,) = NightlyHistory(directory).list_runs()
        assert (nightly_run.outcome, nightly_run.stages) == ("failed", ())
        with pytest.raises(ConfigurationError, match="CUDA finds no GPU"):
            Corpus.open(directory, EMBEDDER, device="cuda")


async def fail_on_fetch() -> tuple[RejectionCount, ...]:
    raise AssertionError("asked although the night was to be refused")


async def test_corpus_built_and_searched_on_gpus_matches_cpu_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing_in = CountingGpus(2)
    for module in (build, local_reader, version_builder):
        monkeypatch.setattr(module, "open_gpus", {"cpu": None, "cuda": standing_in}.get)
    records = [
        record(number, title=f"Bees of region {number}", abstract=f"Visit {number} to {number % 7} blossoms.")
        for number in range(60)
    ]
    source = write_jsonl(tmp_path / "papers.jsonl", records)
    for device in DEVICES:
        options = BuildOptions(exact_up_to=10, device=device)
        await build_corpus([source], tmp_path / device, EMBEDDER, options=options)
    texts, window = ["visits of bees", "blossoms of region 4"], Window(before=dt.date(2018, 1, 1))
    cpu_corpus, gpu_corpus = (Corpus.open(tmp_path / item, EMBEDDER, device=item) for item in DEVICES)
    assert cpu_corpus.version == gpu_corpus.version
    assert await cpu_corpus.search(texts, 5, window) == await gpu_corpus.search(texts, 5, window)
    assert standing_in.searches
    (cpu,), (cuda,) = (read_manifest(VersionStore(tmp_path / item).find_current_path()).segments for item in DEVICES)
    assert (cpu.paper_index.gpus, cuda.paper_index.gpus) == (None, 2)
    assert cpu.files == cuda.files


@pytest.fixture
def cpu_memory_gpus(monkeypatch: pytest.MonkeyPatch) -> FaissGpus:
    """FAISS GPUs that keep their vectors in CPU memory."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda gpu: None)
    monkeypatch.setattr(FaissGpus, "get_device_name", lambda self, gpu: "cpu")
    return FaissGpus(FaissModule(cards=1))


def test_vectors_are_stored_completely_in_half_precision(
    cpu_memory_gpus: FaissGpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpus, "_ROWS_AT_ONCE", 701)
    vectors = make_unit_vectors(ROWS, seed=5)
    stored = cpu_memory_gpus.put(0, vectors)
    assert stored[:4_001].numpy().tobytes() == vectors[:4_001].tobytes()
    assert len(cpu_memory_gpus.put(0, vectors[:0])) == 0


def test_full_gpu_memory_is_reported_with_a_hint(cpu_memory_gpus: FaissGpus, monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_out_of_memory(*_: object, **__: object) -> None:
        raise RuntimeError("CUDA out of memory.\nTried to allocate much.")

    monkeypatch.setattr("torch.empty", raise_out_of_memory)
    with pytest.raises(
        ConfigurationError, match=r"GB of the corpus's vectors .* to GPU 0: CUDA out of memory\. Set"
    ) as raised:
        cpu_memory_gpus.put(0, make_unit_vectors(ROWS, seed=5))
    assert "ASSAYER_CORPUS__DEVICE=cpu" in raised.value.hint


class FaissModule:
    """Stand-in for the part of FAISS that is used before any GPU."""

    def StandardGpuResources(self) -> object:
        return object()

    def __init__(self, cards: int) -> None:
        self._cards = cards

    def get_num_gpus(self) -> int:
        return self._cards
