"""Nearest viewpoints: exact up to a size, approximate beyond it."""

from pathlib import Path

import numpy as np
import pytest

from index.viewpoint_neighbours import FaissNeighbours
from tests.grapheval_graphs import make_unit_rows

KINDS = pytest.mark.parametrize("kind", ["flat", "small world"])

TOLERANCE = {"flat": 1e-5, "small world": 1e-3}
"""Tolerance of cosines, by kind; the small world keeps 16 bits per number."""


def create_index(kind: str) -> FaissNeighbours:
    return FaissNeighbours(exact_up_to=1_000 if kind == "flat" else 50)


@KINDS
def test_nearest_rows_are_found_after_incremental_adds(kind: str) -> None:
    vectors, queries = make_unit_rows(1, 400), make_unit_rows(2, 20)
    neighbours = create_index(kind)
    for start in range(0, 400, 37):
        neighbours.add(vectors[start : start + 37])
    assert len(neighbours) == 400
    neighbours_found = neighbours.find_nearest(queries, 5)
    expected = np.argsort(-(queries @ vectors.T), axis=1)[:, :5]
    shared = np.mean(
        [len(set(a) & set(b)) / 5 for a, b in zip(neighbours_found.rows.tolist(), expected.tolist(), strict=True)]
    )
    assert shared == 1.0 if kind != "small world" else shared >= 0.95
    np.testing.assert_allclose(neighbours_found.cosines[:, 0], (queries @ vectors.T).max(axis=1), atol=TOLERANCE[kind])


@KINDS
@pytest.mark.parametrize("share", [0.05, 0.9])
def test_rows_that_are_not_allowed_are_never_found(kind: str, share: float) -> None:
    vectors, queries = make_unit_rows(1, 400), make_unit_rows(2, 20)
    neighbours = create_index(kind)
    neighbours.add(vectors)
    allowed = np.random.default_rng(3).random(400) < share
    neighbours_found = neighbours.find_nearest(queries, 5, allowed)
    assert allowed[neighbours_found.rows[neighbours_found.rows >= 0]].all()
    cosines = np.where(allowed, queries @ vectors.T, -np.inf)
    np.testing.assert_allclose(neighbours_found.cosines[:, 0], cosines.max(axis=1), atol=TOLERANCE[kind])


@KINDS
def test_missing_neighbours_are_padded_with_minus_1(kind: str) -> None:
    neighbours = create_index(kind)
    assert neighbours.find_nearest(make_unit_rows(2, 2), 3).rows.tolist() == [[-1] * 3] * 2
    neighbours.add(make_unit_rows(1, 2))
    neighbours_found = neighbours.find_nearest(make_unit_rows(2, 2), 3)
    assert (neighbours_found.rows[:, 2] == -1).all()
    assert np.isneginf(neighbours_found.cosines[:, 2]).all()
    no_neighbours = neighbours.find_nearest(make_unit_rows(2, 2), 3, np.zeros(2, np.bool_))
    assert (no_neighbours.rows == -1).all()


@pytest.mark.parametrize("exact_up_to", [1_000, 50])
def test_restored_index_returns_same_results_and_accepts_new_rows(tmp_path: Path, exact_up_to: int) -> None:
    neighbours = FaissNeighbours(exact_up_to)
    neighbours.add(make_unit_rows(1, 200))
    path = tmp_path / "graphs" / "default.faiss"
    neighbours.save(path)
    restored = FaissNeighbours(exact_up_to)
    restored.restore(path)
    queries = make_unit_rows(2, 10)
    np.testing.assert_array_equal(restored.find_nearest(queries, 4).rows, neighbours.find_nearest(queries, 4).rows)
    restored.add(make_unit_rows(3, 5))
    assert len(restored) == 205


@pytest.mark.parametrize("written", [None, b"not an index"])
def test_an_index_that_is_missing_or_damaged_starts_empty(tmp_path: Path, written: bytes | None) -> None:
    path = tmp_path / "default.faiss"
    if written is not None:
        path.write_bytes(written)
    neighbours = FaissNeighbours()
    neighbours.restore(path)
    assert len(neighbours) == 0
