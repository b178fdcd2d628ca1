"""Parse an office document, or a text with markup, in the sandboxed process."""

from typing import Literal

from workers.sandbox.refusal import Refused

DocumentKind = Literal["office", "tex", "html", "rtf", "jats"]
"""Kind of document. `office` is a ZIP of XML parts; `tex` is a file, or an archive of a paper's files."""


def read_document(data: bytes, kind: DocumentKind, characters: int, unpacked_bytes: int) -> dict[str, object]:
    """Parse a document. Return `{"kind": "text", …}` with the contents of an OfficeParagraphs (for TeX and JATS, also
    the cited `works`), or `{"kind": "table", …}` with the contents of a SheetRows. Raises Refused if it cannot be read.
    Each kind imports only the libraries that it needs."""
    if kind == "office":
        return _parse_office(data, characters, unpacked_bytes)
    if kind == "tex":
        from workers.sandbox.tex_document import read_tex_document, unpack_tex_files

        text, cited = read_tex_document(unpack_tex_files(data, unpacked_bytes), characters)
        return {**text.to_json(), "works": [work.model_dump() for work in cited]}
    if kind == "jats":
        from workers.sandbox.jats_text import read_jats

        text, cited = read_jats(data, characters)
        return {**text.to_json(), "works": [work.model_dump() for work in cited]}
    if kind == "html":
        from workers.sandbox.html_text import read_html

        return read_html(data, characters).to_json()
    from workers.sandbox.rich_text import read_rich_text

    return read_rich_text(data, characters).to_json()


def _parse_office(data: bytes, characters: int, unpacked_bytes: int) -> dict[str, object]:
    from workers.sandbox.office_package import OfficePackage
    from workers.sandbox.open_document_text import is_open_document, read_open_document
    from workers.sandbox.spreadsheet_rows import is_spreadsheet
    from workers.sandbox.word_text import is_word, read_word

    package = OfficePackage(data, unpacked_bytes)
    if is_spreadsheet(package):
        return _read_table(data, characters)
    if is_word(package):
        return read_word(package, characters).to_json()
    if is_open_document(package):
        return read_open_document(package, characters).to_json()
    raise Refused("other_format")


def _read_table(data: bytes, characters: int) -> dict[str, object]:
    from workers.sandbox.spreadsheet_rows import read_spreadsheet

    try:
        table = read_spreadsheet(data, characters)
        return {"kind": "table", **table._asdict(), "rows": [row._asdict() for row in table.rows]}
    except (Refused, MemoryError, ModuleNotFoundError):
        raise
    except Exception as error:
        raise Refused("damaged") from error
