"""Reads papers from JSON Lines files; what cannot be used is set aside with its place and a reason."""

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from assayer.errors import InputError
from assayer.models import Frozen
from index.files import checksum
from index.records import PaperRecord, complaint

__all__ = ["Harvest", "Rejection", "SourceFile", "describe", "harvest"]

_SUFFIXES = (".jsonl", ".jsonl.gz")


class Rejection(Frozen):
    """A line that was set aside."""

    source: str
    line: int
    """Counted from 1."""
    reason: str

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: {self.reason}"


class SourceFile(Frozen):
    name: str
    sha256: str
    bytes: int


@dataclass
class Harvest:
    """Valid records, the first of each id, and everything else."""

    records: dict[str, PaperRecord] = field(default_factory=dict)
    rejections: list[Rejection] = field(default_factory=list)


def describe(path: Path) -> SourceFile:
    """Raises InputError for a path that is not a readable source file."""
    if not path.name.endswith(_SUFFIXES):
        raise InputError(f"{path} is not a source of papers.", f"Give files that end in {' or '.join(_SUFFIXES)}.")
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    try:
        return SourceFile(name=path.name, sha256=checksum(path), bytes=path.stat().st_size)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None


def harvest(paths: Sequence[Path]) -> Harvest:
    """Raises InputError for a source without a single valid record."""
    found = Harvest()
    for path in paths:
        valid, before = 0, len(found.rejections)
        for line, item in _items(path):
            if isinstance(item, str):
                found.rejections.append(Rejection(source=path.name, line=line, reason=item))
                continue
            valid += 1
            if found.records.setdefault(item.id, item) is not item:
                found.rejections.append(Rejection(source=path.name, line=line, reason="duplicate id"))
        if not valid:
            raise InputError(f"{path} holds no valid paper.", _why(found.rejections[before:]))
    return found


def _why(rejections: Sequence[Rejection]) -> str:
    if not rejections:
        return "The file is empty."
    counts = Counter(rejection.reason for rejection in rejections)
    first = "; ".join(f"{reason} ({count} lines)" for reason, count in counts.most_common(3))
    return f"Line {rejections[0].line}: {rejections[0].reason}. In all: {first}."


def _items(path: Path) -> Iterator[tuple[int, PaperRecord | str]]:
    """Line number with the record, or with the reason why there is none."""
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, _record(line, first=number == 1)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        yield number + 1, "the compressed file is damaged or cut off here"


def _record(line: bytes, first: bool) -> PaperRecord | str:
    try:
        data = json.loads(line.decode("utf-8-sig" if first else "utf-8"))
    except UnicodeDecodeError:
        return "not UTF-8"
    except (ValueError, RecursionError):
        return "not valid JSON"
    if not isinstance(data, dict):
        return "not a JSON object"
    try:
        return PaperRecord.model_validate(data)
    except ValidationError as error:
        return complaint(error)
