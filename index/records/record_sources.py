"""Read papers from JSON Lines and Parquet files. Unusable lines are rejected, and reported with their location and the
reason."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from assayer.errors import InputError
from assayer.models import Frozen
from assayer.ports import Embedder
from index.hashing import compute_checksum, hash64
from index.records.export_records import describe_record_problem, parse_record
from index.records.json_lines import read_lines
from index.records.paper_record import parse_vector
from index.records.parquet_records import RecordVector, RecordWithVector, list_parquet_files, read_records
from index.records.seen_keys import SeenKeys

_LINES = (".jsonl", ".jsonl.gz")
_COMPARED_AT_ONCE = 512
"""Number of records held in memory while their ids are compared with earlier ids."""


class RejectedLine(Frozen):
    """Rejected line in a source."""

    source: str
    line: int
    """Line number, counted from 1."""
    reason: str

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: {self.reason}"


class RecordSource(Frozen):
    name: str
    sha256: str
    bytes: int


def describe_source(path: Path) -> RecordSource:
    """Return a source's name, checksum and size. Raises InputError unless the path is a readable file or a folder of
    Parquet files."""
    if not path.exists():
        raise InputError(f"There is no file {path}.")
    try:
        parts = [(part, compute_checksum(part)) for part in list_source_files(path)]
        combined_digest = hashlib.sha256(
            "".join(f"{digest}  {part.name}\n" for part, digest in parts).encode()
        ).hexdigest()
        return RecordSource(
            name=path.name,
            sha256=combined_digest if path.is_dir() else parts[0][1],
            bytes=sum(part.stat().st_size for part, _ in parts),
        )
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None


class RecordReader:
    """Reads the papers in several sources. If records have the same id, only the first is kept. Memory holds only the
    hashes of ids, eight bytes each."""

    def __init__(self, paths: Sequence[Path], embedder: Embedder | None = None) -> None:
        """Create a reader. Vectors supplied with records must come from the embedder's model; without an embedder they
        are dropped."""
        self.rejections: list[RejectedLine] = []
        """Rejected lines; complete once all papers have been read."""
        self._paths = paths
        self._embedder = embedder

    def __iter__(self) -> Iterator[RecordWithVector]:
        """Yield the records. Raises InputError if a source has no valid record, or vectors from another model."""
        seen_keys = SeenKeys()
        for path in self._paths:
            valid, earlier_rejections = 0, len(self.rejections)
            for file in list_source_files(path):
                items = _read_items(file)
                while chunk := list(islice(items, _COMPARED_AT_ONCE)):
                    records = [item for _, item in chunk if not isinstance(item, str)]
                    valid += len(records)
                    is_new = iter(seen_keys.add(hash64(record.record.id for record in records)).tolist())
                    for line, item in chunk:
                        if isinstance(item, str):
                            self._reject(file, line, item)
                        elif next(is_new):
                            yield self._check_vector(file, line, item)
                        else:
                            self._reject(file, line, "duplicate id")
            if not valid:
                raise InputError(
                    f"{path} contains no valid paper records.",
                    _explain_rejections(self.rejections[earlier_rejections:]),
                )

    def _check_vector(self, file: Path, line: int, item: RecordWithVector) -> RecordWithVector:
        if item.vector is None or self._embedder is None:
            return item._replace(vector=None)
        if item.vector.model != self._embedder.name:
            raise InputError(
                f"{file} contains vectors of {item.vector.model or 'a model that it does not name'}, but the corpus "
                f"uses {self._embedder.name}.",
                "Configure that model (ASSAYER_EMBEDDER__MODEL), or embed the texts again: --embed-anew.",
            )
        values = item.vector.values.astype(np.float32)
        if len(values) != self._embedder.dimensions:
            reason = f"vector has {len(values)} numbers, not {self._embedder.dimensions}"
            self._reject(file, line, f"{reason}: the text is embedded instead")
            return item._replace(vector=None)
        length = float(np.linalg.norm(values))
        if not (np.isfinite(length) and length > 0):
            self._reject(file, line, "vector is zero or not finite: the text is embedded instead")
            return item._replace(vector=None)
        return item._replace(vector=RecordVector(values / np.float32(length), item.vector.model))

    def _reject(self, file: Path, line: int, reason: str) -> None:
        self.rejections.append(RejectedLine(source=file.name, line=line, reason=reason))


def list_source_files(path: Path) -> list[Path]:
    """Return a source's files in reading order. Raises InputError if the path is not a source."""
    if path.is_dir():
        files = list_parquet_files(path)
        if not files:
            raise InputError(f"The folder {path} contains no Parquet files.")
        return files
    if not path.name.endswith((*_LINES, ".parquet")):
        kinds = f"{', '.join(_LINES)} or .parquet"
        raise InputError(
            f"{path} has an unsupported format.",
            f"Use bibliographies, files whose names end in {kinds}, or folders with Parquet files.",
        )
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    return [path]


def _explain_rejections(rejections: Sequence[RejectedLine]) -> str:
    if not rejections:
        return "The file is empty."
    counts = Counter(rejection.reason for rejection in rejections)
    first = "; ".join(f"{reason} ({count} line{'s' * (count != 1)})" for reason, count in counts.most_common(3))
    return f"Line {rejections[0].line}: {rejections[0].reason}. Most frequent reasons: {first}."


def _read_items(file: Path) -> Iterator[tuple[int, RecordWithVector | str]]:
    """Yield each line or row number with its record, or with the reason why it is rejected."""
    return read_records(file) if file.suffix == ".parquet" else _read_lines(file)


def _read_lines(path: Path) -> Iterator[tuple[int, RecordWithVector | str]]:
    with path.open("rb") as file:
        for line in read_lines(file):
            yield line.number, line.data if isinstance(line.data, str) else _parse_record(line.data)


def _parse_record(data: dict[str, Any]) -> RecordWithVector | str:
    try:
        return RecordWithVector(parse_record(data), _parse_record_vector(data))
    except ValidationError as error:
        return describe_record_problem(error, data)


def _parse_record_vector(data: dict[str, Any]) -> RecordVector | None:
    """Return the record's vector, or None if it has none. A value that is not a list of numbers becomes an empty
    vector; that is later rejected like any vector of the wrong length."""
    vector = data.get("vector")
    if vector is None:
        return None
    values = parse_vector(vector)
    return RecordVector(np.empty(0, np.float32) if values is None else values, str(data.get("vector_model") or ""))
