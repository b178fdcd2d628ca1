"""Extracts the article of a web page: text, title, site and date, without menus and footers."""

import datetime as dt
import re
from typing import NamedTuple

import lxml.html
from lxml import etree
from trafilatura import bare_extraction

from workers.sandbox.hidden_html_text import HiddenHtmlText, remove_hidden_text

__all__ = ["ExtractedPage", "PageWithoutText", "extract_article"]

_DECLARED = 2_048
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DATES = {"original_date": True, "extensive_search": False, "outputformat": "%Y-%m-%d", "min_date": "1990-01-01"}
"""Only what the page says in its own metadata and time marks: no guessing from any number in its text."""


class PageWithoutText(Exception):
    """There is nothing to read in it."""


class ExtractedPage(NamedTuple):
    title: str
    site: str
    published: str
    """YYYY-MM-DD; empty when the page does not say."""
    text: str
    hidden: list[HiddenHtmlText]


def extract_article(page: bytes, charset: str, url: str, today: dt.date) -> ExtractedPage:
    """`charset` as the server names it, or empty. A date after `today` is none. Raises PageWithoutText."""
    tree = _parse(page, charset)
    hidden = remove_hidden_text(tree)
    found = bare_extraction(
        tree,
        url=url,
        with_metadata=True,
        include_comments=False,
        date_extraction_params={**_DATES, "max_date": today.isoformat()},
    )
    if found is None or isinstance(found, dict) or not (found.text or "").strip():
        raise PageWithoutText
    return ExtractedPage(found.title or "", found.sitename or "", found.date or "", found.text or "", hidden)


def _parse(page: bytes, charset: str) -> lxml.html.HtmlElement:
    parser = _parser(charset or _undeclared_charset(page))
    try:
        tree = lxml.html.document_fromstring(page, parser=parser)
    except (etree.ParserError, ValueError):
        raise PageWithoutText from None
    for element in tree.iter():
        _clean(element)
    return tree


def _clean(element: etree._Element) -> None:
    """The parser lets characters pass that lxml refuses when they are put back."""
    if element.text and _NO_XML.search(element.text):
        element.text = _NO_XML.sub("", element.text)
    if element.tail and _NO_XML.search(element.tail):
        element.tail = _NO_XML.sub("", element.tail)


def _parser(encoding: str | None) -> lxml.html.HTMLParser:
    try:
        return lxml.html.HTMLParser(encoding=encoding, no_network=True)
    except LookupError:
        return lxml.html.HTMLParser(no_network=True)


def _undeclared_charset(page: bytes) -> str | None:
    """None where the page itself names its encoding; libxml2 reads that."""
    if b"charset" in page[:_DECLARED].lower() or page.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None
    try:
        page.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
