"""Embedders without dependencies: a bag of hashed words. Deterministic, quick, no model, no torch."""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from math import log
from typing import Literal

import numpy as np

from assayer.ports import LexicalWeights, Vectors, WeighedTexts

__all__ = ["HashingEmbedder", "HashingLexicalEmbedder"]

_WORD = re.compile(r"[^\W_]{3,}")
_TOKENS = 2**20


class HashingEmbedder:
    """`assayer.ports.Embedder`: texts are alike as far as they share words (of three letters or more)."""

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
            words = Counter(_WORD.findall(text.casefold())) or Counter([""])
            for word, count in words.items():
                digest = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
                sign = 1 if digest & 1 else -1
                vectors[row, (digest >> 1) % self._dimensions] += sign * (1 + log(count))
            if not vectors[row].any():
                vectors[row, 0] = 1.0
        normed: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return normed


class HashingLexicalEmbedder(HashingEmbedder):
    """`assayer.ports.LexicalEmbedder` too: the in-memory twin of bge-m3. A word weighs more the longer and the more
    frequent it is, which no model has learnt: good for tests, and for nothing else."""

    async def embed_with_weights(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> WeighedTexts:
        return WeighedTexts(await self.embed(texts, kind), [_weights(text) for text in texts])


def _weights(text: str) -> LexicalWeights:
    found: dict[int, float] = {}
    for word, count in Counter(_WORD.findall(text.casefold())).items():
        token = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest()) % _TOKENS
        found[token] = max(found.get(token, 0.0), log(len(word)) * (1 + log(count)))
    tokens = sorted(found)
    return LexicalWeights(np.array(tokens, np.int32), np.array([found[one] for one in tokens], np.float32))
