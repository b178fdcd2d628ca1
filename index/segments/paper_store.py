"""The records of a segment in a memory-mapped Arrow file, found by row or id: opening reads nothing."""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assayer.models import Identifiers, Paper, PaperId, Retraction, Section
from index.hashing import Hashes, hash64
from index.records.paper_record import CitedInText, PaperRecord, works_json
from index.segments.citation_graph import UNDATED
from index.segments.cited_in_text import CitedInTextFile, CitedInTextWriter

__all__ = [
    "BATCH",
    "PAPERS_SCHEMA",
    "SORTING_SCHEMA",
    "SOURCE",
    "IdIndex",
    "PaperStore",
    "record_batch",
    "record_digest",
    "write_id_index",
    "write_papers",
]


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
_CITED = "cited_in_text"
SORTING_SCHEMA = PAPERS_SCHEMA.append(pa.field(_CITED, pa.string()))
"""With what the text cites, as JSON: few papers have it, so it lies in a file of its own."""
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
_HASHES, _ROWS = "ids.npy", "id-rows.npy"


def record_digest(record: PaperRecord) -> int:
    """Hash of the whole record: equal records need no update. The year is part of the date."""
    unsaid = {"year"} if record.cited_in_text else {"year", _CITED}
    return int(hash64([record.model_dump_json(exclude=unsaid)])[0])


def record_batch(records: Sequence[PaperRecord]) -> pa.RecordBatch:
    """With the columns of `SORTING_SCHEMA`."""
    return pa.RecordBatch.from_pylist([_row(record) for record in records], schema=SORTING_SCHEMA)


def _row(record: PaperRecord) -> dict[str, Any]:
    fields = record.model_dump(exclude={_CITED})
    return fields | {"digest": record_digest(record), _CITED: works_json(record.cited_in_text)}


def write_papers(batches: Iterable[pa.RecordBatch], directory: Path) -> None:
    """With the columns of `SORTING_SCHEMA`, sorted by date, undated last; each batch of `BATCH` rows, the last of
    fewer."""
    hashes, days = [np.empty(0, np.uint64)], [np.empty(0, np.int32)]
    with (
        pa.OSFile(str(directory / _FILE), "wb") as file,
        pa.ipc.new_file(file, PAPERS_SCHEMA) as writer,
        CitedInTextWriter(directory) as cited,
    ):
        for batch in batches:
            writer.write_batch(batch.select(PAPERS_SCHEMA.names))
            cited.write(batch[_CITED])
            hashes.append(hash64(batch["id"].to_pylist()))
            days.append(batch["publication_date"].drop_null().cast(pa.int32()).to_numpy())
    write_id_index(np.concatenate(hashes), directory)
    np.save(directory / _DAYS, np.concatenate(days))


class PaperStore:
    """Papers by row or id. Rows are sorted by date, undated last."""

    def __init__(self, directory: Path) -> None:
        reader = pa.ipc.open_file(pa.memory_map(str(directory / _FILE)))
        self._batches: list[Any] = [reader.get_batch(i) for i in range(reader.num_record_batches)]
        self._ids = IdIndex(directory)
        self._cited = CitedInTextFile(directory)
        self._days: NDArray[np.int32] = np.asarray(np.load(directory / _DAYS, mmap_mode="r"))
        self.paper = lru_cache(_REMEMBERED)(self._paper)

    def __len__(self) -> int:
        return len(self._ids)

    def rows(self, ids: Iterable[PaperId]) -> dict[PaperId, int]:
        """Of the known ones."""
        asked = list(dict.fromkeys(ids))
        found = zip(asked, self._ids.candidates(hash64(asked)), strict=True)
        return {one: row for one, rows in found for row in rows if self.id(row) == one}

    def rows_with_hashes(self, hashes: Hashes) -> list[list[int]]:
        """For each hash of an id the rows that have it."""
        return self._ids.candidates(hashes)

    def id(self, row: int) -> PaperId:
        return PaperId(self._value("id", row))

    def ids(self, rows: NDArray[np.int64]) -> list[PaperId]:
        """Of rows in ascending order."""
        numbers, places = np.divmod(rows, BATCH)
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        found: list[PaperId] = []
        for start, some in zip(starts.tolist(), np.split(places, starts[1:]), strict=False):
            found += self._batches[int(numbers[start])]["id"].take(pa.array(some)).to_pylist()
        return found

    def matches(self, hashes: Hashes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Places among the hashes, ascending, and the rows that have the hashes there."""
        return self._ids.matches(hashes)

    def digest(self, row: int) -> int:
        return int(self._value("digest", row))

    def record(self, row: int) -> PaperRecord:
        """The record as it was written, without the year, which is part of the date."""
        batch, place = self._batches[row // BATCH], row % BATCH
        fields = {name: batch[name][place].as_py() for name in _RECORD_FIELDS}
        day = fields["publication_date"]
        return PaperRecord.model_validate(
            fields | {"publication_date": day and day.isoformat(), _CITED: self.cited_in_text(row)}
        )

    @property
    def rows_citing_in_text(self) -> NDArray[np.uint32]:
        """Rows of the papers whose texts are known to cite something, ascending."""
        return self._cited.rows

    def cited_in_text(self, row: int) -> tuple[CitedInText, ...]:
        """What the text of a paper cites, as far as its record says."""
        return self._cited.works(row)

    def all_indexed_columns(self) -> Iterator[dict[str, Any]]:
        """The columns that indexed texts are made of, row by row."""
        for rows in self.batches(_SEARCHED_FIELDS):
            yield from rows

    def batches(self, columns: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
        """Some columns of all rows, a batch at a time."""
        for batch in self._batches:
            yield batch.select(list(columns)).to_pylist()

    def indexed_columns(self, row: int) -> dict[str, Any]:
        """The same columns of one row."""
        return {name: self._value(name, row) for name in _SEARCHED_FIELDS}

    def column(self, name: str) -> Any:
        """A whole column, as Arrow holds it."""
        return pa.chunked_array([batch[name] for batch in self._batches])

    def count_until(self, before: dt.date | None) -> int:
        """How many of the first rows are in a window with that last day: all without one, else those published up to
        it."""
        if before is None:
            return len(self)
        return int(np.searchsorted(self._days, (before - _EPOCH).days, side="right"))

    def first_row_since(self, after: dt.date | None) -> int:
        """Row of the first paper published on that day or later; undated papers come after all days."""
        return 0 if after is None else int(np.searchsorted(self._days, (after - _EPOCH).days, side="left"))

    @property
    def dated(self) -> int:
        """How many of the first rows have a date: all others have none."""
        return len(self._days)

    def day_number(self, row: int) -> int:
        """Of publication, since 1970; `UNDATED` without a date."""
        return int(self._days[row]) if row < len(self._days) else UNDATED

    def day_numbers(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """As `day_number`."""
        days = np.full(len(rows), UNDATED, np.int32)
        dated = rows < len(self._days)
        days[dated] = self._days[rows[dated]]
        return days

    def publication_days(self) -> tuple[dt.date, ...]:
        """On which its rows were published, each once, in order."""
        return tuple(_EPOCH + dt.timedelta(days=int(day)) for day in np.unique(self._days))

    def _paper(self, row: int) -> Paper:
        batch, place = self._batches[row // BATCH], row % BATCH
        retraction = Retraction(kind="retracted", source=SOURCE) if batch["retracted"][place].as_py() else None
        fields = {field: batch[field][place].as_py() for field in _PAPER_FIELDS}
        return Paper(source=SOURCE, retraction=retraction, **fields)

    def has_references(self, row: int) -> bool:
        return bool(self._batches[row // BATCH]["references"][row % BATCH].is_valid)

    def sections(self, row: int) -> tuple[Section, ...]:
        return tuple(Section(**section) for section in self._value("sections", row) or ())

    def title_and_abstract(self, row: int) -> tuple[str, str]:
        """Of one row."""
        return self._value("title", row), self._value("abstract", row)

    def _value(self, column: str, row: int) -> Any:
        return self._batches[row // BATCH][column][row % BATCH].as_py()


def write_id_index(hashes: Hashes, directory: Path) -> None:
    """From the hashes of ids in the order of their rows."""
    order = np.argsort(hashes, kind="stable")
    np.save(directory / _HASHES, hashes[order])
    np.save(directory / _ROWS, order.astype(np.uint32))


class IdIndex:
    """Rows by hash of the id."""

    def __init__(self, directory: Path) -> None:
        self._hashes: Hashes = np.asarray(np.load(directory / _HASHES, mmap_mode="r"))
        self._rows: NDArray[np.uint32] = np.asarray(np.load(directory / _ROWS, mmap_mode="r"))

    def __len__(self) -> int:
        return len(self._hashes)

    def candidates(self, hashes: Hashes) -> list[list[int]]:
        """For each hash the rows that have it: none, one, or after a collision several."""
        first = np.searchsorted(self._hashes, hashes, side="left").tolist()
        last = np.searchsorted(self._hashes, hashes, side="right").tolist()
        return [self._rows[start:end].tolist() for start, end in zip(first, last, strict=True)]

    def matches(self, hashes: Hashes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Places among the hashes, ascending, and the rows that have the hashes there."""
        first = np.searchsorted(self._hashes, hashes, side="left")
        counts = np.searchsorted(self._hashes, hashes, side="right") - first
        places = np.repeat(np.arange(len(hashes)), counts)
        later = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
        return places, self._rows[first[places] + later].astype(np.int64)
