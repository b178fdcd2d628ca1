"""Vectors that were made ahead of a build, in files that name what is in them: whoever makes the same texts again finds
them made, and a build asks the model for no text that is there."""

import io
import secrets
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Literal

import fsspec
import numpy as np

from assayer.ports import Embedder, Vectors
from index.building.known import KnownVectors, Part
from index.ids import hashed

__all__ = ["StoredEmbedder", "VectorStore", "key_of"]


def key_of(texts: Sequence[str], model: str) -> str:
    """Of the file with the vectors of these texts, in this order; `model` as `Embedder.name` has it."""
    return blake2b(model.encode() + b"\0" + hashed(texts).tobytes(), digest_size=16).hexdigest()


class VectorStore:
    """A folder, an fsspec address, with one file a key: rows of a text's hash and its vector in half precision."""

    def __init__(self, address: str) -> None:
        self._files, self._folder = fsspec.url_to_fs(address)

    def __contains__(self, key: str) -> bool:
        return bool(self._files.exists(self._path(key)))

    def put(self, key: str, texts: Sequence[str], vectors: Vectors) -> None:
        """The whole file or none, whenever the process dies."""
        rows = np.empty(len(texts), [("text", "<u8"), ("vector", "<f2", vectors.shape[1:])])
        rows["text"], rows["vector"] = hashed(texts), vectors
        written = io.BytesIO()
        np.save(written, rows)
        self._files.makedirs(self._folder, exist_ok=True)
        unfinished = f"{self._path(key)}.{secrets.token_hex(8)}"
        self._files.pipe_file(unfinished, written.getvalue())
        self._files.mv(unfinished, self._path(key))

    def known(self, keys: Iterable[str]) -> KnownVectors:
        """What some files hold; on this machine's disk they are mapped, not read."""
        return KnownVectors([self._part(key) for key in keys])

    def _part(self, key: str) -> Part:
        path = self._path(key)
        if "file" in np.atleast_1d(self._files.protocol):
            rows = np.load(path, mmap_mode="r")
        else:
            rows = np.load(io.BytesIO(self._files.cat_file(path)))
        return Part(np.array(rows["text"], np.uint64), np.arange(len(rows)), rows["vector"])

    def _path(self, key: str) -> str:
        return f"{self._folder}/{key}.npy"


class StoredEmbedder:
    """Implements assayer.ports.Embedder: passages that are stored are looked up, everything else is embedded."""

    def __init__(self, embedder: Embedder, known: KnownVectors) -> None:
        """`known` must have been made by the same model, asked for passages."""
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
        missing = self._known.fill(vectors, hashed(texts), np.arange(len(texts))).tolist()
        if missing:
            vectors[missing] = await self._embedder.embed([texts[row] for row in missing], kind)
        return vectors
