"""Superscripts and subscripts of PDFs are found by size and baseline, and written as in other formats."""

from collections.abc import Sequence

import pytest

from tests.contract.pdf_files import assemble
from workers.documents.document_ideas import read_document_idea
from workers.documents.pdf_reader import extract_pdf

BODY = "We count seeds of many plants in wet meadows and compare them with those of dry ones"
Piece = tuple[str, float, float]
"""Text, size in points, and distance from the baseline in points."""


def _show(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def make_pdf(*lines: Sequence[Piece]) -> bytes:
    """Return a page with one text object for each line, as TeX and Word write it."""
    content = []
    for number, line in enumerate(lines):
        pieces = " ".join(f"/F1 {size} Tf {rise} Ts ({_show(text)}) Tj" for text, size, rise in line)
        content.append(f"BT 60 {720 - 18 * number} Td {pieces} ET")
    data = "\n".join(content).encode("cp1252")
    return assemble(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
            b"/Contents 5 0 R >>",
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(data), data),
        ]
    )


def raise_text(text: str) -> Piece:
    return text, 7, 4


def lower_text(text: str) -> Piece:
    return text, 7, -2


def on(text: str) -> Piece:
    return text, 10, 0


@pytest.mark.parametrize(
    ("line", "expected_text"),
    [
        (
            [on("A rate of 10"), raise_text("-3"), on(" per m"), raise_text("2"), on(" is usual.")],
            "A rate of 10^-3 per m^2 is usual.",
        ),
        (
            [on("The gas CO"), lower_text("2"), on(" and SO"), lower_text("4"), raise_text("2-"), on(" fall.")],
            "The gas CO2 and SO4^2- fall.",
        ),
        (
            [on("As other groups have often shown"), raise_text("3,4"), on(", seeds are lost.")],
            "As other groups have often shown [3,4], seeds are lost.",
        ),
        (
            [on("Many seeds are often lost in summer."), raise_text("5"), on(" We count them.")],
            "Many seeds are often lost in summer [5]. We count them.",
        ),
        ([on("Plain text of 2019 with 3 plots and 4.5 m.")], "Plain text of 2019 with 3 plots and 4.5 m."),
    ],
)
async def test_scripts_of_a_pdf_are_written_on_the_line(line: list[Piece], expected_text: str) -> None:
    idea = await read_document_idea(make_pdf([on(BODY + ".")], [on(BODY + ".")], line), "a.pdf")
    assert expected_text in " ".join(idea.text.split())


async def test_footnote_marks_of_a_pdf_stay_notes() -> None:
    lines: list[list[Piece]] = [
        [on(BODY), raise_text("1"), on(".")],
        [on(BODY + ".")],
        [("1", 5, 3), ("A remark in small type below the text.", 7.5, 0)],
    ]
    parsed = await extract_pdf(make_pdf(*lines))
    assert [note.text for note in parsed.notes] == ["A remark in small type below the text."]
    assert "[^1]." in parsed.sections[0].text


async def test_authors_with_raised_numbers_keep_their_names() -> None:
    authors = [on("Jane Roe"), raise_text("1,2"), on(", John Poe"), raise_text("2")]
    parsed = await extract_pdf(make_pdf(authors, [on(BODY + ".")], [on(BODY + ".")]))
    assert "Jane Roe^1,2, John Poe^2" in parsed.sections[0].text
