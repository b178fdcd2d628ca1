"""Decode and parse an HTML page in the sandboxed process."""

import re

import lxml.html
from lxml import etree

from assayer.errors import InputError
from assayer.text.decoding import decode_text
from workers.sandbox.refusal import Refused

_DECLARED_CHARSET = re.compile(rb"charset\s*=\s*[\"']?\s*([\w-]{2,40})", re.IGNORECASE)
_XML_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_INVALID_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def parse_page(page: bytes, charset: str = "") -> lxml.html.HtmlElement:
    """Return a page's element tree, without characters that are not allowed in XML. `charset` is the one declared by
    the server, or empty to use the page's own declaration. Raises Refused if the page cannot be decoded or parsed."""
    declared = _DECLARED_CHARSET.search(page[:4096])
    try:
        text = decode_text(page, "", charset or (declared[1].decode() if declared else ""))
    except InputError:
        raise Refused("encoding") from None
    text = _INVALID_CHARACTER.sub("", _XML_DECLARATION.sub("", text))
    try:
        tree = lxml.html.document_fromstring(text, parser=lxml.html.HTMLParser(no_network=True))
    except (etree.ParserError, ValueError):
        raise Refused("no_text") from None
    for element in tree.iter():
        element.text, element.tail = _remove_invalid_characters(element.text), _remove_invalid_characters(element.tail)
    return tree


def _remove_invalid_characters(text: str | None) -> str | None:
    """Return the text without characters that are not allowed in XML. Character references can produce such
    characters."""
    return _INVALID_CHARACTER.sub("", text) if text and _INVALID_CHARACTER.search(text) else text
