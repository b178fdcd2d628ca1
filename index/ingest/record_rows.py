"""Rows that are whole records already: of our own JSON Lines, of OpenAlex, of arXiv."""

import datetime as dt
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import ValidationError

from index.ingest.fields import IdentifierRow
from index.ingest.s2_sections import Section
from index.reading.record_files import RECORDS_SCHEMA
from index.reading.records import PaperRecord, complaint
from index.reading.vectors import numbers_of

__all__ = ["RECORDS", "RecordRow", "deletion", "jsonl_row"]

RECORDS = pa.schema([pa.field("key", pa.string()), *list(RECORDS_SCHEMA)[1:]])


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
    sections: list[Section] | None = None
    vector: NDArray[np.float32] | None = None
    vector_model: str | None = None


def deletion(paper: str) -> RecordRow:
    return RecordRow(paper)


def jsonl_row(data: Mapping[str, Any]) -> RecordRow | str:
    """Its vector as it is; whoever reads the records knows the model and decides."""
    try:
        record = PaperRecord.model_validate(data)
    except ValidationError as error:
        return complaint(error)
    given = data.get("vector")
    vector = None if given is None else numbers_of(given)
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
        [Section(one.title, one.text) for one in record.sections],
        vector,
        str(data["vector_model"]) if vector is not None and data.get("vector_model") else None,
    )
