"""JSON lines, and many files in one form."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import InputError
from assayer.ideas.tables import IdeaTable, IdeaTableRow
from orchestrator.batches.body_reader import BodyKind, collect_rows, read_rows
from orchestrator.batches.rows import ReadingAbandoned
from tests.unit.batch_bodies import BOUNDARY, WORDS, make_idea_text, render_form, render_jsonl
from tests.unit.batch_reading import FORM_TYPE, LIMITS, PDF_BYTES, TODAY, list_rejections, read_batch


def test_line_limit_counts_all_files_including_blank_lines() -> None:
    limits = LIMITS.model_copy(update={"lines": 100})
    files = {"a.jsonl": b"\n" * 90, "b.csv": b"title,text\n" + b"\n" * 90, "c.txt": WORDS.encode()}
    intake = collect_rows(read_rows(io.BytesIO(render_form(files)), "form", FORM_TYPE, limits, TODAY))
    assert [row.source for row in intake.accepted] == ["c.txt"]
    (rejection,) = intake.rejected
    assert (rejection.source, rejection.detail[:43]) == ("b.csv", "The request has more than 100 lines of text")


@pytest.mark.parametrize(("kind", "data"), [("csv", b"title,text\n\n\n"), ("jsonl", b"\n\n"), ("form", b"")])
def test_reading_stops_when_abandoned(kind: BodyKind, data: bytes) -> None:
    body = io.BytesIO(data or render_form({"a.pdf": PDF_BYTES}))
    with pytest.raises(ReadingAbandoned):
        collect_rows(read_rows(body, kind, FORM_TYPE, LIMITS, TODAY, is_abandoned=lambda: True))


def test_invalid_lines_are_rejected_individually_and_valid_lines_are_kept() -> None:
    lines = [
        render_jsonl([{"title": "A", "text": WORDS}]),
        b"\n",
        b'{"text": "cut off\n',
        b"[1]\n",
        render_jsonl(
            [{"text": WORDS, "cutoff": "soon"}, {"title": 7, "text": WORDS}, {"text": "short"}, make_idea_text(8)]
        ),
        b'{"text": "' + b"x" * 3_000 + b'"}\n',
        b'{"text": "caf\xe9 na\xc3\xafve \xc3\xa9t\xc3\xa9"}',
    ]
    intake = read_batch(b"".join(lines))
    assert [row.number for row in intake.accepted] == [1, 8]
    rejections = list_rejections(intake)
    assert [(row, field) for row, field, _ in rejections] == [
        (3, ""), (4, ""), (5, "cutoff"), (6, "title"), (7, "text"), (9, ""), (10, ""),
    ]  # fmt: skip
    assert "not valid JSON" in rejections[0][2]
    assert "more than 2,000 characters" in rejections[5][2]
    assert "contains the byte 0xE9" in rejections[6][2]


def test_form_files_become_rows_and_invalid_files_are_rejected() -> None:
    intake = read_batch(
        render_form(
            {
                "a.pdf": PDF_BYTES,
                "../../b.PDF": b"MZ is a program",
                "c.txt": WORDS.encode(),
                "d.csv": f'title,text\nOne,"{WORDS}"\nTwo,short\n'.encode(),
                "e.jsonl": render_jsonl([make_idea_text(5), make_idea_text(6)]),
                "f.json": json.dumps([{"text": make_idea_text(7)}]).encode(),
                "g.pages": b"PK\x03\x04",
                "h.pdf": PDF_BYTES + b"x" * 5_000,
            }
        ),
        "form",
    )
    assert [(row.number, row.source) for row in intake.accepted] == [
        (1, "a.pdf"), (3, "c.txt"), (4, "d.csv:1"), (6, "e.jsonl:1"), (7, "e.jsonl:2"), (8, "f.json:1"),
    ]  # fmt: skip
    assert intake.accepted[0].document == PDF_BYTES
    rejections = list_rejections(intake)
    assert [(row, field) for row, field, _ in rejections] == [(2, ""), (5, "text"), (9, ""), (10, "")]
    assert rejections[0][2].startswith("b.PDF is not a PDF")
    assert rejections[2][2].startswith("g.pages has an unsupported type")
    assert "larger than 0.005 MB" in rejections[3][2]


def test_broken_file_and_duplicate_file_are_reported_per_row() -> None:
    intake = read_batch(
        render_form({"empty.csv": b"title,note\nA,B\n", "a.pdf": PDF_BYTES, "b.pdf": PDF_BYTES}), "form"
    )
    assert [(row, detail[:9]) for row, _, detail in list_rejections(intake)] == [(1, "empty.csv")]
    assert [(duplicate.row, duplicate.duplicate_of) for duplicate in intake.duplicates] == [(3, 2)]
    assert [(duplicate.source, duplicate.duplicate_of_source) for duplicate in intake.duplicates] == [
        ("b.pdf", "a.pdf")
    ]


@pytest.mark.parametrize(
    ("data", "content_type", "message"),
    [
        (render_form({"a.pdf": PDF_BYTES})[:-10], FORM_TYPE, "ends in the middle of a file"),
        (b"no form at all", FORM_TYPE, "is not multipart/form-data"),
        (render_form({"a.pdf": PDF_BYTES}), "multipart/form-data", "has no boundary"),
        (render_form({}), FORM_TYPE, "empty|not multipart"),
        (b"", FORM_TYPE, "ends in the middle of a file"),
    ],
)
def test_malformed_form_is_rejected(data: bytes, content_type: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_batch(data, "form", content_type)


def test_empty_and_oversized_batches_are_rejected() -> None:
    with pytest.raises(InputError, match="The batch is empty"):
        read_batch(b"\n \n")
    with pytest.raises(InputError, match="has more than 10 rows"):
        read_batch(render_jsonl([make_idea_text(number) for number in range(11)]))


@given(st.binary(max_size=300))
def test_arbitrary_jsonl_bytes_are_read_or_rejected(data: bytes) -> None:
    try:
        intake = read_batch(data)
    except InputError:
        return
    assert intake.row_count <= 10


@given(st.binary(max_size=300))
def test_arbitrary_file_bytes_do_not_affect_next_file(data: bytes) -> None:
    if f"--{BOUNDARY}".encode() in data:
        return
    intake = read_batch(render_form({"a.csv": data, "b.txt": WORDS.encode()}), "form")
    assert intake.accepted[-1].source == "b.txt"


def test_office_documents_are_deferred_and_workbooks_are_read_by_row() -> None:
    converted_files: list[str] = []

    def read_table(data: bytes, name: str) -> IdeaTable:
        converted_files.append(name)
        rows = (("title", "text"), ("Corals", WORDS), ("", ""), ("Short", "No."))
        numbered = tuple(IdeaTableRow(number=number, cells=cells) for number, cells in enumerate(rows, 1))
        return IdeaTable(sheet="Calls", unread_sheets=1, rows=numbered)

    files = {"a.docx": b"PK\x03\x04 a", "b.odt": b"PK\x03\x04 b", "c.xlsx": b"PK\x03\x04 c", "d.docx": b"text"}
    body = io.BytesIO(render_form(files))
    intake = collect_rows(read_rows(body, "form", FORM_TYPE, LIMITS, TODAY, read_table=read_table))
    assert converted_files == ["c.xlsx"]
    assert [(row.number, row.source, row.document) for row in intake.accepted] == [
        (1, "a.docx", files["a.docx"]),
        (2, "b.odt", files["b.odt"]),
        (3, "c.xlsx:1", None),
    ]
    assert [(row, field) for row, field, _ in list_rejections(intake)] == [(4, "text"), (5, "")]
    assert "is not an office document" in list_rejections(intake)[1][2]
    assert intake.notices == [
        "c.xlsx has 2 sheets with content; only the first, 'Calls', was read.",
    ]


def test_workbook_without_reader_is_rejected_with_explanation() -> None:
    intake = read_batch(render_form({"c.xlsx": b"PK\x03\x04 c"}), "form")
    assert list_rejections(intake) == [
        (1, "", "c.xlsx is an Excel workbook, which this service cannot read. Save its sheet as CSV.")
    ]


def test_names_of_files_are_read_as_browsers_write_them() -> None:
    intake = read_batch(
        render_form({"O'Brien %22quoted%22 100%.txt": WORDS.encode(), "two%0D%0Alines.txt": WORDS.encode()}), "form"
    )
    assert [row.source for row in intake.accepted] == ['O\'Brien "quoted" 100%.txt', "two lines.txt"]


def test_fields_that_are_not_read_are_named_once_for_all_rows() -> None:
    rows = [
        {"tilte": "A", "text": WORDS},
        {"tilte": "B", "text": f"{WORDS} again"},
        {"title": "C", "text": make_idea_text(40)},
    ]
    assert read_batch(render_jsonl(rows)).notices == [
        'Kept, but not as text: the field "tilte", in 2 rows: too short to be prose.'
    ]
