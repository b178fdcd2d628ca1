"""Word, LibreOffice and Excel files become ideas; what cannot be read is refused in words."""

import datetime as dt
import io
import zipfile
from pathlib import Path

import docx
import openpyxl
import pytest
from odf.opendocument import OpenDocumentText
from odf.style import Style
from odf.text import H, List, ListItem, P

from assayer.errors import InputError
from assayer.models import Idea
from tests.contract.office_files import build_package, odt, word
from workers.documents import DocumentLimits, OfficeLimits
from workers.documents.document_ideas import read_document_idea
from workers.documents.idea_reader import read_ideas

BODY = "We plant young corals on tiles in three bays and measure their growth every second month."
LONG = f"{BODY} {BODY}"
PARAGRAPH = f"<w:p><w:r><w:t>{LONG}</w:t></w:r></w:p>"


def build_word_document() -> bytes:
    document = docx.Document()
    document.add_heading("Growing Young Corals", 0)
    document.add_paragraph("Ann Example")
    document.add_heading("Problem", 1)
    document.add_paragraph(BODY)
    document.add_heading("Sites", 2)
    document.add_paragraph("Three bays", style="List Bullet")
    document.add_heading("Method", 1)
    document.add_paragraph(BODY)
    table = document.add_table(rows=1, cols=2)
    table.cell(0, 0).text, table.cell(0, 1).text = "Year 1", "Plant"
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def build_libreoffice_document() -> bytes:
    document = OpenDocumentText()
    title = Style(name="Title", family="paragraph")
    document.styles.addElement(title)
    document.text.addElement(P(stylename=title, text="Growing Young Corals"))
    for heading in ("Problem", "Method"):
        document.text.addElement(H(outlinelevel=1, text=heading))
        document.text.addElement(P(text=BODY))
    items = List()
    item = ListItem()
    item.addElement(P(text="Three bays"))
    items.addElement(item)
    document.text.addElement(items)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def build_workbook(*rows: tuple[str | int | dt.date | None, ...]) -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in rows:
        book.active.append(row)
    return book


def save(book: openpyxl.Workbook, path: Path) -> Path:
    book.save(path)
    return path


async def get_refusal(document: bytes, limits: OfficeLimits | None = None) -> str:
    with pytest.raises(InputError) as caught:
        await read_document_idea(document, "plan.docx", DocumentLimits(office=limits or OfficeLimits()))
    return str(caught.value)


async def read_only_idea(path: Path) -> Idea:
    ideas, rejected = await read_ideas([path])
    assert not rejected
    (idea,) = ideas
    return idea


async def test_a_word_document_becomes_an_idea_with_its_headings(tmp_path: Path) -> None:
    (tmp_path / "plan.docx").write_bytes(build_word_document())
    idea = await read_only_idea(tmp_path / "plan.docx")
    assert idea.title == "Growing Young Corals"
    assert [section.title for section in idea.sections] == ["Overview", "Problem", "Method"]
    assert "Sites\n\n" in idea.sections[1].text
    assert idea.sections[2].text.endswith("Year 1 | Plant")
    assert idea.flags == ()


async def test_a_libreoffice_document_becomes_an_idea_with_its_headings(tmp_path: Path) -> None:
    (tmp_path / "plan.odt").write_bytes(build_libreoffice_document())
    idea = await read_only_idea(tmp_path / "plan.odt")
    assert idea.title == "Growing Young Corals"
    assert [section.title for section in idea.sections] == ["Problem", "Method"]
    assert idea.sections[1].text.endswith("- Three bays")
    assert idea.flags == ()


async def test_notes_and_text_boxes_are_read_once() -> None:
    box = (
        '<w:p><w:r><mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        "<mc:Choice><w:drawing><w:txbxContent><w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent></w:drawing>"
        "</mc:Choice><mc:Fallback><w:pict><w:txbxContent><w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent>"
        "</w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )
    idea = await read_document_idea(word(PARAGRAPH + box), "plan.docx")
    assert idea.text.count("In a box.") == 1
    note = (
        f"<text:p>{LONG}<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note.</text:p>"
        "</text:note-body></text:note></text:p>"
    )
    assert (await read_document_idea(odt(note), "plan.odt")).text.endswith("month.[^1]\n\n[^1]: A note.")


async def test_workbook_rows_are_read_as_ideas(tmp_path: Path) -> None:
    book = build_workbook(
        (None, None, None),
        ("id", "Title", "Text", "Cutoff"),
        ("A-1", "Corals", LONG, dt.date(2024, 9, 30)),
        (),
        (7, "Too short", "No.", None),
    )
    ideas, rejected = await read_ideas([save(book, tmp_path / "call.xlsx")])
    (idea,) = ideas
    assert (idea.title, idea.cutoff) == ("Corals", dt.date(2024, 9, 30))
    assert idea.source == f"{tmp_path}/call.xlsx:1 (A-1)"
    (short,) = rejected
    assert short.source == f"{tmp_path}/call.xlsx:2"
    assert "(row 5 of the sheet)" in short.message


async def test_workbook_without_idea_column_is_rejected_listing_its_columns(tmp_path: Path) -> None:
    ideas, rejected = await read_ideas([save(build_workbook(("Name", "Amount"), ("A", 5)), tmp_path / "call.xlsx")])
    assert not ideas
    assert "its columns are: Name, Amount." in rejected[0].message


COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ENCRYPTED = "<m:file-entry><m:encryption-data/></m:file-entry>"
DECLARED = '<!DOCTYPE d [<!ENTITY a "x"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    ("document", "words"),
    [
        pytest.param(COMPOUND + "EncryptedPackage".encode("utf-16-le"), "is encrypted", id="encrypted"),
        pytest.param(COMPOUND + b"WordDocument", "from before 2007", id="an old .doc"),
        pytest.param(odt("", manifest=ENCRYPTED), "is encrypted", id="encrypted .odt"),
        pytest.param(word(PARAGRAPH, parts={"word/vbaProject.bin": b"x"}), "contains macros", id="macros"),
        pytest.param(odt("", parts={"Basic/Standard/Module1.xml": "<x/>"}), "contains macros", id="macros of .odt"),
        pytest.param(word(PARAGRAPH, prolog=DECLARED), "declares XML entities", id="entities"),
        pytest.param(build_package({"a.txt": "x"}), "is a ZIP file, but neither", id="another ZIP"),
        pytest.param(build_word_document()[:5_000], "is damaged or incomplete", id="cut off"),
        pytest.param(word("<w:p>"), "is damaged or incomplete", id="broken XML"),
        pytest.param(word(""), "has no visible text", id="without text"),
        pytest.param(word("<w:sdt>" * 5_000 + "</w:sdt>" * 5_000), "is damaged or incomplete", id="nested deeply"),
    ],
)  # fmt: skip
async def test_unusable_office_document_is_rejected_with_reason(document: bytes, words: str) -> None:
    assert words in await get_refusal(document)


async def test_document_unpacking_beyond_its_limits_is_rejected() -> None:
    bomb = word(PARAGRAPH, parts={"word/media/image1.png": bytes(3_000_000)})
    assert len(bomb) < 10_000
    assert "has more than 2 MB when decompressed" in await get_refusal(bomb, OfficeLimits(unpacked_bytes=2_000_000))
    much = word(PARAGRAPH * 1_000)
    assert "has more than 10,000 characters" in await get_refusal(much, OfficeLimits(characters=10_000))


async def test_archive_entry_with_false_size_is_rejected() -> None:
    honest = bytearray(word(PARAGRAPH * 400))
    with zipfile.ZipFile(io.BytesIO(honest)) as archive:
        size = archive.getinfo("word/document.xml").file_size
    lying = honest.replace(size.to_bytes(4, "little"), (100).to_bytes(4, "little"))
    assert "is damaged or incomplete" in await get_refusal(bytes(lying))
