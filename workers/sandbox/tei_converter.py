"""Converts one TEI of an untrusted paper: `python -m workers.sandbox.tei_converter MEMORY CPU FORMAT`.

TEI on standard input, one JSON object on standard output: `{"text"}` or `{"error", "hint", "cause"}`. The converters
are those of grobid-client-python; they are shown only what our own reader takes for a TEI, without entities, comments
and processing instructions. What converts is imported after the limits are set.
"""

import json
import sys
from collections.abc import Callable
from io import BytesIO
from itertools import count
from typing import TYPE_CHECKING

from workers.sandbox.limits import confine

if TYPE_CHECKING:
    from lxml import etree

__all__ = ["convert"]


def convert(tei: bytes, form: str) -> str:
    """Raises Unreadable."""
    from workers.full_texts.grobid_tei import read_tei

    root = read_tei(tei, "The TEI")
    return _FORMS[form](tei, root)


def _as_it_is(tei: bytes, _: "etree._Element") -> str:
    return tei.decode()


def _json(_: bytes, root: "etree._Element") -> str:
    """The same for the same TEI: ids that the converter would draw by lot are numbers."""
    from grobid_client.format import TEI2LossyJSON as lossy_json

    numbers = count(1)
    lossy_json.get_random_id = lambda prefix="": f"{prefix}{next(numbers)}"
    found = lossy_json.TEI2LossyJSONConverter().convert_tei_file(BytesIO(_serialised(root)))
    return f"{json.dumps(found, ensure_ascii=False, indent=1)}\n"


def _markdown(_: bytes, root: "etree._Element") -> str:
    """What the paper says is text, also where it looks like HTML, a link or an image."""
    from grobid_client.format.TEI2Markdown import TEI2MarkdownConverter

    for element in root.iter():
        element.text, element.tail = _plain(element.text), _plain(element.tail)
    return str(TEI2MarkdownConverter().convert_tei_file(BytesIO(_serialised(root))))


def _plain(text: str | None) -> str | None:
    return text and text.replace("<", "&lt;").replace("](", "]\\(").replace("]:", "]\\:")


def _serialised(root: "etree._Element") -> bytes:
    from lxml import etree

    return etree.tostring(root, encoding="utf-8")


_FORMS: dict[str, Callable[[bytes, "etree._Element"], str]] = {
    "tei": _as_it_is,
    "json": _json,
    "markdown": _markdown,
}


def _answer(form: str) -> str:
    from assayer.errors import Unreadable

    try:
        return json.dumps({"text": convert(sys.stdin.buffer.read(), form)})
    except Unreadable as error:
        return json.dumps({"error": error.message, "hint": error.hint, "cause": error.cause})
    except UnicodeDecodeError:
        return json.dumps({"error": "The TEI is not UTF-8.", "hint": "", "cause": "markup"})


def main() -> None:
    confine(*map(int, sys.argv[1:3]))
    try:
        answer = _answer(sys.argv[3])
    except MemoryError:
        answer = json.dumps({"error": "The TEI needs more memory than it may.", "hint": "", "cause": "memory"})
    sys.stdout.buffer.write(answer.encode())
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
