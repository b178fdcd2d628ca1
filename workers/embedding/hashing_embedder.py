"""Embedder that hashes words into a bag of words. It is deterministic and fast, and needs neither a model nor torch."""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from math import log
from typing import Literal

import numpy as np

from assayer.ports import Vectors

WORD = re.compile(r"[^\W_]{3,}")


class HashingEmbedder:
    """Embedder for which texts are more similar the more words (of at least three letters) they share. Implements
    `assayer.ports.Embedder`."""

    def __init__(self, dimensions: int = 256) -> None:
        self._dimensions = dimensions

    @property
    def name(self) -> str:
        return f"hashed-words-{self._dimensions}"

    @property
    def dimensions(self) -> int:
        return self._dimensions

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        vectors = np.zeros((len(texts), self._dimensions), np.float32)
        for row, text in enumerate(texts):
            words = Counter(WORD.findall(text.casefold())) or Counter([""])
            for word, count in words.items():
                digest = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
                sign = 1 if digest & 1 else -1
                vectors[row, (digest >> 1) % self._dimensions] += sign * (1 + log(count))
            if not vectors[row].any():
                vectors[row, 0] = 1.0
        unit_vectors: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit_vectors
