"""Papers in the order of their dates, however many: sorted runs in one file, merged block by block."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from index.ids import Hashes
from index.reading.records import PaperRecord
from index.segments.store import BATCH, PAPERS_SCHEMA, batch_of

__all__ = ["SortedPapers", "sort_papers"]

_RUN = 16_384
"""Records held in memory while they are read."""
_BLOCK = 8 * BATCH
"""Rows held in memory while they are merged."""
_ORDER = [("publication_date", "ascending"), ("id", "ascending")]
_KEYS = ["publication_date", "id", "digest"]


def sort_papers(records: Iterable[PaperRecord], path: Path) -> "SortedPapers":
    """By date, then by id, undated last. The file holds the records; in memory stay their keys alone."""
    keys = []
    waiting = iter(records)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, PAPERS_SCHEMA) as writer:
        while some := list(islice(waiting, _RUN)):
            run = batch_of(some)
            run = run.take(pc.sort_indices(run, sort_keys=_ORDER))
            writer.write_batch(run)
            keys.append(run.select(_KEYS))
    schema = pa.schema([PAPERS_SCHEMA.field(name) for name in _KEYS])
    return SortedPapers(path, pa.Table.from_batches(keys, schema))


class SortedPapers:
    def __init__(self, path: Path, keys: pa.Table) -> None:
        """`keys` in the order of the file."""
        reader = pa.ipc.open_file(pa.memory_map(str(path)))
        self._runs = [reader.get_batch(number) for number in range(reader.num_record_batches)]
        self._order: NDArray[np.int64] = pc.sort_indices(keys, sort_keys=_ORDER).to_numpy().astype(np.int64)
        self.digests: Hashes = keys["digest"].to_numpy()[self._order]
        """Of the papers in order."""

    def __len__(self) -> int:
        return len(self._order)

    def batches(self, first: int, last: int) -> Iterator[pa.RecordBatch]:
        """The papers from `first` up to `last` in batches as a store holds them."""
        for start in range(first, last, _BLOCK):
            yield from self._block(self._order[start : min(last, start + _BLOCK)]).to_batches(max_chunksize=BATCH)

    def _block(self, rows: NDArray[np.int64]) -> pa.Table:
        """Each run is sorted too, so its part of a block is one slice of it."""
        runs, places = np.divmod(rows, _RUN)
        pieces, wanted, taken = [], np.empty(len(rows), np.int64), 0
        for run in np.unique(runs):
            here = runs == run
            first, last = int(places[here].min()), int(places[here].max()) + 1
            wanted[here] = taken + places[here] - first
            pieces.append(self._runs[run].slice(first, last - first))
            taken += last - first
        return pa.Table.from_batches(pieces).combine_chunks().take(pa.array(wanted))
