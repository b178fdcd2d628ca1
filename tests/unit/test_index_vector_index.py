from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.ports import Vectors
from index.segments.approximate_index import IndexKind, choose_index_kind
from index.segments.row_filter import RowFilter
from index.segments.vector_index import (
    TARGET_RECALL,
    VectorIndex,
    VectorIndexParameters,
    build_vector_index,
    create_vectors_file,
)

DIMENSIONS = 32
APPROXIMATE: tuple[IndexKind, ...] = ("ivf_sq8", "ivf_pq")


def make_clustered_vectors(rows: int, seed: int) -> Vectors:
    """Return unit vectors around 40 centres."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(0).normal(size=(40, DIMENSIONS))
    vectors = centres[random.integers(0, 40, rows)] + 0.6 * random.normal(size=(rows, DIMENSIONS))
    normed = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    halved: Vectors = normed.astype(np.float16).astype(np.float32)  # as precise as the file
    return halved


def build_index(
    directory: Path, vectors: Vectors, exact_up_to: int, kind: IndexKind | None = None
) -> tuple[VectorIndex, VectorIndexParameters]:
    file = create_vectors_file(directory, *vectors.shape)
    file[:] = vectors
    parameters = build_vector_index(file, directory, make_clustered_vectors(100, seed=7), exact_up_to, kind)
    return VectorIndex(directory, parameters, exact_up_to), parameters


def find_nearest_rows(vectors: Vectors, query: Vectors, limit: int) -> list[int]:
    return [int(row) for row in np.argsort(-(vectors @ query), kind="stable")[:limit]]


def test_exact_search_finds_nearest_among_the_first_rows(tmp_path: Path) -> None:
    vectors, queries = make_clustered_vectors(500, seed=1), make_clustered_vectors(20, seed=2)
    dense, parameters = build_index(tmp_path, vectors, exact_up_to=500)
    assert parameters.kind == "exact"
    for row_limit in (500, 200, 7, 0):
        for query, nearest in zip(queries, dense.find_nearest(queries, 10, RowFilter(row_limit)), strict=True):
            assert nearest.rows.tolist() == find_nearest_rows(vectors[:row_limit], query, 10)
            assert nearest.similarities == pytest.approx(vectors[nearest.rows] @ query, abs=1e-5)


def test_equal_vectors_are_returned_in_row_order(tmp_path: Path) -> None:
    vectors = np.repeat(make_clustered_vectors(1, seed=1), 30, axis=0)
    dense, _ = build_index(tmp_path, vectors, exact_up_to=30)
    (nearest,) = dense.find_nearest(vectors[:1], 30, RowFilter(30))
    assert nearest.rows.tolist() == list(range(30))


@pytest.fixture(scope="module")
def small_index(tmp_path_factory: pytest.TempPathFactory) -> VectorIndex:
    return build_index(tmp_path_factory.mktemp("dense"), make_clustered_vectors(300, seed=3), exact_up_to=300)[0]


@given(rows=st.lists(st.integers(0, 299), min_size=1, max_size=20, unique=True))
def test_row_similarity_does_not_depend_on_other_rows(small_index: VectorIndex, rows: list[int]) -> None:
    (query,) = make_clustered_vectors(1, seed=4)
    batch_results = small_index.compute_similarities(query, rows)
    assert batch_results.tolist() == [small_index.compute_similarities(query, [row]).item() for row in rows]


def test_search_returns_same_results_alone_and_in_a_batch(small_index: VectorIndex) -> None:
    queries = make_clustered_vectors(40, seed=5)
    batch_results = small_index.find_nearest(queries, 10, RowFilter(300))
    single_results = [
        small_index.find_nearest(queries[row : row + 1], 10, RowFilter(300))[0] for row in range(len(queries))
    ]
    for first, second in zip(batch_results, single_results, strict=True):
        assert first.rows.tolist() == second.rows.tolist()
        assert first.similarities.tolist() == second.similarities.tolist()


@pytest.mark.parametrize("kind", APPROXIMATE)
def test_approximate_search_reaches_target_recall_with_and_without_cutoff(tmp_path: Path, kind: IndexKind) -> None:
    vectors, queries = make_clustered_vectors(4000, seed=1), make_clustered_vectors(100, seed=2)
    dense, parameters = build_index(tmp_path, vectors, 0, kind)
    assert (parameters.kind, parameters.lists, parameters.trained_on) == (kind, 126, 4000)
    assert parameters.recall_at_10 is not None
    assert parameters.recall_at_10 >= TARGET_RECALL
    for row_limit in (4000, 3000, 400):
        nearest = dense.find_nearest(queries, 10, RowFilter(row_limit))
        assert all(nearest.rows.max() < row_limit for nearest in nearest)
        shares = [
            len(set(nearest.rows.tolist()) & set(find_nearest_rows(vectors[:row_limit], query, 10))) / 10
            for query, nearest in zip(queries, nearest, strict=True)
        ]
        assert np.mean(shares) >= 0.97


@pytest.mark.parametrize("kind", ["exact", *APPROXIMATE])
@pytest.mark.parametrize("share", [0.9, 0.3, 0.002])
def test_masked_search_finds_nearest_allowed_rows(tmp_path: Path, kind: IndexKind, share: float) -> None:
    vectors, queries = make_clustered_vectors(4000, seed=1), make_clustered_vectors(100, seed=2)
    dense, _ = build_index(tmp_path, vectors, 0, kind)
    mask = np.random.default_rng(3).random(4000) < share
    shares = []
    for row_limit in (4000, 3000):
        counting = np.flatnonzero(mask[:row_limit])
        for query, nearest in zip(queries, dense.find_nearest(queries, 10, RowFilter(row_limit, mask)), strict=True):
            best = counting[find_nearest_rows(vectors[counting], query, 10)]
            assert np.isin(nearest.rows, counting).all()
            shares.append(len(set(nearest.rows.tolist()) & set(best.tolist())) / min(10, len(counting)))
    assert np.mean(shares) >= 0.97


def test_approximate_index_searches_few_rows_exactly(tmp_path: Path) -> None:
    vectors, query = make_clustered_vectors(4000, seed=1), make_clustered_vectors(1, seed=2)
    dense, parameters = build_index(tmp_path, vectors, exact_up_to=500)
    assert parameters.kind == "ivf_sq8"
    assert len(dense.find_nearest(query, 500, RowFilter(500))[0].rows) == 500
    assert len(dense.find_nearest(query, 4000, RowFilter(4000))[0].rows) < 3000


@pytest.mark.parametrize(
    ("row_count", "dimensions", "kind"),
    [
        (50_000, 384, "exact"),
        (50_001, 384, "ivf_sq8"),
        (499_999, 384, "ivf_sq8"),
        (500_000, 384, "ivf_pq"),
        (10**8, 384, "ivf_pq"),
        (10**8, 385, "ivf_sq8"),
    ],
)
def test_index_kind_depends_on_size_and_dimensions(row_count: int, dimensions: int, kind: IndexKind) -> None:
    assert choose_index_kind(row_count, dimensions, exact_up_to=50_000) == kind


@pytest.mark.parametrize("kind", APPROXIMATE)
def test_approximate_search_returns_exact_cosines_in_descending_order(tmp_path: Path, kind: IndexKind) -> None:
    dense, _ = build_index(tmp_path, make_clustered_vectors(2000, seed=1), 0, kind)
    queries = make_clustered_vectors(20, seed=2)
    for query, nearest in zip(queries, dense.find_nearest(queries, 10, RowFilter(2000)), strict=True):
        assert nearest.similarities.tolist() == dense.compute_similarities(query, nearest.rows).tolist()
        assert np.lexsort((nearest.rows, -nearest.similarities)).tolist() == list(range(10))


@pytest.mark.parametrize("kind", APPROXIMATE)
def test_approximate_search_returns_only_allowed_rows_when_few_remain(tmp_path: Path, kind: IndexKind) -> None:
    dense, _ = build_index(tmp_path, make_clustered_vectors(2000, seed=1), 0, kind)
    mask = np.arange(2000) % 400 == 3
    for allowed, count in ((RowFilter(2000, mask), 5), (RowFilter(1000, mask), 3), (RowFilter(4), 4)):
        for nearest in dense.find_nearest(make_clustered_vectors(3, seed=2), 10, allowed):
            assert sorted(nearest.rows.tolist()) == allowed.list_row_numbers().tolist()
            assert len(nearest.rows) == count


@pytest.mark.parametrize("kind", APPROXIMATE)
def test_rebuilt_index_returns_the_same_results(tmp_path: Path, kind: IndexKind) -> None:
    vectors, queries = make_clustered_vectors(2000, seed=1), make_clustered_vectors(20, seed=2)
    answers = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        dense, _ = build_index(tmp_path / name, vectors, 0, kind)
        answers.append([item.rows.tolist() for item in dense.find_nearest(queries, 10, RowFilter(2000))])
    assert answers[0] == answers[1]
