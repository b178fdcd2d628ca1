"""Bodies of batches as clients send them."""

import csv
import io
import json
import zipfile
from collections.abc import Mapping, Sequence

WORDS = (
    "We plant young corals on ceramic tiles in three bays and measure their growth every second month, "
    "beside tiles that fish cannot reach, to learn what grazing does to them."
)
BOUNDARY = "a-boundary"


def make_idea_text(number: int) -> str:
    """Return the text of an idea that differs from that of every other number."""
    return f"{WORDS} This is plan number {number}."


def render_csv(header: Sequence[str], rows: Sequence[Sequence[str]], delimiter: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\r\n").writerows([header, *rows])
    return text.getvalue()


def render_jsonl(records: Sequence[object]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def render_form(files: Mapping[str, bytes]) -> bytes:
    parts = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n".encode()
        + data
        + b"\r\n"
        for name, data in files.items()
    )
    return b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()


def make_zip(files: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return file.getvalue()
