"""Vectors of texts: those that are known already are looked up, so that no text is embedded twice."""

import asyncio
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from assayer.ports import Embedder, Vectors
from index.building.compaction import SegmentRows
from index.hashing import Hashes, hash64
from index.records.paper_record import PaperRecord
from index.records.parquet_records import RecordWithVector
from index.segments.passages import paper_text, passage_texts

__all__ = [
    "KnownVectors",
    "OnProgress",
    "RecordVectors",
    "TextEmbedding",
    "VectorBlock",
    "no_progress",
    "segment_vectors",
]

OnProgress = Callable[[int, int], None]
"""Texts embedded, and texts to embed in all, as far as is known. Must not raise."""
_EMBEDDED_AT_ONCE = 128
_WINDOW = 16_384
"""Texts in memory at once, and sorted by their length."""


class VectorBlock(NamedTuple):
    """Texts, by their hashes, and the rows of their vectors in an array."""

    texts: Hashes
    rows: NDArray[np.int64]
    vectors: Vectors


class KnownVectors:
    """By the texts' hashes: about twenty bytes of memory a text; the vectors stay in their arrays."""

    def __init__(self, parts: Sequence[VectorBlock], signature: str = "") -> None:
        """`signature` identifies vectors that cannot be computed from the texts, such as those of records."""
        self.signature = signature
        self._vectors = [part.vectors for part in parts]
        texts = np.concatenate([np.empty(0, np.uint64), *(part.texts for part in parts)])
        order = np.argsort(texts, kind="stable")
        self._texts = texts[order]
        self._rows = np.concatenate([np.empty(0, np.int64), *(part.rows for part in parts)])[order]
        self._parts = np.repeat(np.arange(len(parts), dtype=np.int16), [len(part.texts) for part in parts])[order]

    def fill(self, vectors: Vectors, texts: Hashes, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Copies known vectors into `vectors` and returns the rows whose texts are not known. `texts` are the hashes of
        all rows of `vectors`."""
        wanted = texts[rows]
        places = np.searchsorted(self._texts, wanted)
        known = places < len(self._texts)
        known[known] = self._texts[places[known]] == wanted[known]
        places, found = places[known], rows[known]
        for number, own in enumerate(self._vectors):
            here = self._parts[places] == number
            vectors[found[here]] = own[self._rows[places[here]]]
        return rows[~known]


class RecordVectors:
    """Vectors that came with records, in a temporary file that grows with them until it is closed."""

    def __init__(self, directory: Path | None = None) -> None:
        """The file is created in the directory, or where the system puts temporary files."""
        self._file = TemporaryFile(dir=directory)  # noqa: SIM115 # closed with this
        self._texts = array("Q")
        self._dimensions = 0
        self._digest = blake2b(digest_size=8)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def collect(self, records: Iterable[RecordWithVector]) -> Iterator[PaperRecord]:
        """Yields the records and stores their vectors, which must have been checked."""
        for record, vector in records:
            if vector is not None:
                text = int(hash64([paper_text(record.title, record.abstract)])[0])
                written = vector.values.astype(np.float16).tobytes()
                self._dimensions = len(vector.values)
                self._texts.append(text)
                self._file.write(written)
                self._digest.update(text.to_bytes(8, "little") + written)
            yield record

    def known(self) -> KnownVectors:
        """All that were collected; of equal texts the first. They remain readable after the file is closed."""
        if not self._texts:
            return KnownVectors([])
        self._file.flush()
        vectors = np.memmap(self._file, np.float16, "r", shape=(len(self._texts), self._dimensions))
        texts = np.frombuffer(self._texts, np.uint64)
        return KnownVectors([VectorBlock(texts, np.arange(len(texts)), np.asarray(vectors))], self._digest.hexdigest())


def segment_vectors(papers: Iterable[SegmentRows]) -> KnownVectors:
    """Vectors of these papers and of their passages."""
    parts = []
    for segment, rows in papers:
        texts = (paper_text(*segment.store.title_and_abstract(row)) for row in rows.tolist())
        parts.append(VectorBlock(hash64(texts), rows, segment.papers.vectors))
        if segment.passages is not None:
            own = segment.passages_of(rows)
            parts.append(
                VectorBlock(
                    hash64(one.text for one in passage_texts(segment.store, segment.passage_locations[own])),
                    own,
                    segment.passages.vectors,
                )
            )
    return KnownVectors(parts)


def no_progress(done: int, total: int) -> None:
    """Ignores progress."""


class TextEmbedding:
    """Embeds texts sorted by length, which wastes the least padding, and reuses vectors that are known."""

    def __init__(self, embedder: Embedder, progress: OnProgress, *known: KnownVectors) -> None:
        """Where several of `known` have a text, the first one's vector is used."""
        self.embedder = embedder
        self.embedded = 0
        """Texts that the model has read so far."""
        self._known = known
        self._progress = progress
        self._done = self._total = 0

    @property
    def signature(self) -> str:
        """Of the vectors that cannot be computed from the texts."""
        return "".join(known.signature for known in self._known)

    async def fill(self, vectors: Vectors, texts: Iterator[str]) -> None:
        """Fills `vectors` with the texts' passage vectors; there must be as many texts."""
        self._total += len(vectors)
        row = 0
        while some := await asyncio.to_thread(list, islice(texts, _WINDOW)):
            await self._fill(vectors[row : row + len(some)], some)
            row += len(some)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self._total += len(texts)
        vectors = np.empty((len(texts), self.embedder.dimensions), np.float32)
        await self._embed(vectors, texts, range(len(texts)), "query")
        return vectors

    async def _fill(self, vectors: Vectors, texts: Sequence[str]) -> None:
        missing = np.arange(len(texts))
        keys = hash64(texts if self._known else ())
        for known in self._known:
            missing = known.fill(vectors, keys, missing)
        self._advance(len(texts) - len(missing))
        await self._embed(vectors, texts, missing.tolist(), "passage")

    async def _embed(
        self, vectors: Vectors, texts: Sequence[str], rows: Sequence[int], kind: Literal["query", "passage"]
    ) -> None:
        order = sorted(rows, key=lambda row: len(texts[row]))
        for start in range(0, len(order), _EMBEDDED_AT_ONCE):
            some = order[start : start + _EMBEDDED_AT_ONCE]
            vectors[some] = await self.embedder.embed([texts[row] for row in some], kind)
            self.embedded += len(some)
            self._advance(len(some))

    def _advance(self, texts: int) -> None:
        self._done += texts
        if texts:
            self._progress(self._done, self._total)
