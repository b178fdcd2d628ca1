"""Store for vectors that are computed before a build, and an embedder that looks them up. Files are named after a hash
of their texts and model."""

import io
import secrets
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Literal
from zipfile import BadZipFile

import fsspec
import numpy as np
from numpy.typing import NDArray

from assayer.errors import CorpusError
from assayer.ports import Embedder, LexicalEmbedder, LexicalWeights, Vectors, WeighedTexts
from index.arrays import load_array, load_arrays
from index.building.gathered_vectors import GatheredVectors
from index.building.text_embedding import KnownVectors
from index.hashing import Hashes, hash64
from index.segments.lexical_rows import LexicalRows, pack_rows


def compute_vector_file_key(texts: Sequence[str], model: str, with_weights: bool = False) -> str:
    """Return the storage key for the vectors and lexical weights of these texts, in this order. `model` is as in
    `Embedder.name`."""
    return blake2b(
        (model + " with weights" * with_weights).encode() + b"\0" + hash64(texts).tobytes(), digest_size=16
    ).hexdigest()


class VectorStore:
    """Folder (an fsspec URL) with one vector file per key. Each row in a file has a text's hash and its half-precision
    vector."""

    def __init__(self, address: str) -> None:
        self._files, self._folder = fsspec.url_to_fs(address)

    def __contains__(self, key: str) -> bool:
        return bool(self._files.exists(self._build_path(key)))

    def put(
        self, key: str, texts: Sequence[str], vectors: Vectors, lexical: Sequence[LexicalWeights] | None = None
    ) -> None:
        """Write a key's vectors atomically. Lexical weights are written first, to a separate file."""
        if lexical is not None:
            weights_file = io.BytesIO()
            np.savez(weights_file, **pack_rows(lexical)._asdict())
            self._write(self._build_weights_path(key), weights_file.getvalue())
        rows = np.empty(len(texts), [("text", "<u8"), ("vector", "<f2", vectors.shape[1:])])
        rows["text"], rows["vector"] = hash64(texts), vectors
        rows_file = io.BytesIO()
        np.save(rows_file, rows)
        self._write(self._build_path(key), rows_file.getvalue())

    def _write(self, path: str, content: bytes) -> None:
        self._files.makedirs(self._folder, exist_ok=True)
        unfinished_path = f"{path}.{secrets.token_hex(8)}"
        self._files.pipe_file(unfinished_path, content)
        self._files.mv(unfinished_path, path)

    def load_vectors(
        self, keys: Iterable[str], directory: Path | None = None, wanted_hashes: Hashes | None = None
    ) -> KnownVectors:
        """Return the vectors stored under these keys, copied into an unnamed file in a local directory. `wanted_hashes`
        is as in GatheredVectors. Raises CorpusError if a file cannot be read, and OSError if the disk is full."""
        with GatheredVectors(directory, wanted_hashes) as vectors:
            for key in keys:
                rows = self._read_rows(key)
                vectors.add(np.array(rows["text"], np.uint64), rows["vector"], self._read_weights(key))
            return vectors.get_vectors()

    def _read_rows(self, key: str) -> NDArray[np.void]:
        """Read the rows in a key's file. Raises CorpusError if it cannot be read."""
        path = self._build_path(key)
        try:
            content = self._files.cat_file(path)
            rows: NDArray[np.void] = load_array(io.BytesIO(content))
        except (OSError, ValueError, EOFError) as error:
            raise _build_read_error(path, error) from None
        return rows

    def _read_weights(self, key: str) -> LexicalRows | None:
        """Read a key's lexical weights; None if there are none. Raises CorpusError if they cannot be read."""
        path = self._build_weights_path(key)
        try:
            if not self._files.exists(path):
                return None
            arrays = load_arrays(io.BytesIO(self._files.cat_file(path)))
            return LexicalRows(arrays["offsets"], arrays["tokens"], arrays["weights"])
        except (OSError, ValueError, EOFError, BadZipFile) as error:
            raise _build_read_error(path, error) from None

    def _build_weights_path(self, key: str) -> str:
        return f"{self._folder}/{key}.weights.npz"

    def _build_path(self, key: str) -> str:
        return f"{self._folder}/{key}.npy"


class LookupEmbedder:
    """Embedder that looks up passages among known vectors, and embeds everything else; implements
    `assayer.ports.Embedder`."""

    def __init__(self, embedder: Embedder, known_vectors: KnownVectors) -> None:
        """Wrap an embedder; `known_vectors` must be passage vectors of its model."""
        self._embedder = embedder
        self._known_vectors = known_vectors

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        if kind == "query" or not texts:
            return await self._embedder.embed(texts, kind)
        vectors = np.full((len(texts), self.dimensions), np.nan, np.float32)
        missing_rows = self._known_vectors.fill(vectors, hash64(texts), np.arange(len(texts))).tolist()
        if missing_rows:
            vectors[missing_rows] = await self._embedder.embed([texts[row] for row in missing_rows], kind)
        return _require_finite(vectors)


class LexicalLookupEmbedder(LookupEmbedder):
    """Lookup embedder that also implements `assayer.ports.LexicalEmbedder`."""

    def __init__(self, embedder: Embedder, lexical: LexicalEmbedder, known_vectors: KnownVectors) -> None:
        """Wrap an embedder; `lexical` must be the same object. Known vectors without lexical weights are ignored."""
        super().__init__(embedder, known_vectors if known_vectors.weighed else KnownVectors([]))
        self._lexical = lexical

    async def embed_with_weights(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> WeighedTexts:
        if kind == "query" or not texts:
            return await self._lexical.embed_with_weights(texts, kind)
        vectors, weights = np.full((len(texts), self.dimensions), np.nan, np.float32), dict[int, LexicalWeights]()
        missing_rows = self._known_vectors.fill(vectors, hash64(texts), np.arange(len(texts)), weights).tolist()
        if missing_rows:
            weighed_texts = await self._lexical.embed_with_weights([texts[row] for row in missing_rows], kind)
            vectors[missing_rows] = weighed_texts.vectors
            weights.update(zip(missing_rows, weighed_texts.lexical, strict=True))
        return WeighedTexts(_require_finite(vectors), [weights[row] for row in range(len(texts))])


def add_vector_lookup(embedder: Embedder, known_vectors: KnownVectors) -> LookupEmbedder:
    """Wrap an embedder so that it looks up known vectors; the result is lexical if the embedder is."""
    if isinstance(embedder, LexicalEmbedder):
        return LexicalLookupEmbedder(embedder, embedder, known_vectors)
    return LookupEmbedder(embedder, known_vectors)


def _require_finite(vectors: Vectors) -> Vectors:
    """Return the vectors unchanged. Raises CorpusError if a value is not finite, so that missing or damaged vectors are
    not added to a corpus."""
    if not np.isfinite(vectors).all():
        raise CorpusError(
            "A stored vector contains values that are not finite.",
            "Delete the vector folder (--vectors) and build again.",
        )
    return vectors


def _build_read_error(path: str, error: Exception) -> CorpusError:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return CorpusError(
        f"The stored vectors in {path} cannot be read: {reason}.", "Delete that file and build again to recreate it."
    )
