"""PDFs of simulated papers, laid out like real ones, and hostile PDFs."""

import re
import textwrap
import zlib
from collections.abc import Callable, Sequence
from functools import cache

from simulator.outside.fulltexts import write_parts
from simulator.outside.library import Entry

HOSTILE = ("bomb", "encrypted", "truncated", "no-pages", "html", "noise", "scan")

_FONTS = ("Helvetica", "Helvetica-Bold", "Helvetica-Oblique")
_REGULAR, _BOLD, _ITALIC = 1, 2, 3
_HEIGHT = 760.0
_BOTTOM = 60.0
_MARK = "simulated-paper:"
_MARKED = re.compile(rb"simulated-paper:([^\s()]+)")
_VERSION_MARK = "simulated-version:"
_VERSION_MARKED = re.compile(rb"simulated-version:(\d+)")
_BOMB_MEGABYTES = 1_100

_Line = tuple[int, float, str]
"""Font number, size in points, text; an empty text is a gap."""


def build_paper_pdf(entry: Entry, cited_entries: Sequence[Entry], version: int | None = None) -> bytes:
    """Return a PDF with title, authors, abstract, numbered sections, a caption and references; the newest version by
    default."""
    version = version or entry.versions
    marks = f"{_MARK}{entry.record.id} {_VERSION_MARK}{version}"
    return _build_document(
        _split_into_pages(_lay_out_lines(entry, cited_entries, version)),
        f"/Title {_format_string(entry.record.title)} /Keywords ({marks})",
    )


def find_paper_id(pdf: bytes) -> str | None:
    """Return the id of the simulated paper in a PDF; None for any other document."""
    match = _MARKED.search(pdf)
    return match[1].decode() if match else None


def find_version(pdf: bytes) -> int | None:
    """Return the version of the simulated paper in a PDF; None for any other document."""
    match = _VERSION_MARKED.search(pdf)
    return int(match[1]) if match else None


def build_hostile_pdf(kind: str) -> bytes:
    """Return a PDF that is malicious or broken. Raises KeyError for an unknown kind."""
    makers: dict[str, Callable[[], bytes]] = {
        "bomb": _build_bomb,
        "encrypted": _build_encrypted,
        "truncated": lambda: _build_document([[(_REGULAR, 10.0, "This page is never reached.")] * 40])[:600],
        "no-pages": lambda: _build_document([]),
        "html": lambda: b"<!DOCTYPE html><html><head><title>403</title></head><body>Sign in to read on.</body></html>",
        "noise": lambda: b"%PDF-1.7\n" + bytes(zlib.crc32(b"%d" % n) % 256 for n in range(4_000)),
        "scan": lambda: _assemble([_build_stream(b"q Q")], ""),
    }
    return makers[kind]()


def _lay_out_lines(entry: Entry, cited_entries: Sequence[Entry], version: int) -> list[_Line]:
    record = entry.record
    lines = [*_wrap_text(_BOLD, 18, record.title), *_wrap_text(_REGULAR, 10, ", ".join(record.authors)), _GAP]
    lines += [(_BOLD, 12.0, "Abstract"), *_wrap_text(_REGULAR, 10, record.abstract), _GAP]
    for number, part in enumerate(write_parts(entry, cited_entries, version), 1):
        lines += [(_BOLD, 12.0, f"{number} {part.title}"), *_wrap_text(_REGULAR, 10, part.text), _GAP]
        if part.title == "Experiments":
            lines += [*_wrap_text(_REGULAR, 8, f"Figure 1: What the experiments of {record.title} show."), _GAP]
    if cited_entries:
        lines.append((_BOLD, 12.0, "References"))
        for number, cited_entry in enumerate(cited_entries, 1):
            lines += _wrap_text(_REGULAR, 8, f"[{number}] {format_reference(cited_entry)}")
    return lines


_GAP: _Line = (_REGULAR, 6.0, "")


def format_reference(entry: Entry) -> str:
    """Return an entry of a reference list, in the style of computer science papers."""
    record = entry.record
    names = " and ".join(record.authors) if len(record.authors) < 3 else ", ".join(record.authors)
    address = f" doi:{entry.doi}" if entry.doi else f" arXiv:{entry.arxiv}" if entry.arxiv else ""
    return f"{names or 'Anonymous'}. {record.title}. {record.venue or 'Manuscript'}, {record.year or 'n.d.'}.{address}"


def _wrap_text(font: int, size: float, text: str) -> list[_Line]:
    return [(font, size, line) for line in textwrap.wrap(text, int(960 / size), break_on_hyphens=False)]


def _split_into_pages(lines: Sequence[_Line]) -> list[list[_Line]]:
    pages: list[list[_Line]] = [[]]
    height = _HEIGHT
    for line in lines:
        height -= 1.4 * line[1]
        if height < _BOTTOM:
            pages.append([])
            height = _HEIGHT - 1.4 * line[1]
        pages[-1].append(line)
    return pages


def _build_document(pages: Sequence[Sequence[_Line]], info: str = "") -> bytes:
    return _assemble([_build_stream(zlib.compress(_draw_page(page)), b"/Filter /FlateDecode") for page in pages], info)


def _draw_page(page: Sequence[_Line]) -> bytes:
    operators, height = [], _HEIGHT
    for font, size, text in page:
        height -= 1.4 * size
        if text:
            operators.append(f"BT /F{font} {size} Tf 60 {height:.1f} Td {_format_string(text)} Tj ET")
    return "\n".join(operators).encode("cp1252", "replace")


def _format_string(text: str) -> str:
    return "(" + text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") + ")"


def _build_stream(data: bytes, attributes: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), attributes, data)


def _assemble(contents: Sequence[bytes], info: str, trailer: bytes = b"") -> bytes:
    """Return a PDF with one page for each content stream, with cross-reference table and trailer."""
    first_number = 4 + len(_FONTS)
    page_numbers = b" ".join(b"%d 0 R" % (first_number + 2 * number) for number in range(len(contents)))
    fonts = [
        b"<< /Type /Font /Subtype /Type1 /BaseFont /%s /Encoding /WinAnsiEncoding >>" % font.encode() for font in _FONTS
    ]
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(contents), page_numbers),
        b"<< %s >>" % info.encode("cp1252", "replace"),
        *fonts,
    ]
    font_entries = b" ".join(b"/F%d %d 0 R" % (number, 3 + number) for number in range(1, len(_FONTS) + 1))
    for number, content in enumerate(contents):
        page = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << %s >> >> /Contents %d 0 R >>"
        )
        objects += [page % (font_entries, first_number + 2 * number + 1), content]
    data = bytearray(b"%PDF-1.7\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table_offset = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer_entries = b"/Info 3 0 R %s" % trailer
    data += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1,
        trailer_entries,
        table_offset,
    )
    return bytes(data)


@cache
def _build_bomb() -> bytes:
    """Return a PDF of a few kilobytes, compressed twice, whose only page decompresses to more than a gigabyte of
    drawing commands."""
    packer = zlib.compressobj(1)
    chunk = b"0 0 m 9 9 l S\n" * 71_429
    compressed_bytes = b"".join([*(packer.compress(chunk) for _ in range(_BOMB_MEGABYTES)), packer.flush()])
    return _assemble([_build_stream(zlib.compress(compressed_bytes, 9), b"/Filter [/FlateDecode /FlateDecode]")], "")


def _build_encrypted() -> bytes:
    """Return a PDF that is encrypted with an unknown password."""
    keys = b"/O <%s> /U <%s>" % (b"ab" * 32, b"cd" * 32)
    encryption = b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 %s >> /ID [<00> <00>]" % keys
    return _assemble([_build_stream(b"BT ET")], "", encryption)
