"""Every kind of source file: how its lines become rows, and what its rows look like."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import pyarrow as pa

from index.ingest import openalex_rows, record_rows, s2_rows
from index.ingest.raw import raw_schema

__all__ = ["KINDS", "S2_KINDS", "Kind", "KindName", "paper_of"]

KindName = Literal[
    "papers", "abstracts", "citations", "s2orc", "s2orc_v2", "embeddings-specter_v2", "openalex", "arxiv", "jsonl"
]  # fmt: skip
"""Also the names of the folders of stage one; all but the last three are those of Semantic Scholar's datasets."""

S2_KINDS: tuple[KindName, ...] = ("papers", "abstracts", "citations", "s2orc", "s2orc_v2", "embeddings-specter_v2")


class Kind(NamedTuple):
    schema: pa.Schema
    """Of a raw file."""
    row_of: Callable[[Mapping[str, Any]], Sequence[Any] | str]
    """A row, its key first, or the reason why a line gives none."""


def _never(_: Mapping[str, Any]) -> str:
    return "arXiv's records are read from OAI-PMH pages"


KINDS: Mapping[KindName, Kind] = {
    "papers": Kind(raw_schema(s2_rows.PAPERS), s2_rows.paper_row),
    "abstracts": Kind(raw_schema(s2_rows.ABSTRACTS), s2_rows.abstract_row),
    "citations": Kind(raw_schema(s2_rows.CITATIONS), s2_rows.citation_row),
    "s2orc": Kind(raw_schema(s2_rows.SECTIONS), s2_rows.sections_row),
    "s2orc_v2": Kind(raw_schema(s2_rows.SECTIONS), s2_rows.sections_row),
    "embeddings-specter_v2": Kind(raw_schema(s2_rows.EMBEDDINGS), s2_rows.embedding_row),
    "openalex": Kind(raw_schema(record_rows.RECORDS), openalex_rows.work_row),
    "arxiv": Kind(raw_schema(record_rows.RECORDS), _never),
    "jsonl": Kind(raw_schema(record_rows.RECORDS), record_rows.jsonl_row),
}


def paper_of(key: int | str | None) -> str | None:
    """The id of the paper that a row's key means."""
    return s2_rows.paper_id(key) if isinstance(key, int) else key
