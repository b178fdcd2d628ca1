"""The records of a segment in an Arrow file, memory-mapped like all that lies beside it: opening reads nothing."""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assayer.models import Identifiers, Paper, PaperId, Retraction, Section
from index.ids import Hashes, IdTable, hashed, write_ids
from index.reading.records import PaperRecord

__all__ = ["BATCH", "PAPERS_SCHEMA", "SOURCE", "PaperStore", "batch_of", "digest", "write_papers"]

SOURCE = "corpus"
_FILE, _DAYS = "papers.arrow", "days.npy"
_EPOCH = dt.date(1970, 1, 1)
BATCH = 1024
"""Rows of a record batch; all but the last have as many."""
_REMEMBERED = 8192
"""Papers kept as objects."""

PAPERS_SCHEMA = pa.schema(
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
        pa.field("fields", pa.list_(pa.string()), nullable=False),
        pa.field("retracted", pa.bool_(), nullable=False),
        pa.field("digest", pa.uint64(), nullable=False),
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
_RECORD_FIELDS = [name for name in PaperRecord.model_fields if name in PAPERS_SCHEMA.names]
_SEARCHED_FIELDS = ["title", "abstract", "publication_date", "venue", "fields", "retracted", "sections"]


def digest(record: PaperRecord) -> int:
    """Of all that a record says: equal ones need no update. The year is in the date."""
    return int(hashed([record.model_dump_json(exclude={"year"})])[0])


def batch_of(records: Sequence[PaperRecord]) -> pa.RecordBatch:
    rows = [record.model_dump() | {"digest": digest(record)} for record in records]
    return pa.RecordBatch.from_pylist(rows, schema=PAPERS_SCHEMA)


def write_papers(batches: Iterable[pa.RecordBatch], directory: Path) -> None:
    """Sorted by date, undated last; each batch of `BATCH` rows, the last of fewer."""
    hashes, days = [np.empty(0, np.uint64)], [np.empty(0, np.int32)]
    with (
        pa.OSFile(str(directory / _FILE), "wb") as file,
        pa.ipc.new_file(file, PAPERS_SCHEMA) as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)
            hashes.append(hashed(batch["id"].to_pylist()))
            days.append(batch["publication_date"].drop_null().cast(pa.int32()).to_numpy())
    write_ids(np.concatenate(hashes), directory)
    np.save(directory / _DAYS, np.concatenate(days))


class PaperStore:
    """Papers by row or id. Rows are sorted by date, undated last."""

    def __init__(self, directory: Path) -> None:
        reader = pa.ipc.open_file(pa.memory_map(str(directory / _FILE)))
        self._batches: list[Any] = [reader.get_batch(i) for i in range(reader.num_record_batches)]
        self._ids = IdTable(directory)
        self._days: NDArray[np.int32] = np.asarray(np.load(directory / _DAYS, mmap_mode="r"))
        self.paper = lru_cache(_REMEMBERED)(self._paper)

    def __len__(self) -> int:
        return len(self._ids)

    def row(self, paper_id: PaperId) -> int | None:
        return self.rows([paper_id]).get(paper_id)

    def rows(self, ids: Iterable[PaperId]) -> dict[PaperId, int]:
        """Of the known ones."""
        asked = list(dict.fromkeys(ids))
        found = zip(asked, self._ids.candidates(hashed(asked)), strict=True)
        return {one: row for one, rows in found for row in rows if self.id(row) == one}

    def with_hashes(self, hashes: Hashes) -> list[list[int]]:
        """For each hash of an id the rows that have it."""
        return self._ids.candidates(hashes)

    def id(self, row: int) -> PaperId:
        return PaperId(self._value("id", row))

    def digest(self, row: int) -> int:
        return int(self._value("digest", row))

    def record(self, row: int) -> PaperRecord:
        """As it was written, the year apart, which is in the date."""
        batch, place = self._batches[row // BATCH], row % BATCH
        fields = {name: batch[name][place].as_py() for name in _RECORD_FIELDS}
        day = fields["publication_date"]
        return PaperRecord.model_validate(fields | {"publication_date": day and day.isoformat()})

    def records(self) -> Iterator[dict[str, Any]]:
        """The columns that texts to search are made of, row by row."""
        for batch in self._batches:
            yield from batch.select(_SEARCHED_FIELDS).to_pylist()

    def searched(self, row: int) -> dict[str, Any]:
        """The same columns of one row."""
        return {name: self._value(name, row) for name in _SEARCHED_FIELDS}

    def column(self, name: str) -> Any:
        """A whole column, as Arrow holds it."""
        return pa.chunked_array([batch[name] for batch in self._batches])

    def until(self, before: dt.date | None) -> int:
        """How many of the first rows count: all without a cutoff, else those published up to that day."""
        if before is None:
            return len(self)
        return int(np.searchsorted(self._days, (before - _EPOCH).days, side="right"))

    def since(self, after: dt.date | None) -> int:
        """Row of the first paper published on that day or later; undated papers count as later."""
        return 0 if after is None else int(np.searchsorted(self._days, (after - _EPOCH).days, side="left"))

    def days(self) -> tuple[dt.date, ...]:
        """On which its rows were published, each once, in order."""
        return tuple(_EPOCH + dt.timedelta(days=int(day)) for day in np.unique(self._days))

    def newest(self, before: dt.date | None) -> dt.date | None:
        """Day of the last dated row that counts."""
        rows = min(self.until(before), len(self._days))
        return _EPOCH + dt.timedelta(days=int(self._days[rows - 1])) if rows else None

    def _paper(self, row: int) -> Paper:
        batch, place = self._batches[row // BATCH], row % BATCH
        retraction = Retraction(kind="retracted", source=SOURCE) if batch["retracted"][place].as_py() else None
        fields = {field: batch[field][place].as_py() for field in _PAPER_FIELDS}
        return Paper(source=SOURCE, retraction=retraction, **fields)

    def references(self, row: int) -> tuple[PaperId, ...] | None:
        """None when the sources did not say."""
        found = self._value("references", row)
        return None if found is None else tuple(map(PaperId, found))

    def says_references(self, row: int) -> bool:
        return bool(self._batches[row // BATCH]["references"][row % BATCH].is_valid)

    def sections(self, row: int) -> tuple[Section, ...]:
        return tuple(Section(**section) for section in self._value("sections", row) or ())

    def text(self, row: int) -> tuple[str, str]:
        """Title and abstract."""
        return self._value("title", row), self._value("abstract", row)

    def abstracts(self, rows: Iterable[int]) -> Iterator[str]:
        for row in rows:
            yield self._value("abstract", row)

    def _value(self, column: str, row: int) -> Any:
        return self._batches[row // BATCH][column][row % BATCH].as_py()
