"""Rows for complete records (from JSON Lines, OpenAlex or arXiv), and functions that convert source values to column
types. Values that do not fit become empty instead of raising errors."""

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import ValidationError

from index.records.export_records import describe_record_problem, parse_record
from index.records.paper_record import parse_last_day, parse_vector
from index.records.parquet_records import RECORDS_SCHEMA

RECORDS = pa.schema([pa.field("key", pa.string()), *list(RECORDS_SCHEMA)[1:]])
_LINK = re.compile(r"https?://[^\s<>\"]{3,2000}", re.IGNORECASE)
_MAX_COUNT = 2**31 - 1


class IdentifierRow(NamedTuple):
    """Identifiers in the field order of `Identifiers`."""

    doi: str = ""
    arxiv: str = ""
    s2: str = ""
    openalex: str = ""
    pubmed: str = ""
    pmc: str = ""
    acl: str = ""
    openreview: str = ""


class SectionRow(NamedTuple):
    """Section as a row, with its values in the order of the column's fields."""

    title: str
    text: str


class RecordRow(NamedTuple):
    """Record as a row, with its id as the key and its values in the order of RECORDS_SCHEMA."""

    key: str
    title: str = ""
    abstract: str = ""
    authors: list[str] | None = None
    publication_date: dt.date | None = None
    venue: str = ""
    url: str = ""
    citation_count: int | None = None
    identifiers: IdentifierRow = IdentifierRow()
    references: list[str] | None = None
    fields: list[str] | None = None
    retracted: bool = False
    sections: list[SectionRow] | None = None
    vector: NDArray[np.float32] | None = None
    vector_model: str | None = None


def build_deletion_row(paper: str) -> RecordRow:
    return RecordRow(paper)


def build_jsonl_row(data: Mapping[str, Any]) -> RecordRow | str:
    """Return a record's row, or the reason why the record is rejected. The vector's dimensions are not checked, because
    the model is not known here."""
    try:
        record = parse_record(data)
    except ValidationError as error:
        return describe_record_problem(error, data)
    vector_json = data.get("vector")
    vector = None if vector_json is None else parse_vector(vector_json)
    if vector_json is not None and vector is None:
        return "vector is not a list of numbers"
    return RecordRow(
        record.id,
        record.title,
        record.abstract,
        list(record.authors),
        record.publication_date,
        record.venue,
        record.url,
        record.citation_count,
        IdentifierRow(**record.identifiers.model_dump()),
        None if record.references is None else list(record.references),
        list(record.fields),
        record.retracted,
        [SectionRow(section.title, section.text) for section in record.sections],
        vector,
        str(data["vector_model"]) if vector is not None and data.get("vector_model") else None,
    )


def convert_to_text(value: Any) -> str:
    """Return a string or integer as text, because some sources write integers for texts; empty for other values."""
    if isinstance(value, str):
        return value
    return str(value) if type(value) is int else ""


def convert_to_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def collect_names(value: Any, key: str) -> list[str]:
    """Return the distinct texts that a list of objects has under a key, in order."""
    names = (convert_to_text(member.get(key)).strip() for member in convert_to_list(value) if isinstance(member, dict))
    return list(dict.fromkeys(name for name in names if name))


def convert_to_count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= _MAX_COUNT else None


def parse_day(date: Any, year: Any = None) -> dt.date | None:
    """Parse a date; if only the month or year is known, return its last day. None if neither the date nor the year is
    usable."""
    for value in (date, year):
        try:
            if text := convert_to_text(value).strip():
                return parse_last_day(text)
        except (ValueError, OverflowError):
            continue
    return None


def convert_to_link(value: Any) -> str:
    link = convert_to_text(value).strip()
    return link if _LINK.fullmatch(link) and link.isprintable() else ""
