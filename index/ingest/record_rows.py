"""Rows that are complete records (of our own JSON Lines, of OpenAlex, of arXiv), and conversion of foreign values to
the types of our columns: what does not fit becomes empty, never an error.
"""

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import ValidationError

from index.records.paper_record import PaperRecord, first_problem, last_day, parse_vector
from index.records.parquet_records import RECORDS_SCHEMA

__all__ = [
    "RECORDS",
    "IdentifierRow",
    "RecordRow",
    "SectionRow",
    "as_count",
    "as_day",
    "as_link",
    "as_list",
    "as_text",
    "deletion",
    "jsonl_row",
    "names_in",
]


RECORDS = pa.schema([pa.field("key", pa.string()), *list(RECORDS_SCHEMA)[1:]])
_LINK = re.compile(r"https?://[^\s<>\"]{3,2000}", re.IGNORECASE)
_MOST = 2**31 - 1


class IdentifierRow(NamedTuple):
    """In the order of `Identifiers`."""

    doi: str = ""
    arxiv: str = ""
    s2: str = ""
    openalex: str = ""
    pubmed: str = ""
    pmc: str = ""
    acl: str = ""
    openreview: str = ""


class SectionRow(NamedTuple):
    """In the order of the column's fields."""

    title: str
    text: str


class RecordRow(NamedTuple):
    """In the order of RECORDS_SCHEMA, its id as the key."""

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


def deletion(paper: str) -> RecordRow:
    return RecordRow(paper)


def jsonl_row(data: Mapping[str, Any]) -> RecordRow | str:
    """Its vector is not checked here: the reader of the records knows the model."""
    try:
        record = PaperRecord.model_validate(data)
    except ValidationError as error:
        return first_problem(error)
    given = data.get("vector")
    vector = None if given is None else parse_vector(given)
    if given is not None and vector is None:
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
        [SectionRow(one.title, one.text) for one in record.sections],
        vector,
        str(data["vector_model"]) if vector is not None and data.get("vector_model") else None,
    )


def as_text(value: Any) -> str:
    """Some sources write numbers for texts."""
    if isinstance(value, str):
        return value
    return str(value) if type(value) is int else ""


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def names_in(value: Any, key: str) -> list[str]:
    """The texts under one key of a list of objects, each once, in order."""
    found = (as_text(one.get(key)).strip() for one in as_list(value) if isinstance(one, dict))
    return list(dict.fromkeys(name for name in found if name))


def as_count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= _MOST else None


def as_day(date: Any, year: Any = None) -> dt.date | None:
    """The last day of the period, as in records; None when neither gives one."""
    for said in (date, year):
        try:
            if found := as_text(said).strip():
                return last_day(found)
        except (ValueError, OverflowError):
            continue
    return None


def as_link(value: Any) -> str:
    found = as_text(value).strip()
    return found if _LINK.fullmatch(found) and found.isprintable() else ""
