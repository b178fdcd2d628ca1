"""Parses one untrusted PDF: `python -m workers.sandbox.pdf_parser MEMORY CPU PAGES CHARACTERS`.

PDF on standard input, one JSON object on standard output. It imports nothing heavy, so that a small memory limit
suffices. The answer is `{"error": kind}` or `{"pages", "unreadable", "unlooked", "title",
"styles": [[font, size, bold, italic, upright]], "lines": [[page, style, uniform, text]], "hidden": [[page, why,
text]]}`; text that a reader cannot see is in `hidden` only; `unlooked` pages were not rendered, for want of time.
"""

import ctypes
import json
import math
import re
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from workers.sandbox.hidden_pdf_text import PdfHiding, hidden_characters
from workers.sandbox.limits import confine
from workers.sandbox.replacement_text import take_out_false_replacements

BOLD_NAME = re.compile(r"bold|black|heavy|demi|-medi|medium|cmbx|cmssbx|-bd|\.b$", re.IGNORECASE)
ITALIC_NAME = re.compile(r"ital|obli|slant|cmti|cmsl|\.i$", re.IGNORECASE)
ITALIC_FLAG, BOLD_FLAG = 1 << 6, 1 << 18
LINE_END = {0x0A, 0x0D}
LINE_HYPHEN = {0x02, 0xFFFE}
"""What pdfium puts where it joined a word that a line's end had split."""
MOST_HIDDEN = 200
"""Stretches of hidden text that are reported, and the characters of each: a document made of them needs no more."""
HIDDEN_LENGTH = 1_000
LOOKING_SHARE = 0.6
"""Of the computing time, for pictures of pages; pages after that are judged by what the file says of their text."""

Style = tuple[str, float, bool, bool, bool]


class UnreadablePdf(Exception):
    """The document cannot be read, for a reason that the parent puts into words."""


def style_of(page: Any, index: int) -> Style:
    name = ctypes.create_string_buffer(256)
    flags = ctypes.c_int()
    pdfium.FPDFText_GetFontInfo(page, index, name, 256, flags)
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFText_GetMatrix(page, index, matrix)
    font = name.value.decode("utf-8", "replace")
    size = pdfium.FPDFText_GetFontSize(page, index) * (math.hypot(matrix.c, matrix.d) or 1.0)
    bold = (
        bool(flags.value & BOLD_FLAG)
        or pdfium.FPDFText_GetFontWeight(page, index) >= 600
        or bool(BOLD_NAME.search(font))
    )
    italic = bool(flags.value & ITALIC_FLAG) or bool(ITALIC_NAME.search(font))
    upright = abs(matrix.b) <= 0.1 * abs(matrix.a)
    return font, round(size, 1) if math.isfinite(size) else 0.0, bold, italic, upright


def lines_of(page: Any, hidden: Mapping[int, PdfHiding]) -> Iterator[tuple[str, list[int]]]:
    """Text of each line, and the indices of its characters that leave ink; without what is hidden."""
    units: list[int] = []
    visible: list[int] = []
    for index in range(page.count_chars()):
        if index in hidden:
            continue
        unit = pdfium.FPDFText_GetUnicode(page, index)
        if unit in LINE_END:
            yield as_text(units), visible
            units, visible = [], []
        elif unit not in LINE_HYPHEN and unit:
            units.append(unit)
            if not chr(unit).isspace():
                visible.append(index)
    yield as_text(units), visible


def hidden_texts(page: Any, hidden: Mapping[int, PdfHiding]) -> Iterator[tuple[PdfHiding, str]]:
    """Stretches of what is hidden for one reason; what pdfium puts between words and lines does not end one."""
    reason: PdfHiding | None = None
    units: list[int] = []
    for index in range(page.count_chars()):
        unit = pdfium.FPDFText_GetUnicode(page, index)
        here = hidden.get(index)
        if here is None and (unit in LINE_END or unit in LINE_HYPHEN or not unit or chr(unit).isspace()):
            units.append(0x20)
            continue
        if here != reason:
            if reason and (text := " ".join(as_text(units).split())):
                yield reason, text[:HIDDEN_LENGTH]
            reason, units = here, []
        if here:
            units.append(unit)
    if reason and (text := " ".join(as_text(units).split())):
        yield reason, text[:HIDDEN_LENGTH]


def as_text(units: list[int]) -> str:
    text = "".join(map(chr, units))
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def read(data: bytes, most_pages: int, most_characters: int, looking_seconds: float) -> dict[str, Any]:
    document = open_document(data)
    if len(document) == 0:
        raise UnreadablePdf("no_pages")
    if len(document) > most_pages:
        raise UnreadablePdf("too_many_pages")
    styles: dict[Style, int] = {}
    lines: list[tuple[int, int, bool, str]] = []
    unseen: list[tuple[int, PdfHiding, str]] = []
    unreadable = characters = unlooked = 0
    for number in range(len(document)):
        try:
            sheet = document[number]
            false = take_out_false_replacements(document, number, sheet)
            page = sheet.get_textpage()
        except pypdfium2.PdfiumError:
            unreadable += 1
            continue
        characters += page.count_chars()
        if characters > most_characters:
            raise UnreadablePdf("too_much_text")
        look = time.process_time() < looking_seconds
        unlooked += not look
        hidden = hidden_characters(sheet, page, look)
        unseen += ((number, "in place of what is drawn", text[:HIDDEN_LENGTH]) for text in false)
        if hidden:
            unseen += ((number, why, text) for why, text in hidden_texts(page, hidden))
        for text, visible in lines_of(page, hidden):
            if visible:
                samples = [style_of(page, visible[i]) for i in (len(visible) // 2, 0, -1)]
                style = styles.setdefault(samples[0], len(styles))
                lines.append((number, style, len(set(samples)) == 1, " ".join(text.split())))
        page.close()
        sheet.close()
    if unreadable == len(document):
        raise UnreadablePdf("damaged")
    title = document.get_metadata_value("Title")
    return {
        "pages": len(document), "unreadable": unreadable, "unlooked": unlooked, "title": title[:500],
        "styles": list(styles), "lines": lines, "hidden": unseen[:MOST_HIDDEN],
    }  # fmt: skip


def open_document(data: bytes) -> Any:
    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        code = pdfium.FPDF_GetLastError()
        if code in {pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY}:
            raise UnreadablePdf("encrypted") from error
        raise UnreadablePdf("no_pages" if code == pdfium.FPDF_ERR_SUCCESS else "damaged") from error


def main() -> None:
    memory_bytes, cpu_seconds, pages, characters = map(int, sys.argv[1:])
    confine(memory_bytes, cpu_seconds)
    try:
        answer = read(sys.stdin.buffer.read(), pages, characters, LOOKING_SHARE * cpu_seconds)
    except UnreadablePdf as refused:
        answer = {"error": str(refused)}
    except MemoryError:
        answer = {"error": "memory"}
    sys.stdout.buffer.write(json.dumps(answer).encode())
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
