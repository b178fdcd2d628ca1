"""Formats of source files: their columns, and the functions that convert lines to rows. Add new formats here."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from index.ingest import openalex_snapshot, record_rows, semantic_scholar_rows
from index.ingest.source_files import SourceKind


class SourceFormat(NamedTuple):
    schema: pa.Schema
    """Schema of the raw files."""
    convert_row: Callable[[Mapping[str, Any]], Sequence[Any] | str]
    """Function that converts a parsed line to a row, key first, or returns the reason why it is rejected."""


def _read_no_lines(_: Mapping[str, Any]) -> str:
    return "arXiv's records are read from OAI-PMH pages"


def build_raw_schema(columns: pa.Schema) -> pa.Schema:
    """Return the schema with the columns of RowStamp appended."""
    stamp = [pa.field("line", pa.int64()), pa.field("layer", pa.int32()), pa.field("deleted", pa.bool_())]
    return pa.schema([*columns, *stamp])


SOURCE_FORMATS: Mapping[SourceKind, SourceFormat] = {
    "papers": SourceFormat(build_raw_schema(semantic_scholar_rows.PAPERS), semantic_scholar_rows.build_paper_row),
    "abstracts": SourceFormat(
        build_raw_schema(semantic_scholar_rows.ABSTRACTS), semantic_scholar_rows.build_abstract_row
    ),
    "citations": SourceFormat(
        build_raw_schema(semantic_scholar_rows.CITATIONS), semantic_scholar_rows.build_citation_row
    ),
    "s2orc": SourceFormat(build_raw_schema(semantic_scholar_rows.SECTIONS), semantic_scholar_rows.build_sections_row),
    "s2orc_v2": SourceFormat(
        build_raw_schema(semantic_scholar_rows.SECTIONS), semantic_scholar_rows.build_sections_row
    ),
    "embeddings-specter_v2": SourceFormat(
        build_raw_schema(semantic_scholar_rows.EMBEDDINGS), semantic_scholar_rows.build_embedding_row
    ),
    "openalex": SourceFormat(build_raw_schema(record_rows.RECORDS), openalex_snapshot.build_work_row),
    "arxiv": SourceFormat(build_raw_schema(record_rows.RECORDS), _read_no_lines),
    "jsonl": SourceFormat(build_raw_schema(record_rows.RECORDS), record_rows.build_jsonl_row),
}


def make_paper_id(key: int | str | None) -> str | None:
    """Return the paper id for a row's key."""
    return semantic_scholar_rows.make_s2_paper_id(key) if isinstance(key, int) else key
