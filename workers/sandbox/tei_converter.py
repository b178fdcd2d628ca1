"""Convert an untrusted paper's TEI to other formats with grobid-client-python, in the sandboxed process.

The converters get only TEI that `read_tei` accepts, without entities, comments and processing instructions."""

import json
from collections.abc import Callable
from io import BytesIO
from itertools import count

from lxml import etree

from workers.full_texts.grobid_tei import read_tei
from workers.sandbox.refusal import Refused


def convert(tei: bytes, form: str, source: str) -> str:
    """Convert TEI to the format `form`. `source` names the TEI in errors. Raises Unreadable if that fails, and Refused
    if the TEI is not UTF-8."""
    root = read_tei(tei, source)
    try:
        return _CONVERTERS[form](tei, root)
    except UnicodeDecodeError:
        raise Refused("markup", f"{source} is not UTF-8.") from None


def _decode_tei(tei: bytes, _: etree._Element) -> str:
    return tei.decode()


def _convert_to_json(_: bytes, root: etree._Element) -> str:
    """Convert to JSON. Consecutive numbers replace the converter's random ids, so that the output is deterministic."""
    from grobid_client.format import TEI2LossyJSON as lossy_json

    next_numbers = count(1)
    lossy_json.get_random_id = lambda prefix="": f"{prefix}{next(next_numbers)}"
    document = lossy_json.TEI2LossyJSONConverter().convert_tei_file(BytesIO(_serialise(root)))
    return f"{json.dumps(document, ensure_ascii=False, indent=1)}\n"


def _convert_to_markdown(_: bytes, root: etree._Element) -> str:
    """Convert to Markdown. Text in the paper that looks like HTML, a link or an image is escaped."""
    from grobid_client.format.TEI2Markdown import TEI2MarkdownConverter

    for element in root.iter():
        element.text, element.tail = _escape_markdown(element.text), _escape_markdown(element.tail)
    return str(TEI2MarkdownConverter().convert_tei_file(BytesIO(_serialise(root))))


def _escape_markdown(text: str | None) -> str | None:
    return text and text.replace("<", "&lt;").replace("](", "]\\(").replace("]:", "]\\:")


def _serialise(root: etree._Element) -> bytes:
    return etree.tostring(root, encoding="utf-8")


_CONVERTERS: dict[str, Callable[[bytes, etree._Element], str]] = {
    "tei": _decode_tei,
    "json": _convert_to_json,
    "markdown": _convert_to_markdown,
}
