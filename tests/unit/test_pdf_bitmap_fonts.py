"""Letters of TeX's bitmap fonts, which a PDF spells with other characters."""

from tests.contract.pdf_files import assemble
from workers.sandbox.pdf_parser import read_pdf

_TO_UNICODE = (
    b"/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <FF> endcodespacerange "
    b"3 beginbfchar <63> <000D> <5D> <2104> <1C> <001C> endbfchar endcmap end"
)


def make_stream(data: bytes) -> bytes:
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(data), data)


def make_pdf_with_bitmap_font(*lines: str) -> bytes:
    """Return a PDF whose font has no name, and whose letter c, bracket and ligature have other meanings."""
    codes = sorted({code for line in lines for code in line.encode("latin-1")})
    differences = b" ".join(b"%d /g%d" % (code, code) for code in codes)
    glyphs = b" ".join(b"/g%d 5 0 R" % code for code in codes)
    glyph_streams = b"".join(
        b"BT /F1 10 Tf 60 %d Td <%s> Tj ET\n" % (700 - 14 * number, line.encode("latin-1").hex().encode())
        for number, line in enumerate(lines)
    )
    return assemble([
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
        b"/Resources << /Font << /F1 4 0 R >> >> /Contents 7 0 R >>",
        b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 700 700] /FontMatrix [0.001 0 0 0.001 0 0] /CharProcs << %s >> "
        b"/Encoding << /Type /Encoding /Differences [%s] >> /FirstChar 0 /LastChar 255 /Widths [%s] /ToUnicode 6 0 R >>"
        % (glyphs, differences, b"600 " * 256),
        make_stream(b"600 0 0 0 500 500 d1 0 0 500 500 re f"),
        make_stream(_TO_UNICODE),
        make_stream(glyph_streams),
    ])  # fmt: skip


def test_letters_of_bitmap_font_are_read_on_their_line() -> None:
    parsed = read_pdf(make_pdf_with_bitmap_font("[1] A. Moor, Circles on mail", "of \x1cre and ice"), 10, 10_000, 30)
    assert [line[-1] for line in parsed["lines"]] == ["[1] A. Moor, Circles on mail", "of fire and ice"]
