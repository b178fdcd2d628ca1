"""Index behaviour on GPUs: FAISS on real ones where available, and a stand-in everywhere."""

from pathlib import Path

import numpy as np
import pytest

from assayer.errors import ConfigurationError
from assayer.ports import Vectors
from index.segments.approximate_index import ApproximateIndexKind
from index.segments.gpu_search import GpuVectors
from index.segments.gpus import MAX_SELECTED, Gpus, open_gpus
from index.segments.row_filter import RowFilter
from index.segments.vector_index import (
    TARGET_RECALL,
    VectorIndex,
    VectorIndexParameters,
    build_vector_index,
    create_vectors_file,
    search_exactly,
)
from tests.in_memory import GpuStandIn

ROWS, DIMENSIONS, LIMIT = 20_000, 96, 10


@pytest.fixture(scope="module", params=["stand-in", "real"])
def gpus(request: pytest.FixtureRequest) -> Gpus:
    if request.param == "stand-in":
        return GpuStandIn(3)
    try:
        real = open_gpus("cuda")
    except ConfigurationError as error:
        pytest.skip(error.message)
    assert real is not None
    return real


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clustered vectors, as a segment has them."""
    random = np.random.default_rng(1)
    centres = random.normal(size=(120, DIMENSIONS))[random.integers(0, 120, ROWS)]
    centres = centres + 0.6 * random.normal(size=(ROWS, DIMENSIONS))
    vector_folder = tmp_path_factory.mktemp("dense")
    create_vectors_file(vector_folder, ROWS, DIMENSIONS)[:] = centres / np.linalg.norm(centres, axis=1, keepdims=True)
    return vector_folder


@pytest.fixture(scope="module")
def vectors(folder: Path) -> Vectors:
    stored_vectors: Vectors = np.load(folder / "vectors.npy", mmap_mode="r")
    return stored_vectors


@pytest.fixture(scope="module")
def queries(vectors: Vectors) -> Vectors:
    return np.asarray(vectors[:: ROWS // 100], np.float32)


@pytest.mark.parametrize("rows", [ROWS, 777, 1])
def test_nearest_vectors_of_a_prefix_are_sorted_by_inner_product(
    gpus: Gpus, vectors: Vectors, queries: Vectors, rows: int
) -> None:
    for gpu in range(gpus.count):
        gpu_vectors = gpus.put(gpu, vectors)
        neighbours = gpus.find_nearest(gpu, queries, gpu_vectors[:rows], LIMIT)
        expected_count = min(LIMIT, rows)
        assert neighbours.rows.shape == (len(queries), expected_count)
        assert neighbours.rows.dtype == np.dtype(np.int64)
        assert (np.diff(neighbours.scores, axis=1) <= 0).all()
        products = queries @ np.asarray(vectors[:rows], np.float32).T
        assert np.take_along_axis(products, neighbours.rows, 1) == pytest.approx(neighbours.scores, abs=2e-3)
        assert np.sort(products, axis=1)[:, -expected_count:][:, ::-1] == pytest.approx(neighbours.scores, abs=2e-3)


def test_number_of_nearest_vectors_is_capped_at_selection_limit(gpus: Gpus, vectors: Vectors, queries: Vectors) -> None:
    gpu_vectors = gpus.put(0, vectors)
    assert gpus.find_nearest(0, queries, gpu_vectors, MAX_SELECTED + 1).rows.shape == (len(queries), MAX_SELECTED)


@pytest.mark.parametrize("kept_share", [1.0, 0.9, 0.3])
@pytest.mark.parametrize("rows", [ROWS, 11_111])
def test_gpu_search_matches_cpu_search(
    gpus: Gpus, folder: Path, queries: Vectors, rows: int, kept_share: float
) -> None:
    mask = np.random.default_rng(2).random(ROWS) < kept_share if kept_share < 1 else None
    cpu_index, gpu_index = (VectorIndex(folder, VectorIndexParameters(kind="exact", rows=ROWS), ROWS) for _ in range(2))
    gpu_index._on_gpus = GpuVectors(gpu_index.vectors, gpus, min_rows=1_000)
    allowed = RowFilter(rows, mask)
    for item, gpu_result in zip(
        cpu_index.find_nearest(queries, LIMIT, allowed), gpu_index.find_nearest(queries, LIMIT, allowed), strict=True
    ):
        assert item.rows.tolist() == gpu_result.rows.tolist()
        assert item.similarities.tolist() == gpu_result.similarities.tolist()


def test_assigner_searches_only_vectors_added_since_reset(gpus: Gpus, vectors: Vectors, queries: Vectors) -> None:
    assigner = gpus.create_assigner(DIMENSIONS)
    for some in (vectors[:50], vectors[50:150]):
        assigner.reset()
        assigner.add(np.asarray(some, np.float32))
    nearest = assigner.search(queries, 1)[1][:, 0]
    assert nearest.tolist() == (queries @ np.asarray(vectors[50:150], np.float32).T).argmax(axis=1).tolist()


@pytest.mark.parametrize("kind", ["ivf_sq8", "ivf_pq"])
def test_index_built_on_gpu_reaches_target_recall_on_cpu(
    gpus: Gpus, vectors: Vectors, queries: Vectors, kind: ApproximateIndexKind, tmp_path: Path
) -> None:
    create_vectors_file(tmp_path, ROWS, DIMENSIONS)[:] = vectors
    parameters = build_vector_index(vectors, tmp_path, queries, 0, kind, gpus)
    assert parameters.recall_at_10 is not None
    assert parameters.recall_at_10 >= TARGET_RECALL
    assert parameters.gpus == gpus.count
    opened_index = VectorIndex(tmp_path, parameters, 0)
    assert opened_index.approximate is not None
    best = search_exactly(vectors, queries, LIMIT)
    neighbours = opened_index.find_nearest(queries, LIMIT, RowFilter(ROWS))
    assert np.mean([np.isin(item, two.rows).mean() for item, two in zip(best, neighbours, strict=True)]) >= 0.98
