"""Render pages of an untrusted PDF as PNG images, for people to look at. Runs in the sandboxed process."""

import base64
import struct
import zlib
from typing import Any

from workers.sandbox.pdf_parser import open_document

_WIDTH_PIXELS = 1_000
"""Width of an image in pixels."""
_MAX_PIXELS = 4_000_000
_RGB_COLOUR_TYPE = 2
"""PNG colour type for red, green and blue."""


def render_pages(data: bytes, first: int, max_pages: int, **_: object) -> tuple[int, list[str]]:
    """Return the document's number of pages, and at most `max_pages` of them, from page `first` on, as Base64 PNGs.
    Scripts in the document are not run. Raises Refused if it cannot be read."""
    document = open_document(data)
    numbers = range(first - 1, min(len(document), first - 1 + max_pages))
    return len(document), [base64.b64encode(_encode_png(document[number])).decode() for number in numbers]


def _encode_png(page: Any) -> bytes:
    width, height = page.get_size()
    scale = min(_WIDTH_PIXELS / max(width, 1.0), (_MAX_PIXELS / max(width * height, 1.0)) ** 0.5)
    bitmap = page.render(scale=scale, rev_byteorder=True)
    rows, stride, channels = bytes(bitmap.buffer), bitmap.stride, bitmap.n_channels
    lines = (
        _convert_to_rgb(rows[start : start + bitmap.width * channels], channels)
        for start in range(0, len(rows), stride)
    )
    header = struct.pack(">IIBBBBB", bitmap.width, bitmap.height, 8, _RGB_COLOUR_TYPE, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + line for line in lines))
    return (
        b"\x89PNG\r\n\x1a\n"
        + _build_chunk(b"IHDR", header)
        + _build_chunk(b"IDAT", pixels)
        + _build_chunk(b"IEND", b"")
    )


def _convert_to_rgb(row: bytes, channels: int) -> bytes:
    """Return a row of pixels as red, green and blue, without a fourth channel."""
    if channels == 3:
        return row
    line = bytearray(len(row) // channels * 3)
    for colour in range(3):
        line[colour::3] = row[min(colour, channels - 1) :: channels]
    return bytes(line)


def _build_chunk(kind: bytes, content: bytes) -> bytes:
    """Return a chunk of a PNG."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
