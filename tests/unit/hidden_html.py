"""Removal of hidden text from HTML."""

import lxml.html
from lxml import etree

from workers.sandbox.hidden_html_text import HiddenHtmlText, remove_hidden_text


def split_visible_and_hidden(body: str, head: str = "") -> tuple[str, list[HiddenHtmlText]]:
    """Return the text that stays and the texts that were removed."""
    tree = lxml.html.document_fromstring(f"<html><head>{head}</head><body>{body}</body></html>")
    hidden_texts = remove_hidden_text(tree)
    text = etree.tostring(tree[-1], method="text", encoding="unicode")
    return " ".join(text.split()), hidden_texts
