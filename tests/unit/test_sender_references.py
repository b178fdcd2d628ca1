import pytest

from assayer.models.sender_references import get_own_reference


@pytest.mark.parametrize(
    ("source", "row", "reference"),
    [
        ("call.csv:14 (A-2026-0007)", 14, "A-2026-0007"),
        ("row 1 (cand-0)", 1, "cand-0"),
        ("row 2 (a (b) c)", 2, "a (b) c"),
        ("call.csv:15", 15, ""),
        ("row 3", 3, ""),
        ("plan (final).pdf", 4, "plan (final).pdf"),
        ("row 3", None, "row 3"),
        ("", None, ""),
    ],
)
def test_own_reference_is_extracted_without_file_and_row_position(source: str, row: int | None, reference: str) -> None:
    assert get_own_reference(source, row) == reference
