"""Store for a segment's records, in a memory-mapped Arrow file, with lookup by row or id. Opening it reads no data."""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assayer.models import Identifiers, Paper, PaperId, Retraction, Section
from index.arrays import load_array
from index.hashing import hash64
from index.records.paper_record import CitedInText, PaperRecord, format_works_as_json
from index.segments.citation_graph import UNDATED
from index.segments.cited_in_text import CitedInTextFile, CitedInTextWriter
from index.segments.hashed_rows import HashedRows, RowFiles
from index.segments.weak_method import cache_method

SOURCE = "corpus"
_FILE, _DAYS = "papers.arrow", "days.npy"
_EPOCH = dt.date(1970, 1, 1)
BATCH = 1024
"""Number of rows in a record batch; only the last batch may have fewer."""
_REMEMBERED = 8192
"""Number of Paper objects to cache."""

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
"""Schema used for sorting, which also contains the works cited in the text, as JSON. These are stored in a separate
file, because few papers have any."""
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
_IDS = RowFiles("ids.npy", "id-rows.npy")


def compute_record_digest(record: PaperRecord) -> int:
    """Return a hash of the whole record. Updates use it to recognise unchanged records. The year is excluded, because
    it is part of the date."""
    excluded_fields = {"year"} if record.cited_in_text else {"year", _CITED}
    return int(hash64([record.model_dump_json(exclude=excluded_fields)])[0])


def build_record_batch(records: Sequence[PaperRecord]) -> pa.RecordBatch:
    """Return a batch of records with the columns of `SORTING_SCHEMA`."""
    return pa.RecordBatch.from_pylist([_build_row(record) for record in records], schema=SORTING_SCHEMA)


def _build_row(record: PaperRecord) -> dict[str, Any]:
    fields = record.model_dump(exclude={_CITED})
    return fields | {"digest": compute_record_digest(record), _CITED: format_works_as_json(record.cited_in_text)}


def write_papers(batches: Iterable[pa.RecordBatch], directory: Path) -> None:
    """Write papers. `batches` must have the columns of `SORTING_SCHEMA`, contain `BATCH` rows each (the last may have
    fewer), and be sorted by date, with undated papers last."""
    hashes, days = [np.empty(0, np.uint64)], [np.empty(0, np.int32)]
    with (
        pa.OSFile(str(directory / _FILE), "wb") as file,
        pa.ipc.new_file(file, PAPERS_SCHEMA) as writer,
        CitedInTextWriter(directory) as cited_in_text,
    ):
        for batch in batches:
            writer.write_batch(batch.select(PAPERS_SCHEMA.names))
            cited_in_text.write(batch[_CITED])
            hashes.append(hash64(batch["id"].to_pylist()))
            days.append(batch["publication_date"].drop_null().cast(pa.int32()).to_numpy())
    ids = np.concatenate(hashes)
    _IDS.write(ids, np.arange(len(ids), dtype=np.uint32), directory)
    np.save(directory / _DAYS, np.concatenate(days))


class PaperStore:
    """Papers that can be looked up by row or id. Rows are sorted by date, with undated papers last."""

    def __init__(self, directory: Path) -> None:
        reader = pa.ipc.open_file(pa.memory_map(str(directory / _FILE)))
        self._batches: list[Any] = [reader.get_batch(i) for i in range(reader.num_record_batches)]
        self.by_hash = HashedRows(directory, _IDS)
        """Rows, keyed by the hashes of their ids."""
        self._cited_in_text = CitedInTextFile(directory)
        self._days: NDArray[np.int32] = load_array(directory / _DAYS)
        self.get_paper = cache_method(self._build_paper, _REMEMBERED)

    def __len__(self) -> int:
        return len(self.by_hash)

    def find_rows(self, ids: Iterable[PaperId]) -> dict[PaperId, int]:
        """Look up papers' rows. The result is keyed by id; unknown ids are left out."""
        distinct_ids = list(dict.fromkeys(ids))
        candidates = zip(distinct_ids, self.by_hash.find_candidates(hash64(distinct_ids)), strict=True)
        return {paper_id: row for paper_id, rows in candidates for row in rows if self.get_id(row) == paper_id}

    def get_id(self, row: int) -> PaperId:
        return PaperId(self._read_value("id", row))

    def get_paper_ids(self, rows: NDArray[np.int64]) -> list[PaperId]:
        """Return the ids in the given rows, which must be ascending."""
        numbers, places = np.divmod(rows, BATCH)
        starts = np.flatnonzero(np.diff(numbers, prepend=-1))
        paper_ids: list[PaperId] = []
        for start, batch_places in zip(starts.tolist(), np.split(places, starts[1:]), strict=False):
            paper_ids += self._batches[int(numbers[start])]["id"].take(pa.array(batch_places)).to_pylist()
        return paper_ids

    def get_digest(self, row: int) -> int:
        return int(self._read_value("digest", row))

    def read_record(self, row: int) -> PaperRecord:
        """Return the record as it was written, except the year, which is part of the date."""
        batch, place = self._batches[row // BATCH], row % BATCH
        fields = {name: batch[name][place].as_py() for name in _RECORD_FIELDS}
        day = fields["publication_date"]
        return PaperRecord.model_validate(
            fields | {"publication_date": day and day.isoformat(), _CITED: self.get_cited_in_text(row)}
        )

    @property
    def rows_citing_in_text(self) -> NDArray[np.uint32]:
        """Rows of papers that cite works in their texts, ascending."""
        return self._cited_in_text.rows

    def get_cited_in_text(self, row: int) -> tuple[CitedInText, ...]:
        """Return the works that a paper cites in its text, according to its record."""
        return self._cited_in_text.get_works(row)

    def read_all_indexed_columns(self) -> Iterator[dict[str, Any]]:
        """Yield, for each row, the columns needed for indexed texts and filters."""
        for rows in self.read_batches(_SEARCHED_FIELDS):
            yield from rows

    def read_batches(self, columns: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
        """Yield the named columns of all rows, one batch at a time."""
        for batch in self._batches:
            yield batch.select(list(columns)).to_pylist()

    def read_indexed_columns(self, row: int) -> dict[str, Any]:
        """Return the columns of one row that are needed for indexed texts and filters."""
        return {name: self._read_value(name, row) for name in _SEARCHED_FIELDS}

    def read_column(self, name: str) -> Any:
        """Return a whole column as an Arrow array."""
        return pa.chunked_array([batch[name] for batch in self._batches])

    def count_until(self, before: dt.date | None) -> int:
        """Return the number of rows published on or before this day (None: all rows). These rows come first."""
        if before is None:
            return len(self)
        return int(np.searchsorted(self._days, (before - _EPOCH).days, side="right"))

    def find_first_row_since(self, after: dt.date | None) -> int:
        """Return the first row published on or after this day (None: 0). Undated papers count as later."""
        return 0 if after is None else int(np.searchsorted(self._days, (after - _EPOCH).days, side="left"))

    @property
    def dated(self) -> int:
        """Number of rows that have a date. These rows come first."""
        return len(self._days)

    def get_day_number(self, row: int) -> int:
        """Return the publication day as days since 1970; `UNDATED` if unknown."""
        return int(self._days[row]) if row < len(self._days) else UNDATED

    def get_day_numbers(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the day numbers of several rows; see `get_day_number`."""
        days = np.full(len(rows), UNDATED, np.int32)
        is_dated = rows < len(self._days)
        days[is_dated] = self._days[rows[is_dated]]
        return days

    def list_publication_days(self) -> tuple[dt.date, ...]:
        """Return the distinct publication days, ascending."""
        return tuple(_EPOCH + dt.timedelta(days=int(day)) for day in np.unique(self._days))

    def _build_paper(self, row: int) -> Paper:
        batch, place = self._batches[row // BATCH], row % BATCH
        retraction = Retraction(kind="retracted", source=SOURCE) if batch["retracted"][place].as_py() else None
        fields = {field: batch[field][place].as_py() for field in _PAPER_FIELDS}
        return Paper(source=SOURCE, retraction=retraction, **fields)

    def has_references(self, row: int) -> bool:
        return bool(self._batches[row // BATCH]["references"][row % BATCH].is_valid)

    def get_sections(self, row: int) -> tuple[Section, ...]:
        return tuple(Section(**section) for section in self._read_value("sections", row) or ())

    def get_title_and_abstract(self, row: int) -> tuple[str, str]:
        """Return the title and abstract of the paper in a row."""
        return self._read_value("title", row), self._read_value("abstract", row)

    def _read_value(self, column: str, row: int) -> Any:
        return self._batches[row // BATCH][column][row % BATCH].as_py()
