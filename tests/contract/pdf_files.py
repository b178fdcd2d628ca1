"""Small PDFs for tests, regular and hostile, and the text of a PDF."""

import zlib
from collections.abc import Iterable, Sequence

import pypdfium2

Run = tuple[str, float, str]
"""Font (`F1` regular, `F2` bold, `F3` italic), size in points, text."""

_FONTS = {"F1": "Helvetica", "F2": "Helvetica-Bold", "F3": "Helvetica-Oblique"}


def _build_stream(data: bytes, attributes: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), attributes, data)


def assemble(objects: Sequence[bytes], trailer: bytes = b"") -> bytes:
    """Objects 1, 2 … with header, cross-reference table and trailer; object 1 is the catalogue."""
    out = bytearray(b"%PDF-1.7\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table_offset = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, trailer, table_offset)
    return bytes(out)


def _build_content(runs: Iterable[Run]) -> bytes:
    lines, height = [], 760.0
    for font, size, text in runs:
        height -= 1.4 * size
        escaped_text = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        lines.append(f"BT /{font} {size} Tf 60 {height:.1f} Td ({escaped_text}) Tj ET")
    return "\n".join(lines).encode("cp1252")


def build_document(contents: Sequence[bytes], trailer: bytes = b"", info: bytes = b"") -> bytes:
    """Return a PDF with one page per content stream (a whole stream object) and the three fonts."""
    kids = " ".join(f"{7 + 2 * n} 0 R" for n in range(len(contents))).encode()
    fonts = [b"<< /Type /Font /Subtype /Type1 /BaseFont /%s >>" % name.encode() for name in _FONTS.values()]
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(contents), kids),
        *fonts,
        b"<< %s >>" % info,
    ]
    resources = b"<< /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> >>"
    for number, content in enumerate(contents):
        page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources %s /Contents %d 0 R >>"
        objects += [page % (resources, 8 + 2 * number), content]
    return assemble(objects, trailer + (b" /Info 6 0 R" if info else b""))


def pdf(*pages: Iterable[Run], info: bytes = b"") -> bytes:
    return build_document([_build_stream(_build_content(page)) for page in pages], info=info)


def build_encrypted_pdf() -> bytes:
    """Return a PDF encrypted with an unknown password."""
    keys = b"/O <%s> /U <%s>" % (b"ab" * 32, b"cd" * 32)
    encryption = b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 %s >> /ID [<00> <00>]" % keys
    return build_document([_build_stream(b"BT ET")], encryption)


def build_bomb(megabytes: int) -> bytes:
    """A few kilobytes whose page unpacks to so many megabytes of drawing commands."""
    packer = zlib.compressobj(9)
    chunk = b"0 0 m 9 9 l S\n" * 71_429
    compressed_bytes = b"".join([*(packer.compress(chunk) for _ in range(megabytes)), packer.flush()])
    return build_document([_build_stream(zlib.compress(compressed_bytes), b"/Filter [/FlateDecode /FlateDecode]")])


def build_endless_page(characters: int) -> bytes:
    """A page of so many characters."""
    text = b"BT /F1 9 Tf 9 9 Td\n" + b"(abcdefghi ) Tj 0 -9 Td\n" * (characters // 10) + b"ET"
    return build_document([_build_stream(zlib.compress(text), b"/Filter /FlateDecode")])


def build_drawn_pdf(*pages: str) -> bytes:
    """Pages of drawing commands as they are; fonts are F1 to F3."""
    return build_document([_build_stream(page.encode("cp1252")) for page in pages])


def read_pdf_text(data: bytes) -> str:
    """Return the text of a PDF with single spaces."""
    document = pypdfium2.PdfDocument(data)
    try:
        return " ".join(" ".join(page.get_textpage().get_text_range() for page in document).split())
    finally:
        document.close()
