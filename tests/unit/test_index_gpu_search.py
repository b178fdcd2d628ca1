"""Search with all vectors in a device's memory, on the device that every machine has."""

import numpy as np
import pytest

from assayer.errors import ConfigurationError
from index.segments.gpu_search import CPU, GpuVectors
from index.segments.row_filter import RowFilter
from index.segments.vector_index import VectorIndex, VectorIndexParameters, create_vectors_file

ROWS, DIMENSIONS, LIMIT = 3_000, 32, 10


@pytest.fixture
def vectors() -> np.ndarray:
    drawn = np.random.default_rng(5).normal(size=(ROWS, DIMENSIONS))
    unit: np.ndarray = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return unit.astype(np.float16)


@pytest.mark.parametrize("rows", [ROWS, 1_000, 5, 0])
@pytest.mark.parametrize("masked", [False, True])
def test_the_nearest_are_those_of_exact_search_whatever_a_filter_leaves(
    vectors: np.ndarray, rows: int, masked: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("dense")
    create_vectors_file(folder, ROWS, DIMENSIONS)[:] = vectors
    mask = np.random.default_rng(6).random(ROWS) < 0.02 if masked else None
    allowed = RowFilter(rows, mask)
    queries = vectors[::97].astype(np.float32)
    exact, moved = (VectorIndex(folder, VectorIndexParameters(kind="exact", rows=ROWS), ROWS) for _ in range(2))
    moved.move_to(CPU)
    for one, other in zip(exact.nearest(queries, LIMIT, allowed), moved.nearest(queries, LIMIT, allowed), strict=True):
        assert one.rows.tolist() == other.rows.tolist()
        assert one.similarities.tolist() == other.similarities.tolist()


def test_a_device_that_is_not_there_is_told_by_name(vectors: np.ndarray) -> None:
    with pytest.raises(ConfigurationError, match="cannot be put on the device 'cuda:99'") as raised:
        GpuVectors(vectors, "cuda:99")
    assert "ASSAYER_CORPUS__DEVICE=cpu" in str(raised.value.hint)
