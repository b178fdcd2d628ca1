"""Vectors that texts have already, so that no text is embedded twice."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from assayer.ports import Vectors
from index.building.revision import RowsOf
from index.building.texts import passage_texts
from index.ids import Hashes, hashed
from index.reading.record_files import FiledRecord
from index.reading.records import PaperRecord
from index.segments.layout import paper_text

__all__ = ["KnownVectors", "Part", "ReadyVectors", "known_vectors"]


class Part(NamedTuple):
    """Texts, by their hashes, and the rows of their vectors in an array."""

    texts: Hashes
    rows: NDArray[np.int64]
    vectors: Vectors


class KnownVectors:
    """By the texts' hashes: some twenty bytes a text, whatever the array that holds the vectors."""

    def __init__(self, parts: Sequence[Part], signature: str = "") -> None:
        """`signature` stands for vectors that nothing else of a corpus tells, such as those that came with records."""
        self.signature = signature
        self._vectors = [part.vectors for part in parts]
        texts = np.concatenate([np.empty(0, np.uint64), *(part.texts for part in parts)])
        order = np.argsort(texts, kind="stable")
        self._texts = texts[order]
        self._rows = np.concatenate([np.empty(0, np.int64), *(part.rows for part in parts)])[order]
        self._parts = np.repeat(np.arange(len(parts), dtype=np.int16), [len(part.texts) for part in parts])[order]

    def fill(self, vectors: Vectors, texts: Hashes, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Copies vectors to those of the rows whose texts are known, and gives back the other rows. `texts` are of all
        rows of `vectors`."""
        wanted = texts[rows]
        places = np.searchsorted(self._texts, wanted)
        known = places < len(self._texts)
        known[known] = self._texts[places[known]] == wanted[known]
        places, found = places[known], rows[known]
        for number, own in enumerate(self._vectors):
            here = self._parts[places] == number
            vectors[found[here]] = own[self._rows[places[here]]]
        return rows[~known]


class ReadyVectors:
    """Vectors that came with records, in a nameless file that grows with them until it is closed."""

    def __init__(self, directory: Path | None = None) -> None:
        """The file takes its space in the directory, or where the system puts temporary files."""
        self._file = TemporaryFile(dir=directory)  # noqa: SIM115 # closed with this
        self._texts = array("Q")
        self._dimensions = 0
        self._made = blake2b(digest_size=8)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def kept(self, records: Iterable[FiledRecord]) -> Iterator[PaperRecord]:
        """The records, while their vectors, which must be good ones, are kept."""
        for record, vector in records:
            if vector is not None:
                text = int(hashed([paper_text(record.title, record.abstract)])[0])
                written = vector.values.astype(np.float16).tobytes()
                self._dimensions = len(vector.values)
                self._texts.append(text)
                self._file.write(written)
                self._made.update(text.to_bytes(8, "little") + written)
            yield record

    def known(self) -> KnownVectors:
        """All that were kept, of the same text the first. They stay when the file is closed."""
        if not self._texts:
            return KnownVectors([])
        self._file.flush()
        vectors = np.memmap(self._file, np.float16, "r", shape=(len(self._texts), self._dimensions))
        texts = np.frombuffer(self._texts, np.uint64)
        return KnownVectors([Part(texts, np.arange(len(texts)), np.asarray(vectors))], self._made.hexdigest())


def known_vectors(papers: Iterable[RowsOf]) -> KnownVectors:
    """Of these papers, and of their passages."""
    parts = []
    for segment, rows in papers:
        texts = (paper_text(*segment.store.text(row)) for row in rows.tolist())
        parts.append(Part(hashed(texts), rows, segment.papers.vectors))
        if segment.passages is not None:
            own = segment.passages_of(rows)
            parts.append(
                Part(
                    hashed(one.text for one in passage_texts(segment.store, segment.places[own])),
                    own,
                    segment.passages.vectors,
                )
            )
    return KnownVectors(parts)
