"""The records of a corpus in an Arrow file, memory-mapped: opening reads ids and dates only."""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assayer.models import Identifiers, Paper, PaperId, Section
from index.records import PaperRecord

__all__ = ["PaperStore", "write_papers"]

SOURCE = "corpus"
_FILE = "papers.arrow"
_BATCH = 1024
"""Rows of a record batch; all but the last have as many."""
_REMEMBERED = 8192
"""Papers kept as objects."""

_SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("title", pa.string(), nullable=False),
        pa.field("abstract", pa.string(), nullable=False),
        pa.field("authors", pa.list_(pa.string()), nullable=False),
        pa.field("publication_date", pa.date32()),
        pa.field("venue", pa.string(), nullable=False),
        pa.field("url", pa.string(), nullable=False),
        pa.field("citation_count", pa.int32()),
        pa.field("identifiers", pa.struct([(space, pa.string()) for space in Identifiers.model_fields])),
        pa.field("references", pa.list_(pa.string())),
        pa.field("sections", pa.list_(pa.struct([("title", pa.string()), ("text", pa.string())]))),
    ]
)
_PAPER_FIELDS = (
    "id",
    "title",
    "abstract",
    "authors",
    "publication_date",
    "venue",
    "url",
    "citation_count",
    "identifiers",
)


def write_papers(records: Sequence[PaperRecord], directory: Path) -> None:
    """`records` sorted by date, undated last."""
    with (
        pa.OSFile(str(directory / _FILE), "wb") as file,
        pa.ipc.new_file(file, _SCHEMA) as writer,
    ):
        for start in range(0, len(records), _BATCH):
            some = [record.model_dump() for record in records[start : start + _BATCH]]
            writer.write_batch(pa.RecordBatch.from_pylist(some, schema=_SCHEMA))


class PaperStore:
    """Papers by row or id. Rows are sorted by date, undated last."""

    def __init__(self, directory: Path) -> None:
        reader = pa.ipc.open_file(pa.memory_map(str(directory / _FILE)))
        self._batches: list[Any] = [reader.get_batch(i) for i in range(reader.num_record_batches)]
        ids = (PaperId(one) for batch in self._batches for one in batch["id"].to_pylist())
        self._rows = {paper_id: row for row, paper_id in enumerate(ids)}
        self._days = _days(self._batches)
        self.paper = lru_cache(_REMEMBERED)(self._paper)

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, paper_id: PaperId) -> int | None:
        return self._rows.get(paper_id)

    def rows(self, ids: Iterable[PaperId]) -> dict[PaperId, int]:
        """Of the known ones."""
        return {one: self._rows[one] for one in ids if one in self._rows}

    def until(self, before: dt.date | None) -> int:
        """How many of the first rows count: all without a cutoff, else those published up to that day."""
        if before is None:
            return len(self)
        return int(np.searchsorted(self._days, (before - dt.date(1970, 1, 1)).days, side="right"))

    def days(self) -> tuple[dt.date, ...]:
        """On which its rows were published, each once, in order."""
        return tuple(dt.date(1970, 1, 1) + dt.timedelta(days=int(day)) for day in np.unique(self._days))

    def newest(self, before: dt.date | None) -> dt.date | None:
        """Day of the last dated row that counts."""
        rows = min(self.until(before), len(self._days))
        return dt.date(1970, 1, 1) + dt.timedelta(days=int(self._days[rows - 1])) if rows else None

    def _paper(self, row: int) -> Paper:
        batch, place = self._batches[row // _BATCH], row % _BATCH
        return Paper(source=SOURCE, **{field: batch[field][place].as_py() for field in _PAPER_FIELDS})

    def references(self, row: int) -> tuple[PaperId, ...] | None:
        """None when the sources did not say."""
        found = self._batches[row // _BATCH]["references"][row % _BATCH].as_py()
        return None if found is None else tuple(map(PaperId, found))

    def sections(self, row: int) -> tuple[Section, ...]:
        found = self._batches[row // _BATCH]["sections"][row % _BATCH].as_py() or ()
        return tuple(Section(**section) for section in found)

    def abstracts(self, rows: Iterable[int]) -> Iterator[str]:
        for row in rows:
            yield self._batches[row // _BATCH]["abstract"][row % _BATCH].as_py()


def _days(batches: Iterable[Any]) -> NDArray[np.int32]:
    """Days since 1970 of the dated rows, ascending."""
    columns = [batch["publication_date"].drop_null().cast(pa.int32()) for batch in batches]
    return np.concatenate([column.to_numpy() for column in columns]) if columns else np.empty(0, np.int32)
