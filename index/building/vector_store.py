"""Vectors that were computed ahead of a build, in files named by their texts and model: a build that finds a text here
does not embed it."""

import io
import secrets
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Literal

import fsspec
import numpy as np

from assayer.ports import Embedder, Vectors
from index.building.text_embedding import KnownVectors, VectorBlock
from index.hashing import hash64

__all__ = ["LookupEmbedder", "VectorStore", "vector_file_key"]


def vector_file_key(texts: Sequence[str], model: str) -> str:
    """Name of the file with the vectors of these texts, in this order; `model` as in `Embedder.name`."""
    return blake2b(model.encode() + b"\0" + hash64(texts).tobytes(), digest_size=16).hexdigest()


class VectorStore:
    """A folder (an fsspec address) with one file a key: rows of a text's hash and its vector in half precision."""

    def __init__(self, address: str) -> None:
        self._files, self._folder = fsspec.url_to_fs(address)

    def __contains__(self, key: str) -> bool:
        return bool(self._files.exists(self._path(key)))

    def put(self, key: str, texts: Sequence[str], vectors: Vectors) -> None:
        """Atomic: a killed process leaves the whole file or none."""
        rows = np.empty(len(texts), [("text", "<u8"), ("vector", "<f2", vectors.shape[1:])])
        rows["text"], rows["vector"] = hash64(texts), vectors
        written = io.BytesIO()
        np.save(written, rows)
        self._files.makedirs(self._folder, exist_ok=True)
        unfinished = f"{self._path(key)}.{secrets.token_hex(8)}"
        self._files.pipe_file(unfinished, written.getvalue())
        self._files.mv(unfinished, self._path(key))

    def known(self, keys: Iterable[str]) -> KnownVectors:
        """The vectors of these files; on the local disk they are memory-mapped."""
        return KnownVectors([self._part(key) for key in keys])

    def _part(self, key: str) -> VectorBlock:
        path = self._path(key)
        if "file" in np.atleast_1d(self._files.protocol):
            rows = np.load(path, mmap_mode="r")
        else:
            rows = np.load(io.BytesIO(self._files.cat_file(path)))
        return VectorBlock(np.array(rows["text"], np.uint64), np.arange(len(rows)), rows["vector"])

    def _path(self, key: str) -> str:
        return f"{self._folder}/{key}.npy"


class LookupEmbedder:
    """Implements assayer.ports.Embedder: passages that are stored are looked up, everything else is embedded."""

    def __init__(self, embedder: Embedder, known: KnownVectors) -> None:
        """`known` must be passage vectors of the same model."""
        self._embedder = embedder
        self._known = known

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        if kind == "query" or not texts:
            return await self._embedder.embed(texts, kind)
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        missing = self._known.fill(vectors, hash64(texts), np.arange(len(texts))).tolist()
        if missing:
            vectors[missing] = await self._embedder.embed([texts[row] for row in missing], kind)
        return vectors
