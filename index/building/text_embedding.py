"""Embed texts, and reuse known vectors, so that no text is embedded twice."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.ports import Embedder, LexicalEmbedder, LexicalWeights, Vectors
from index.building.compaction import SegmentRows
from index.hashing import Hashes, hash64
from index.segments.lexical_rows import LexicalRows, LexicalSpool
from index.segments.passages import build_paper_text, iterate_passage_texts

OnProgress = Callable[[int, int], None]
"""Callback for progress, called with the number of texts done so far and the total expected so far. It must not raise
exceptions."""
_EMBEDDED_AT_ONCE = 128
_WINDOW = 16_384
"""Number of texts that are held in memory and sorted by length at a time."""


class VectorBlock(NamedTuple):
    """Array of vectors, with the texts' hashes and the row of each text's vector."""

    texts: Hashes
    rows: NDArray[np.int64]
    vectors: Vectors
    lexical: LexicalRows | None = None
    """Lexical weights of the texts, in the same rows as the vectors; None if unknown."""


class KnownVectors:
    """Vectors, keyed by the hashes of their texts. The lookup table takes about twenty bytes of memory per text; the
    vectors stay in their arrays."""

    def __init__(self, parts: Sequence[VectorBlock], signature: str = "") -> None:
        """Build the lookup table. `signature` identifies vectors that cannot be recomputed from the texts, such as
        those supplied with records; it becomes part of segment names."""
        self.signature = signature
        self.weighed = bool(parts) and all(part.lexical is not None for part in parts)
        """True if the lexical weights of all texts are known too."""
        self._lexical = [part.lexical for part in parts]
        self._vectors = [part.vectors for part in parts]
        texts = np.concatenate([np.empty(0, np.uint64), *(part.texts for part in parts)])
        order = np.argsort(texts, kind="stable")
        self._texts = texts[order]
        del texts
        self._rows = np.concatenate([np.empty(0, np.int64), *(part.rows for part in parts)])[order]
        self._parts = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part.texts) for part in parts])[order]

    def __len__(self) -> int:
        """Return the number of texts, counting duplicates."""
        return len(self._texts)

    def fill(
        self,
        vectors: Vectors,
        texts: Hashes,
        rows: NDArray[np.int64],
        lexical: dict[int, LexicalWeights] | None = None,
    ) -> NDArray[np.int64]:
        """Copy known vectors into `vectors` at the given rows, and their lexical weights into `lexical` unless it is
        None. Return the rows whose texts are unknown. `texts` has a hash for each row in `vectors`."""
        wanted_hashes = texts[rows]
        places = np.searchsorted(self._texts, wanted_hashes)
        is_known = places < len(self._texts)
        is_known[is_known] = self._texts[places[is_known]] == wanted_hashes[is_known]
        places, found_rows = places[is_known], rows[is_known]
        parts = self._parts[places]
        order_by_part = np.argsort(parts, kind="stable")
        numbers, starts = np.unique(parts[order_by_part], return_index=True)
        for number, group in zip(
            numbers.tolist(), np.split(order_by_part, starts[1:]), strict=False
        ):  # a group can be empty
            part_rows = self._rows[places[group]]
            vectors[found_rows[group]] = self._vectors[number][part_rows]
            weights = self._lexical[number]
            if lexical is not None and weights is not None:
                pairs = zip(found_rows[group].tolist(), part_rows.tolist(), strict=True)
                lexical.update((row, weights.get_row(weights_row)) for row, weights_row in pairs)
        return rows[~is_known]


def load_segment_vectors(papers: Iterable[SegmentRows]) -> KnownVectors:
    """Return the vectors that segments store for papers and their passages, with lexical weights if there are any."""
    parts = []
    for segment, rows in papers:
        texts = (build_paper_text(*segment.store.get_title_and_abstract(row)) for row in rows.tolist())
        weights = segment.paper_weights.read_by_row() if segment.paper_weights else None
        parts.append(VectorBlock(hash64(texts), rows, segment.papers.vectors, weights))
        if segment.passages is not None:
            passage_rows = segment.find_passage_rows(rows)
            weights = segment.passage_weights.read_by_row() if segment.passage_weights else None
            passages = (
                passage_text.text
                for passage_text in iterate_passage_texts(segment.store, segment.passage_locations[passage_rows])
            )
            parts.append(VectorBlock(hash64(passages), passage_rows, segment.passages.vectors, weights))
    return KnownVectors(parts)


def ignore_progress(done: int, total: int) -> None:
    """Do nothing; the default for OnProgress."""


class TextEmbedding:
    """Computes vectors for texts, and reuses known vectors. Texts are embedded in order of length to minimise
    padding."""

    def __init__(
        self,
        embedder: Embedder,
        progress: OnProgress,
        *known_vectors: KnownVectors,
        lexical: LexicalEmbedder | None = None,
    ) -> None:
        """Prepare to embed. A text's vector is taken from the first of `known_vectors` that has it. If `lexical` is
        set, it must be the same object as `embedder`. Lexical weights are then computed too, and members of
        `known_vectors` without weights are ignored."""
        self.embedder = embedder
        self.lexical = lexical
        self.embedded = 0
        """Number of texts embedded by the model so far."""
        self._known_vectors = [
            known_vector for known_vector in known_vectors if lexical is None or known_vector.weighed
        ]
        self._progress = progress
        self._done_count = self._total = 0

    @property
    def signature(self) -> str:
        """Signature of the known vectors that cannot be recomputed from the texts."""
        return "".join(vectors.signature for vectors in self._known_vectors)

    async def fill(self, vectors: Vectors, texts: Iterator[str], spool: LexicalSpool | None = None) -> None:
        """Write the texts' passage vectors into `vectors`, which must have one row per text. Lexical weights are
        appended to `spool`, which is required if they are computed."""
        self._total += len(vectors)
        row = 0
        while chunk := await asyncio.to_thread(list, islice(texts, _WINDOW)):
            weights = await self._fill(vectors[row : row + len(chunk)], chunk)
            if spool is not None:
                await asyncio.to_thread(spool.append, [weights[number] for number in range(len(chunk))])
            row += len(chunk)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self._total += len(texts)
        vectors = np.empty((len(texts), self.embedder.dimensions), np.float32)
        await self._embed(vectors, texts, range(len(texts)), "query")
        return vectors

    async def _fill(self, vectors: Vectors, texts: Sequence[str]) -> dict[int, LexicalWeights]:
        """Fill `vectors`, and return lexical weights keyed by row, if they are computed."""
        missing_rows, weights = np.arange(len(texts)), dict[int, LexicalWeights]()
        keys = hash64(texts if self._known_vectors else ())
        for known_vectors in self._known_vectors:
            missing_rows = known_vectors.fill(vectors, keys, missing_rows, weights if self.lexical else None)
        self._advance(len(texts) - len(missing_rows))
        await self._embed(vectors, texts, missing_rows.tolist(), "passage", weights)
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
            batch_rows = order[start : start + _EMBEDDED_AT_ONCE]
            batch_texts = [texts[row] for row in batch_rows]
            if self.lexical is None or weights is None:
                vectors[batch_rows] = await self.embedder.embed(batch_texts, kind)
            else:
                weighed_texts = await self.lexical.embed_with_weights(batch_texts, kind)
                vectors[batch_rows] = weighed_texts.vectors
                weights.update(zip(batch_rows, weighed_texts.lexical, strict=True))
            self.embedded += len(batch_rows)
            self._advance(len(batch_rows))

    def _advance(self, texts: int) -> None:
        self._done_count += texts
        if texts:
            self._progress(self._done_count, self._total)
