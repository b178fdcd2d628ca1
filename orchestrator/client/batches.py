"""Batches, as calls."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from orchestrator.api.batch_resources import (
    AcceptedBatch,
    BatchQuery,
    BatchResource,
    BatchSummary,
    MoreRowsQuery,
    RowsQuery,
)
from orchestrator.api.resources import Page
from orchestrator.client.calls import Call, Upload, path, reads, reads_nothing
from orchestrator.client.following import Stream

__all__ = [
    "ResultsFormat",
    "add_files",
    "batch",
    "batch_events",
    "batches",
    "cancel_batch",
    "has_ended",
    "results",
    "submit_files",
    "submit_rows",
]

ResultsFormat = Literal["jsonl", "csv", "parquet"]


def submit_files(
    files: Sequence[Upload], options: BatchQuery | None = None, *, key: str | None = None
) -> Call[AcceptedBatch]:
    """PDF, text, Markdown, JSON, JSON lines or CSV, or ZIP archives of them. What cannot be read is in `rejected`; the
    rest goes on. With `open` in the options further parts follow by `add_files`."""
    return Call("POST", path("batches"), reads(AcceptedBatch), query=_query(options), uploads=tuple(files), key=key)


def add_files(
    batch: str, files: Sequence[Upload], options: MoreRowsQuery, *, key: str | None = None
) -> Call[AcceptedBatch]:
    """A further part of a batch that was left open; `first` is `next_row` of the part before."""
    rows = path("batches", batch, "rows")
    return Call("POST", rows, reads(AcceptedBatch), query=_query(options), uploads=tuple(files), key=key)


def submit_rows(
    rows: Iterable[dict[str, Any]], options: BatchQuery | None = None, *, key: str | None = None
) -> Call[AcceptedBatch]:
    """Records with `title` and `text`, or sections under their own names."""
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    return Call("POST", path("batches"), reads(AcceptedBatch), query=_query(options), lines=lines, key=key)


def batch(batch: str) -> Call[BatchResource]:
    """How far it has come."""
    return Call("GET", path("batches", batch), reads(BatchResource))


def batches(*, after: str | None = None, limit: int = 50) -> Call[Page[BatchSummary]]:
    """One's own, the newest first."""
    return Call("GET", path("batches"), reads(Page[BatchSummary]), query={"after": after, "limit": limit})


def cancel_batch(batch: str) -> Call[BatchResource]:
    """Nothing more is spent on what has not ended."""
    return Call("DELETE", path("batches", batch), reads(BatchResource))


def results(batch: str, format: ResultsFormat) -> Call[None]:
    """What its rows came to so far."""
    return Call("GET", path("batches", batch, "results"), reads_nothing, {"format": format}, headers={"Accept": "*/*"})


def batch_events(batch: str) -> Stream[BatchSummary]:
    """Their ids tell how many rows have ended, which several may have in common."""
    return Stream(path("batches", batch, "events"), BatchSummary, has_ended, numbered=False)


def has_ended(found: BatchSummary) -> bool:
    return found.finished_at is not None


def _query(options: RowsQuery | None) -> dict[str, str | int | None]:
    given = {} if options is None else options.model_dump(mode="json", exclude_unset=True)
    return {name: value if value is None else str(value) for name, value in given.items()}
