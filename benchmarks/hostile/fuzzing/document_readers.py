"""Readers of web pages, style sheets, office documents and source code, as used in the sandboxed processes."""

import io
import zipfile
from collections.abc import Callable
from html import escape

import lxml.html

from workers.documents import tex_package
from workers.sandbox import (
    html_text,
    jats_text,
    office_package,
    open_document_text,
    python_definitions,
    rich_text,
    spreadsheet_rows,
    tex_document,
    word_text,
)
from workers.sandbox.hidden_html_text import remove_hidden_text
from workers.sandbox.page_tree import parse_page
from workers.sandbox.refusal import Refused

_MAX_CHARACTERS = 400_000
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_WORD_RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)


def escape_xml(text: str) -> str:
    """Return the text escaped for XML, without characters that XML does not allow."""
    return escape("".join(character for character in text if character.isprintable() or character in "\t\n"))


def _zip_parts(parts: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part.encode("utf-8", "replace"))
    return file.getvalue()


def _read_word(text: str, is_raw: bool = False) -> object:
    """Read a Word document with the text as a paragraph and in its style, or with `is_raw`, as the XML of the body."""
    body_xml = (
        text
        if is_raw
        else f"<w:p><w:r><w:rPr><w:color w:val='{escape_xml(text[:99])}'/></w:rPr>"
        f"<w:t>{escape_xml(text)}</w:t></w:r></w:p>"
    )
    document = f'<w:document xmlns:w="{_W}"><w:body>{body_xml}</w:body></w:document>'
    return _read_office(
        {"_rels/.rels": _WORD_RELATIONS, "word/document.xml": document},
        lambda package: word_text.read_word(package, _MAX_CHARACTERS),
    )


def _read_open_document(text: str) -> object:
    content = (
        f'<office:document-content xmlns:office="{_ODF}:office:1.0" xmlns:text="{_ODF}:text:1.0" '
        f'xmlns:table="{_ODF}:table:1.0"><office:body><office:text><text:p>{escape_xml(text)}</text:p>'
        f"<table:table><table:table-row><table:table-cell><text:p>{escape_xml(text[:9_999])}</text:p></table:table-cell>"
        "</table:table-row></table:table></office:text></office:body></office:document-content>"
    )
    parts = {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content}
    return _read_office(parts, lambda package: open_document_text.read_open_document(package, _MAX_CHARACTERS))


def _read_office(parts: dict[str, str], read: Callable[[office_package.OfficePackage], object]) -> object:
    try:
        return read(office_package.OfficePackage(_zip_parts(parts), 10 * _MAX_CHARACTERS))
    except Refused:
        return None


def _read_file(text: str, read: Callable[[bytes, int], object]) -> object:
    try:
        return read(text.encode("utf-8", "replace"), _MAX_CHARACTERS)
    except Refused:
        return None


def _read_workbook(text: str) -> object:
    cell = (
        f'<c r="A1" t="inlineStr"><is><t>{escape_xml(text)}</t></is></c><c r="B1"><f>{escape_xml(text[:999])}</f></c>'
    )
    namespace = "http://schemas.openxmlformats.org"
    main, office = f"{namespace}/spreadsheetml/2006/main", f"{namespace}/officeDocument/2006/relationships"
    types = f"{namespace}/package/2006/content-types"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    relations = f"{namespace}/package/2006/relationships"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{types}"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{relations}"><Relationship Id="r1" Type="{office}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="a" sheetId="1" '
        'r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{relations}"><Relationship Id="r1" '
        f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData><row r="1">{cell}</row></sheetData>'
        "</worksheet>",
    }
    try:
        return spreadsheet_rows.read_spreadsheet(_zip_parts(parts), _MAX_CHARACTERS)
    except Refused:
        return None


def _read_style_sheet(text: str) -> object:
    page = lxml.html.document_fromstring("<html><head><style></style></head><body><p class=a>a</p></body></html>")
    sheet = page.find(".//style")
    assert sheet is not None  # noqa: S101 - it stands in the page above
    sheet.text = "".join(character for character in text if character.isprintable() or character in "\t\n")
    return remove_hidden_text(page)


def _read_page(text: str) -> object:
    try:
        return parse_page(text.encode(), "utf-8")
    except Refused:
        return None


def _read_definitions(text: str) -> object:
    """Find the definitions in Python source; errors for invalid Python count as refusals."""
    try:
        return list(python_definitions.find_definitions("a.py", text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


DOCUMENT_READERS: dict[str, Callable[[str], object]] = {
    "workers.documents.tex_package.is_tex_archive": lambda text: tex_package.is_tex_archive(
        _zip_parts({"a.txt": text, f"a{escape_xml(text[:999])}.tex": ""})
    ),
    "workers.sandbox.hidden_html_text.remove_hidden_text": _read_style_sheet,
    "workers.sandbox.html_text.read_html": lambda text: _read_file(text, html_text.read_html),
    "workers.sandbox.jats_text.read_jats": lambda text: _read_file(
        f"<article><body><sec><title>A</title><p>{escape_xml(text)}</p></sec></body></article>", jats_text.read_jats
    ),
    "workers.sandbox.jats_text.read_jats, the markup": lambda text: _read_file(
        f"<article><body>{text}</body></article>", jats_text.read_jats
    ),
    "workers.sandbox.open_document_text.read_open_document": _read_open_document,
    "workers.sandbox.page_tree.parse_page": _read_page,
    "workers.sandbox.python_definitions.find_definitions": _read_definitions,
    "workers.sandbox.rich_text.read_rich_text": lambda text: _read_file(f"{{\\rtf1 {text}}}", rich_text.read_rich_text),
    "workers.sandbox.spreadsheet_rows.read_spreadsheet": _read_workbook,
    "workers.sandbox.tex_document.unpack_tex_files": lambda text: _read_file(text, tex_document.unpack_tex_files),
    "workers.sandbox.word_text.read_word": _read_word,
    "workers.sandbox.word_text.read_word, the body": lambda text: _read_word(text, is_raw=True),
}
