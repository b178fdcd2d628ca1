"""Files of a multipart/form-data body, one after the other."""

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from assayer.errors import InputError
from orchestrator.batches.rows import shown

__all__ = ["Part", "parts"]

_PIECE = 1 << 16


class Part(NamedTuple):
    name: str
    """The file's, without folders; empty for a form field that is no file."""
    data: bytes | None
    """None when it is larger than allowed."""


class _Collector:
    """What the parser calls; finished parts lie in `done`."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.done: list[Part] = []
        self.ended = False
        self.begin()

    def begin(self) -> None:
        self._field, self._value = b"", b""
        self._disposition = b""
        self._data: bytearray | None = bytearray()

    def header_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def header_end(self) -> None:
        if self._field.lower() == b"content-disposition":
            self._disposition = self._value
        self._field, self._value = b"", b""

    def body(self, data: bytes, start: int, end: int) -> None:
        if self._data is None:
            return
        self._data += memoryview(data)[start:end]
        if len(self._data) > self._most:
            self._data = None

    def part_end(self) -> None:
        _, options = parse_options_header(self._disposition)
        name = options.get(b"filename", b"").decode("utf-8", "replace")
        self.done.append(Part(shown(name), None if self._data is None else bytes(self._data)))
        self._data = None

    def end(self) -> None:
        self.ended = True


def parts(file: BinaryIO, content_type: str, most: int) -> Iterator[Part]:
    """In their order; of each at most `most` bytes are kept. Raises InputError where the body is no such form."""
    _, options = parse_options_header(content_type)
    boundary = options.get(b"boundary")
    if not boundary:
        raise InputError("The Content-Type names no boundary.", "Let your HTTP library write that header.")
    collector = _Collector(most)
    try:
        parser = MultipartParser(
            boundary,
            {
                "on_part_begin": collector.begin,
                "on_header_field": collector.header_field,
                "on_header_value": collector.header_value,
                "on_header_end": collector.header_end,
                "on_part_data": collector.body,
                "on_part_end": collector.part_end,
                "on_end": collector.end,
            },
        )
        while piece := file.read(_PIECE):
            parser.write(piece)
            yield from collector.done
            collector.done.clear()
    except FormParserError as error:
        raise InputError(f"The body is not multipart/form-data: {error}.", "Send it with an HTTP library.") from None
    if not collector.ended:
        raise InputError("The body ends within a file.", "Was the upload cut off? Send it again.")
