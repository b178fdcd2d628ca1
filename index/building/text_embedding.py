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

from assayer.ports import Embedder, LexicalEmbedder, LexicalWeights, Vectors
from index.building.compaction import SegmentRows
from index.hashing import Hashes, hash64
from index.records.paper_record import PaperRecord
from index.records.parquet_records import RecordWithVector
from index.segments.lexical_rows import LexicalRows, LexicalSpool
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
    lexical: LexicalRows | None = None
    """Their weights, in the same rows; None where they are not known."""


class KnownVectors:
    """By the texts' hashes: about twenty bytes of memory a text; the vectors stay in their arrays."""

    def __init__(self, parts: Sequence[VectorBlock], signature: str = "") -> None:
        """`signature` identifies vectors that cannot be computed from the texts, such as those of records."""
        self.signature = signature
        self.weighed = bool(parts) and all(part.lexical is not None for part in parts)
        """Whether the texts' lexical weights are known too."""
        self._lexical = [part.lexical for part in parts]
        self._vectors = [part.vectors for part in parts]
        texts = np.concatenate([np.empty(0, np.uint64), *(part.texts for part in parts)])
        order = np.argsort(texts, kind="stable")
        self._texts = texts[order]
        del texts
        self._rows = np.concatenate([np.empty(0, np.int64), *(part.rows for part in parts)])[order]
        self._parts = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part.texts) for part in parts])[order]

    def __len__(self) -> int:
        """Texts; one that is known twice counts twice."""
        return len(self._texts)

    def fill(
        self,
        vectors: Vectors,
        texts: Hashes,
        rows: NDArray[np.int64],
        lexical: dict[int, LexicalWeights] | None = None,
    ) -> NDArray[np.int64]:
        """Copies known vectors into `vectors`, and weights to `lexical` by row where it is given, and returns the rows
        whose texts are not known. `texts` are the hashes of all rows of `vectors`."""
        wanted = texts[rows]
        places = np.searchsorted(self._texts, wanted)
        known = places < len(self._texts)
        known[known] = self._texts[places[known]] == wanted[known]
        places, found = places[known], rows[known]
        parts = self._parts[places]
        grouped = np.argsort(parts, kind="stable")
        numbers, starts = np.unique(parts[grouped], return_index=True)
        for number, group in zip(numbers.tolist(), np.split(grouped, starts[1:]), strict=False):  # one empty for none
            theirs = self._rows[places[group]]
            vectors[found[group]] = self._vectors[number][theirs]
            weights = self._lexical[number]
            if lexical is not None and weights is not None:
                pairs = zip(found[group].tolist(), theirs.tolist(), strict=True)
                lexical.update((row, weights.row(own)) for row, own in pairs)
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
    """Vectors, and lexical weights where there are any, of these papers and of their passages."""
    parts = []
    for segment, rows in papers:
        texts = (paper_text(*segment.store.title_and_abstract(row)) for row in rows.tolist())
        weights = segment.paper_weights.by_rows() if segment.paper_weights else None
        parts.append(VectorBlock(hash64(texts), rows, segment.papers.vectors, weights))
        if segment.passages is not None:
            own = segment.passages_of(rows)
            weights = segment.passage_weights.by_rows() if segment.passage_weights else None
            passages = (one.text for one in passage_texts(segment.store, segment.passage_locations[own]))
            parts.append(VectorBlock(hash64(passages), own, segment.passages.vectors, weights))
    return KnownVectors(parts)


def no_progress(done: int, total: int) -> None:
    """Ignores progress."""


class TextEmbedding:
    """Embeds texts sorted by length, which wastes the least padding, and reuses vectors that are known."""

    def __init__(
        self,
        embedder: Embedder,
        progress: OnProgress,
        *known: KnownVectors,
        lexical: LexicalEmbedder | None = None,
    ) -> None:
        """Where several of `known` have a text, the first one's vector is used. `lexical` is the embedder again where
        the weights of its tokens are wanted: vectors without them are then not known."""
        self.embedder = embedder
        self.lexical = lexical
        self.embedded = 0
        """Texts that the model has read so far."""
        self._known = [one for one in known if lexical is None or one.weighed]
        self._progress = progress
        self._done = self._total = 0

    @property
    def signature(self) -> str:
        """Of the vectors that cannot be computed from the texts."""
        return "".join(known.signature for known in self._known)

    async def fill(self, vectors: Vectors, texts: Iterator[str], spool: LexicalSpool | None = None) -> None:
        """Fills `vectors` with the texts' passage vectors; there must be as many texts. Their weights go to the spool,
        which must be given where they are wanted."""
        self._total += len(vectors)
        row = 0
        while some := await asyncio.to_thread(list, islice(texts, _WINDOW)):
            weights = await self._fill(vectors[row : row + len(some)], some)
            if spool is not None:
                await asyncio.to_thread(spool.append, [weights[own] for own in range(len(some))])
            row += len(some)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self._total += len(texts)
        vectors = np.empty((len(texts), self.embedder.dimensions), np.float32)
        await self._embed(vectors, texts, range(len(texts)), "query")
        return vectors

    async def _fill(self, vectors: Vectors, texts: Sequence[str]) -> dict[int, LexicalWeights]:
        """Weights by row, where they are wanted."""
        missing, weights = np.arange(len(texts)), dict[int, LexicalWeights]()
        keys = hash64(texts if self._known else ())
        for known in self._known:
            missing = known.fill(vectors, keys, missing, weights if self.lexical else None)
        self._advance(len(texts) - len(missing))
        await self._embed(vectors, texts, missing.tolist(), "passage", weights)
        return weights

    async def _embed(
        self,
        vectors: Vectors,
        texts: Sequence[str],
        rows: Sequence[int],
        kind: Literal["query", "passage"],
        weights: dict[int, LexicalWeights] | None = None,
    ) -> None:
        order = sorted(rows, key=lambda row: len(texts[row]))
        for start in range(0, len(order), _EMBEDDED_AT_ONCE):
            some = order[start : start + _EMBEDDED_AT_ONCE]
            own = [texts[row] for row in some]
            if self.lexical is None or weights is None:
                vectors[some] = await self.embedder.embed(own, kind)
            else:
                weighed = await self.lexical.embed_with_weights(own, kind)
                vectors[some] = weighed.vectors
                weights.update(zip(some, weighed.lexical, strict=True))
            self.embedded += len(some)
            self._advance(len(some))

    def _advance(self, texts: int) -> None:
        self._done += texts
        if texts:
            self._progress(self._done, self._total)
