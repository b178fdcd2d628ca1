"""Parse an untrusted PDF in the sandboxed process. This module imports little, so that it works with a small memory
limit."""

import ctypes
import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from workers.sandbox.hidden_pdf_text import PdfHiding, find_hidden_characters
from workers.sandbox.office_text import MAX_HIDDEN_CHARS, MAX_HIDDEN_TEXTS
from workers.sandbox.pdf_links import find_linked_works
from workers.sandbox.pdf_scripts import ScriptMarker
from workers.sandbox.refusal import Refused
from workers.sandbox.replacement_text import remove_false_replacements

BOLD_NAME = re.compile(r"bold|black|heavy|demi|-medi|medium|cmbx|cmssbx|-bd|\.b$", re.IGNORECASE)
ITALIC_NAME = re.compile(r"ital|obli|slant|cmti|cmsl|\.i$", re.IGNORECASE)
ITALIC_FLAG, BOLD_FLAG = 1 << 6, 1 << 18
LINE_END = {0x0A, 0x0D}
BITMAP_LETTERS = {0x0D: "c", 0x2104: "]", 0x1B: "ff", 0x1C: "fi", 0x1D: "fl", 0x1E: "ffi", 0x1F: "ffl"}
"""Letters of TeX's bitmap fonts, which have no names, by the characters that pdfium takes them for."""
LINE_HYPHEN = {0x02, 0xFFFE}
"""Characters that pdfium inserts where it joins a word that was split at a line end."""
SOFT_HYPHEN = 0xAD
RENDERING_TIME_SHARE = 0.6
"""Share of the CPU time after which pages are no longer rendered. Hidden text is then found only by its properties in
the file."""

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_SPLIT_WORD = re.compile(r"[^\W\d_]+(?:[-\xad][^\W\d_]+)*\xad[^\W\d_]+(?:-[^\W\d_]+)*")

Style = tuple[str, float, bool, bool, bool]
Line = tuple[int, int, bool, float, str]


def get_style(page: Any, index: int) -> Style:
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


def is_bitmap_letter(page: Any, index: int) -> bool:
    """Return whether a character is drawn in a font without a name, rather than inserted by pdfium."""
    return not pdfium.FPDFText_IsGenerated(page, index) and not get_style(page, index)[0]


def get_left_edge(page: Any, index: int) -> float:
    """Return where a character begins, in points from the page's left edge; 0 if the PDF does not say."""
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    pdfium.FPDFText_GetCharBox(page, index, left, right, bottom, top)
    return round(left.value, 1) if math.isfinite(left.value) else 0.0


def read_lines(page: Any, hidden: Mapping[int, PdfHiding]) -> Iterator[tuple[str, list[int]]]:
    """Yield each line's text without hidden text, with marks around superscripts and subscripts, and the indices of its
    characters other than spaces."""
    units: list[int] = []
    visible: list[int] = []
    marker = ScriptMarker(page)
    for index in range(page.count_chars()):
        if index in hidden:
            continue
        unit = pdfium.FPDFText_GetUnicode(page, index)
        if unit in BITMAP_LETTERS and is_bitmap_letter(page, index):
            units += map(ord, BITMAP_LETTERS[unit])
            visible.append(index)
            continue
        if unit in LINE_END and marker.is_line_continuation(index):
            continue
        if unit in LINE_END:
            yield decode_units(units + marker.end_line()), visible
            units, visible = [], []
        elif unit in LINE_HYPHEN:
            units.append(SOFT_HYPHEN)
        elif unit:
            units += marker.encode_unit(index, unit)
            if not chr(unit).isspace():
                visible.append(index)
    yield decode_units(units + marker.end_line()), visible


def join_split_words(lines: Sequence[Line]) -> list[Line]:
    """Return the lines without soft hyphens. A word split at a line end keeps its hyphen if the rest of the document
    has the word only with a hyphen."""
    soft_hyphen = chr(SOFT_HYPHEN)
    document_words = {word.casefold() for *_, text in lines for word in _WORD.findall(text)}

    def join_match(match: re.Match[str]) -> str:
        without_hyphen, with_hyphen = match[0].replace(soft_hyphen, ""), match[0].replace(soft_hyphen, "-")
        return (
            with_hyphen
            if with_hyphen.casefold() in document_words and without_hyphen.casefold() not in document_words
            else without_hyphen
        )

    return [(*position, _SPLIT_WORD.sub(join_match, text).replace(soft_hyphen, "")) for *position, text in lines]  # type: ignore[misc]


def collect_hidden_texts(page: Any, hidden: Mapping[int, PdfHiding]) -> Iterator[tuple[PdfHiding, str]]:
    """Yield consecutive hidden text with its reason. Spaces, line ends and hyphens that pdfium inserts do not end a
    piece."""
    reason: PdfHiding | None = None
    units: list[int] = []
    for index in range(page.count_chars()):
        unit = pdfium.FPDFText_GetUnicode(page, index)
        hiding = hidden.get(index)
        if hiding is None and (unit in LINE_END or unit in LINE_HYPHEN or not unit or chr(unit).isspace()):
            units.append(0x20)
            continue
        if hiding != reason:
            if reason and (text := " ".join(decode_units(units).split())):
                yield reason, text[:MAX_HIDDEN_CHARS]
            reason, units = hiding, []
        if hiding:
            units.append(unit)
    if reason and (text := " ".join(decode_units(units).split())):
        yield reason, text[:MAX_HIDDEN_CHARS]


def decode_units(units: list[int]) -> str:
    text = "".join(map(chr, units))
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def read_pdf(data: bytes, pages: int, characters: int, cpu_seconds: float) -> dict[str, Any]:
    """Return `{"pages", "unreadable", "unlooked", "title", "author", "styles": [[font, size, bold, italic, upright]],
    "lines": [[page, style, uniform, left, text]], "hidden": [[page, why, text]]}`. `left` is the left edge in points.
    Text that a reader cannot see is only in `hidden`. `unlooked` is the number of pages that were not rendered because
    time ran out. Raises Refused if the PDF cannot be read."""
    document = open_document(data)
    if len(document) == 0:
        raise Refused("no_pages")
    if len(document) > pages:
        raise Refused("too_many_pages")
    styles: dict[Style, int] = {}
    lines: list[Line] = []
    hidden_texts: list[tuple[int, PdfHiding, str]] = []
    unreadable = characters_read = unrendered = 0
    for number in range(len(document)):
        try:
            sheet = document[number]
            false_replacements = remove_false_replacements(document, number, sheet)
            page = sheet.get_textpage()
        except pypdfium2.PdfiumError:
            unreadable += 1
            continue
        characters_read += page.count_chars()
        if characters_read > characters:
            raise Refused("too_much_text")
        should_render = time.process_time() < RENDERING_TIME_SHARE * cpu_seconds
        unrendered += not should_render
        hidden = find_hidden_characters(sheet, page, should_render)
        hidden_texts += (
            (number, "different from what is drawn", text[:MAX_HIDDEN_CHARS]) for text in false_replacements
        )
        if hidden:
            hidden_texts += ((number, reason, text) for reason, text in collect_hidden_texts(page, hidden))
        addresses_by_index = find_linked_works(document, sheet, page)
        for text, visible in read_lines(page, hidden):
            if visible:
                works = [address for index, address in addresses_by_index.items() if visible[0] <= index <= visible[-1]]
                samples = [get_style(page, visible[i]) for i in (len(visible) // 2, 0, -1)]
                style = styles.setdefault(samples[0], len(styles))
                line_text = " ".join([*text.split(), *works])
                lines.append((number, style, len(set(samples)) == 1, get_left_edge(page, visible[0]), line_text))
        page.close()
        sheet.close()
    if unreadable == len(document):
        raise Refused("damaged")
    title, author = (document.get_metadata_value(name) for name in ("Title", "Author"))
    return {
        "pages": len(document), "unreadable": unreadable, "unlooked": unrendered,
        "title": title[:500], "author": author[:500],
        "styles": list(styles), "lines": join_split_words(lines), "hidden": hidden_texts[:MAX_HIDDEN_TEXTS],
    }  # fmt: skip


def open_document(data: bytes) -> Any:
    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        code = pdfium.FPDF_GetLastError()
        if code in {pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY}:
            raise Refused("encrypted") from error
        raise Refused("no_pages" if code == pdfium.FPDF_ERR_SUCCESS else "damaged") from error
