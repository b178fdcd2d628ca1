"""Reader of the simulated services' papers: a file with one JSON object per line."""

import datetime as dt
import gzip
import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

NoticeKind = Literal["retracted", "withdrawn", "concern"]


class Record(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: str
    title: str
    abstract: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    publication_date: dt.date | None = None
    venue: str = ""
    url: str = ""
    keywords: tuple[str, ...] = ()
    citation_count: int = 0
    """Number of citations; 0 if unknown."""
    notice: NoticeKind | None = None
    """Notice about the paper; one in a hundred of the papers without one gets a simulated notice."""


def read_records(path: Path) -> list[Record]:
    """Read all records. Raises OSError, or ValueError with the number of the invalid line."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        return [_parse_record(line, number) for number, line in enumerate(lines, 1) if line.strip()]


def _parse_record(line: str, number: int) -> Record:
    try:
        return Record.model_validate(json.loads(line))
    except (ValueError, ValidationError) as error:
        raise ValueError(f"line {number}: {error}") from error
