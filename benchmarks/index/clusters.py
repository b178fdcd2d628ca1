"""Any number of clustered unit vectors, used as artificial embeddings.

Each is near one of 4,000 centres, which are near 60 topics. Vectors differ from their centre in 16 directions, so that
neighbours are as close as in a real corpus (cosine of 0.8 to the nearest of 500,000) and differ in few dimensions.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from assayer.ports import Vectors

_CENTRES, _TOPICS, _DIRECTIONS = 4_000, 60, 16
_SPREAD, _NOISE = 0.2, 0.01
_BLOCK = 65_536


def generate_vectors(rows: int, seed: int, dimensions: int = 384) -> Iterator[Vectors]:
    """Yield clustered vectors in blocks; all seeds share the same centres."""
    shared_rng, rng = np.random.default_rng(0), np.random.default_rng(seed)
    topics = _draw_normal(shared_rng, _TOPICS, dimensions)
    centres = _draw_normal(shared_rng, _CENTRES, dimensions) + topics[shared_rng.integers(_TOPICS, size=_CENTRES)]
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    directions = _draw_normal(shared_rng, _DIRECTIONS, dimensions) / np.float32(dimensions**0.5)
    for start in range(0, rows, _BLOCK):
        count = min(_BLOCK, rows - start)
        offsets = _SPREAD * _draw_normal(rng, count, _DIRECTIONS) @ directions + _NOISE * _draw_normal(
            rng, count, dimensions
        )
        vectors = centres[rng.integers(_CENTRES, size=count)] + offsets
        yield vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _draw_normal(rng: np.random.Generator, rows: int, columns: int) -> NDArray[np.float32]:
    return rng.standard_normal((rows, columns), np.float32)
