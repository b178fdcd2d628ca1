"""Reading of batches with small limits."""

import datetime as dt
import io

from orchestrator.batches.body_reader import BatchIntake, BodyKind, collect_rows, read_rows
from orchestrator.settings import BatchSettings
from tests.unit.batch_bodies import BOUNDARY

TODAY = dt.date(2026, 11, 21)
LIMITS = BatchSettings(rows=10, row_characters=2_000, file_bytes=5_000, archive_bytes=40_000)
FORM_TYPE = f"multipart/form-data; boundary={BOUNDARY}"
PDF_BYTES = b"%PDF-1.7 and so on"


def read_batch(data: bytes, kind: BodyKind = "jsonl", content_type: str = FORM_TYPE) -> BatchIntake:
    """Read the body of a batch."""
    return collect_rows(read_rows(io.BytesIO(data), kind, content_type, LIMITS, TODAY))


def list_rejections(intake: BatchIntake) -> list[tuple[int, str, str]]:
    """Return the number, field and reason of each rejected row."""
    return [(row.row, row.field, row.detail) for row in intake.rejected]
