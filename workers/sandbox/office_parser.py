"""Parses one untrusted office document: `python -m workers.sandbox.office_parser MEMORY CPU CHARACTERS UNPACKED`.

The document on standard input, one JSON object on standard output: `{"kind": "text", "title", "paragraphs":
[[level, text]], "hidden": [[why, text]], "parts_unread"}`, `{"kind": "table", "sheet", "unread_sheets", "hidden_rows",
"rows": [{"number", "cells", "hidden"}]}`, or `{"kind": "refusal", "error"}`. The libraries that parse are imported
after the limits are set.
"""

import json
import sys

from workers.sandbox.limits import confine


def _read(data: bytes, characters: int, unpacked_bytes: int) -> dict[str, object]:
    from workers.sandbox.office_package import OfficePackage, UnreadableOffice
    from workers.sandbox.office_text import TooMuchText
    from workers.sandbox.open_document_text import is_open_document, read_open_document
    from workers.sandbox.spreadsheet_rows import is_spreadsheet
    from workers.sandbox.word_text import is_word, read_word

    try:
        package = OfficePackage(data, unpacked_bytes)
        if is_spreadsheet(package):
            return _table(data, characters)
        if is_word(package):
            text = read_word(package, characters)
        elif is_open_document(package):
            text = read_open_document(package, characters)
        else:
            return _refusal("other_format")
    except UnreadableOffice as refused:
        return _refusal(str(refused))
    except TooMuchText:
        return _refusal("too_much_text")
    return {
        "kind": "text", "title": text.title, "paragraphs": text.paragraphs, "hidden": text.hidden,
        "parts_unread": text.parts_unread,
    }  # fmt: skip


def _table(data: bytes, characters: int) -> dict[str, object]:
    from workers.sandbox.office_text import TooMuchText
    from workers.sandbox.spreadsheet_rows import read_spreadsheet

    try:
        table = read_spreadsheet(data, characters)
        return {"kind": "table", **table._asdict(), "rows": [row._asdict() for row in table.rows]}
    except (TooMuchText, MemoryError, ModuleNotFoundError):
        raise
    except Exception:  # noqa: BLE001 - openpyxl raises whatever a broken workbook makes it stumble over
        return _refusal("damaged")


def _refusal(error: str) -> dict[str, object]:
    return {"kind": "refusal", "error": error}


def main() -> None:
    memory_bytes, cpu_seconds, characters, unpacked_bytes = map(int, sys.argv[1:])
    confine(memory_bytes, cpu_seconds)
    try:
        answer = _read(sys.stdin.buffer.read(), characters, unpacked_bytes)
    except MemoryError:
        answer = _refusal("memory")
    except RecursionError:
        answer = _refusal("nested")
    except ModuleNotFoundError:
        answer = _refusal("not_installed")
    sys.stdout.buffer.write(json.dumps(answer).encode())
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
