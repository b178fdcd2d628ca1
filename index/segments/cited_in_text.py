"""File with the works that a segment's papers cite in their texts. It exists only if there are any."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from index.records.paper_record import CitedInText, parse_works_json

_FILE = "cited-in-text.arrow"
_SCHEMA = pa.schema([pa.field("row", pa.uint32(), nullable=False), pa.field("works", pa.string(), nullable=False)])


class CitedInTextWriter:
    """Writes the file. It is created when the first works are written, and complete when the context ends."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / _FILE
        self._open = ExitStack()
        self._writer: Any = None
        self._rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def write(self, works: pa.Array) -> None:
        """Append the works cited by the next rows, as JSON from `format_works_as_json`; null for rows without any."""
        present_rows = np.flatnonzero(works.is_valid().to_numpy(zero_copy_only=False))
        if len(present_rows):
            if self._writer is None:
                file = self._open.enter_context(pa.OSFile(str(self._path), "wb"))
                self._writer = self._open.enter_context(pa.ipc.new_file(file, _SCHEMA))
            columns = [pa.array((present_rows + self._rows).astype(np.uint32)), works.take(pa.array(present_rows))]
            self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=_SCHEMA))
        self._rows += len(works)


class CitedInTextFile:
    def __init__(self, directory: Path) -> None:
        path = directory / _FILE
        reader = pa.ipc.open_file(pa.memory_map(str(path))) if path.is_file() else None
        batches = [reader.get_batch(number) for number in range(reader.num_record_batches)] if reader else []
        table = pa.Table.from_batches(batches, _SCHEMA)
        self.rows: NDArray[np.uint32] = table["row"].to_numpy()
        """Rows of the papers whose texts cite works, ascending."""
        self._works = table["works"]

    def get_works(self, row: int) -> tuple[CitedInText, ...]:
        place = int(np.searchsorted(self.rows, row))
        if place == len(self.rows) or int(self.rows[place]) != row:
            return ()
        return parse_works_json(self._works[place].as_py())
