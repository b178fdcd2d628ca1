"""Parses one hostile PDF in a process of its own: PDF on standard input, one JSON object on standard output.

Arguments: memory in bytes, CPU seconds, pages, characters. Run as a script that imports nothing heavy, so
that a small memory limit suffices. The answer is `{"error": kind}` or `{"pages", "unreadable", "title",
"styles": [[font, size, bold, italic, upright]], "lines": [[page, style, uniform, text]]}`.
"""

import ctypes
import json
import math
import re
import sys
from collections.abc import Iterator
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from workers.confinement.limits import confine

BOLD_NAME = re.compile(r"bold|black|heavy|demi|-medi|medium|cmbx|cmssbx|-bd|\.b$", re.IGNORECASE)
ITALIC_NAME = re.compile(r"ital|obli|slant|cmti|cmsl|\.i$", re.IGNORECASE)
ITALIC_FLAG, BOLD_FLAG = 1 << 6, 1 << 18
LINE_END = {0x0A, 0x0D}
LINE_HYPHEN = {0x02, 0xFFFE}
"""What pdfium puts where it joined a word that a line's end had split."""

Style = tuple[str, float, bool, bool, bool]


class Refused(Exception):
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


def lines_of(page: Any) -> Iterator[tuple[str, list[int]]]:
    """Text of each line, and the indices of its visible characters."""
    units: list[int] = []
    visible: list[int] = []
    for index in range(page.count_chars()):
        unit = pdfium.FPDFText_GetUnicode(page, index)
        if unit in LINE_END:
            yield as_text(units), visible
            units, visible = [], []
        elif unit not in LINE_HYPHEN and unit:
            units.append(unit)
            if not chr(unit).isspace():
                visible.append(index)
    yield as_text(units), visible


def as_text(units: list[int]) -> str:
    text = "".join(map(chr, units))
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def read(data: bytes, most_pages: int, most_characters: int) -> dict[str, Any]:
    document = open_document(data)
    if len(document) == 0:
        raise Refused("no_pages")
    if len(document) > most_pages:
        raise Refused("too_many_pages")
    styles: dict[Style, int] = {}
    lines: list[tuple[int, int, bool, str]] = []
    unreadable = characters = 0
    for number in range(len(document)):
        try:
            page = document[number].get_textpage()
        except pypdfium2.PdfiumError:
            unreadable += 1
            continue
        characters += page.count_chars()
        if characters > most_characters:
            raise Refused("too_much_text")
        for text, visible in lines_of(page):
            if visible:
                samples = [style_of(page, visible[i]) for i in (len(visible) // 2, 0, -1)]
                style = styles.setdefault(samples[0], len(styles))
                lines.append((number, style, len(set(samples)) == 1, " ".join(text.split())))
        page.close()
    if unreadable == len(document):
        raise Refused("damaged")
    title = document.get_metadata_value("Title")
    return {
        "pages": len(document), "unreadable": unreadable, "title": title[:500],
        "styles": list(styles), "lines": lines,
    }  # fmt: skip


def open_document(data: bytes) -> Any:
    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        code = pdfium.FPDF_GetLastError()
        if code in {pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY}:
            raise Refused("encrypted") from error
        raise Refused("no_pages" if code == pdfium.FPDF_ERR_SUCCESS else "damaged") from error


def main() -> None:
    memory_bytes, cpu_seconds, pages, characters = map(int, sys.argv[1:])
    confine(memory_bytes, cpu_seconds)
    try:
        answer = read(sys.stdin.buffer.read(), pages, characters)
    except Refused as refused:
        answer = {"error": str(refused)}
    except MemoryError:
        answer = {"error": "memory"}
    sys.stdout.buffer.write(json.dumps(answer).encode())
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
