"""CSV files as people send them: a broken row is named and costs no other."""

import csv
import datetime as dt
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import InputError
from assayer.ideas import csv_table
from assayer_client.batches import RowError
from orchestrator.batches.body_reader import BatchIntake, collect_rows
from orchestrator.batches.csv_rows import read_csv_rows
from orchestrator.batches.rows import LineCounter
from tests.unit.batch_bodies import WORDS, make_idea_text, render_csv

TODAY = dt.date(2026, 11, 21)


def read(data: bytes, max_chars: int = 100_000) -> BatchIntake:
    lines = LineCounter(1_000, lambda: False)
    return collect_rows(read_csv_rows(io.BytesIO(data), "", 1, max_chars, TODAY, lines))


def list_titles(intake: BatchIntake) -> list[str]:
    return [row.idea.title for row in intake.accepted if row.idea]


def get_only_rejection(intake: BatchIntake) -> RowError:
    (rejection,) = intake.rejected
    return rejection


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_is_read_in_any_unicode_encoding_and_delimiter(encoding: str, delimiter: str) -> None:
    rows = [["Größe", f'{WORDS}\n\nIt has, "too", a second; line.'], ["Zweite", make_idea_text(2)]]
    intake = read(render_csv(["Title", "Text"], rows, delimiter).encode(encoding))
    assert list_titles(intake) == ["Größe", "Zweite"]
    assert [row.number for row in intake.accepted] == [1, 2]
    assert not intake.notices
    idea = intake.accepted[0].idea
    assert idea is not None
    assert 'It has, "too", a second; line.' in idea.text


def test_latin_1_table_with_broken_row_keeps_others_and_reports_encoding() -> None:
    table = render_csv(["title", "text"], [["Größe", WORDS], ["Kaputt", WORDS], ["Höhe", make_idea_text(3)]])
    intake = read(table.replace("Kaputt,", 'Kaputt,"').encode("latin-1"))
    assert list_titles(intake) == ["Größe", "Höhe"]
    assert intake.notices == ["The body is not UTF-8; it was read as Windows-1252."]
    broken = get_only_rejection(intake)
    assert broken.row == 2
    assert broken.detail.startswith("row 2 (line 3) is malformed. A quote")


def test_invalid_utf_8_byte_rejects_only_its_row() -> None:
    table = render_csv(
        ["title", "text"], [["Größe", f"Über {WORDS}"], ["Re\udce9f", WORDS], ["Höhe", make_idea_text(3)]]
    )
    intake = read(table.encode("utf-8", "surrogateescape"))
    assert list_titles(intake) == ["Größe", "Höhe"]
    assert get_only_rejection(intake) == RowError(
        row=2,
        source="row 2",
        field="title",
        detail="row 2 (line 3), column title, contains the byte 0xE9 after 2 characters, which is invalid in UTF-8, "
        "the encoding of the file. Save the file as UTF-8.",
    )


def test_lone_surrogate_in_utf_16_table_rejects_only_its_row() -> None:
    table = render_csv(
        ["title", "text"], [["Größe", WORDS], ["Re\ud800f", make_idea_text(2)], ["Höhe", make_idea_text(3)]]
    )
    intake = read(b"\xff\xfe" + table.encode("utf-16-le", "surrogatepass"))
    assert list_titles(intake) == ["Größe", "Höhe"]
    assert get_only_rejection(intake).detail == (
        "row 2 (line 3), column title, contains the bytes 0x00 0xD8 after 2 characters, which are invalid in UTF-16, "
        "the encoding of the file. Save the file as UTF-8."
    )


def test_row_with_binary_character_is_rejected_and_others_are_kept() -> None:
    intake = read(render_csv(["title", "text"], [["A", f"{WORDS}\0"], ["B", make_idea_text(2)]]).encode())
    assert list_titles(intake) == ["B"]
    assert "contains NUL or undecodable characters" in get_only_rejection(intake).detail


def test_row_with_unclosed_quote_is_rejected_and_others_are_kept() -> None:
    table = f'title,text\nOne,{WORDS.replace(",", "")}\nTwo,"{WORDS}\nThree,{WORDS.replace(",", ";")}\n'
    intake = read(table.encode())
    assert list_titles(intake) == ["One", "Three"]
    assert get_only_rejection(intake).detail == (
        "row 2 (line 3) is malformed. A quote is opened but never closed. "
        'Close it, and write a quote within a cell as "".'
    )


def test_row_longer_than_allowed_is_rejected_and_the_next_is_read() -> None:
    table = render_csv(["title", "text"], [["Long", "word " * 1_000], ["Next", WORDS]])
    intake = read(table.encode(), max_chars=1_000)
    assert list_titles(intake) == ["Next"]
    assert "more than 1,000 characters" in get_only_rejection(intake).detail


@pytest.mark.parametrize(
    ("row", "field", "message"),
    [
        (["A", "too short", "", ""], "text", "too short to be judged"),
        (["A", WORDS, "2026-13-01", ""], "cutoff", "is not a date"),
        (["A", WORDS, "2030-01-01", ""], "cutoff", "is in the future"),
        (["A", "", "", ""], "text", "does not contain the text of an idea"),
        (["A"], "", "has 1 cell, and the header has 4 columns"),
        (["A", WORDS, "", "", "more"], "", "has 5 cells"),
    ],
)
def test_unusable_row_is_rejected_with_its_field(row: list[str], field: str, message: str) -> None:
    intake = read(render_csv(["title", "text", "cutoff", "note"], [row, ["B", WORDS, "", ""]]).encode())
    assert list_titles(intake) == ["B"]
    rejection = get_only_rejection(intake)
    assert (rejection.row, rejection.field) == (1, field)
    assert message in rejection.detail


def test_sections_in_columns_become_the_sections_of_the_idea() -> None:
    (row,) = read(render_csv(["Title", "Problem", "Method"], [["Corals", WORDS, make_idea_text(1)]]).encode()).accepted
    assert row.idea is not None
    assert [section.title for section in row.idea.sections] == ["Problem", "Method"]


def test_duplicate_rows_are_accepted_and_reported() -> None:
    intake = read(render_csv(["title", "text"], [["A", WORDS], ["B", make_idea_text(2)], ["A", WORDS]]).encode())
    assert len(intake.accepted) == 3
    (duplicate,) = intake.duplicates
    assert (duplicate.row, duplicate.duplicate_of) == (3, 1)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "has no header"),
        (b"title,text\n", "is empty"),
        (b"title,label\nA,B\n", "has no column that holds ideas; its columns are: title, label"),
        (b"title,Text,text\nA,B,C\n", "more than one column named text"),
        (("text," + ",".join(map(str, range(1_000)))).encode(), "has at least 1,001 columns; the maximum is 1,000"),
        (("text," + '"a,b",' * 1_000).encode(), "has at least 1,002 columns; the maximum is 1,000"),
        (b"title,text\n" + b"\n" * 1_001, "has more than 1,000 lines of text"),
        (b'title,text\nA,"' + b"\n" * 1_001, "has more than 1,000 lines of text"),
        (b"PK\x03\x04...", "is a ZIP or Office file"),
        (b"title,text\n\0\0\0\0\0\0", "contains binary data"),
        (b"\xff\xfet\0", "no column that holds ideas"),
    ],
)
def test_invalid_table_is_rejected(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(data)


def test_header_with_far_too_many_columns_is_refused_by_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []
    split = csv_table._cells

    def split_and_record_length(line: str, *arguments: Any, **options: Any) -> list[str]:
        lengths.append(len(line))
        return split(line, *arguments, **options)

    monkeypatch.setattr(csv_table, "_cells", split_and_record_length)
    with pytest.raises(InputError, match="columns; the maximum is 1,000"):
        read(("text," + "a," * 40_000).encode())
    assert sum(lengths) <= 80_000


@given(st.binary(max_size=400))
def test_arbitrary_csv_bytes_are_read_or_rejected(data: bytes) -> None:
    try:
        intake = read(b"title,text\n" + data, max_chars=200)
    except InputError:
        return
    row_numbers = sorted([row.number for row in intake.accepted] + [row.row for row in intake.rejected])
    assert row_numbers == list(range(1, intake.row_count + 1))


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30), max_size=6),
    st.integers(0, 6),
)
def test_broken_row_does_not_affect_valid_rows(cells: list[str], place: int) -> None:
    lines = [
        render_csv(["t", "x"], [[cell, make_idea_text(number)]]).split("\r\n", 1)[1]
        for number, cell in enumerate(cells)
    ]
    lines.insert(place, '"never" closed,"\r\n')
    table = "title,text\r\n" + "".join(lines)
    intake = read(table.encode())
    accepted_texts = {row.idea.text for row in intake.accepted if row.idea}
    for number in range(len(cells)):
        assert make_idea_text(number) in accepted_texts
    assert csv.field_size_limit() >= 100_000
