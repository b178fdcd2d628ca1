"""An embedder that invents vectors instead of reading texts, for measurements of everything else."""

import zlib
from collections.abc import Sequence
from typing import Literal

import numpy as np

from assayer.ports import Vectors

_TOPICS = 4_000


class InventedEmbedder:
    """`assayer.ports.Embedder`: a text's vector is drawn by its checksum, near one of some thousand centres."""

    def __init__(self, dimensions: int = 384) -> None:
        random = np.random.default_rng(1)
        self._centres = _normed(random.standard_normal((_TOPICS, dimensions), np.float32))
        self._around = 0.8 * _normed(random.standard_normal((1 << 15, dimensions), np.float32))

    @property
    def name(self) -> str:
        return f"invented-{self.dimensions}"

    @property
    def dimensions(self) -> int:
        return int(self._centres.shape[1])

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        drawn = np.array([zlib.crc32(text.encode()) for text in texts], np.int64)
        return _normed(self._centres[drawn % _TOPICS] + self._around[drawn >> 17])


def _normed(vectors: Vectors) -> Vectors:
    normed: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return normed
