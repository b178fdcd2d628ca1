"""Read all text in an HTML file, such as an export of Google Docs or Notion. By contrast, `page_extraction` finds the
article in a web page.

Runs in the sandboxed process."""

import re

import lxml.html
from lxml import etree

from workers.sandbox.hidden_html_text import remove_hidden_text
from workers.sandbox.mathml_text import mathml_text
from workers.sandbox.office_text import BODY, MOST_HIDDEN, OfficeParagraphs
from workers.sandbox.page_tree import parse_page
from workers.sandbox.refusal import Refused

_HEADING = re.compile(r"h([1-6])")
_BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "div", "dl", "dt", "fieldset",
        "figcaption", "figure", "footer", "form", "header", "html", "li", "main", "ol", "p", "pre", "section",
        "summary", "ul", "hr", "caption",
    }
)  # fmt: skip
_UNREAD = frozenset({"script", "style", "head", "title", "meta", "link", "svg", "button", "select", "option", "input"})
_BOLD = frozenset({"b", "strong"})
_LIST_MARK, _LIST_ENTRY = "csl-left-margin", "csl-right-inline"
"""Classes that citation processors give to the number of an entry and to the entry next to it."""
_AUTHORS = "//meta[@name='author' or @name='citation_author' or @name='dcterms.creator' or @name='DC.creator']/@content"
_DEEPEST = 200


def read_html(data: bytes, most_characters: int) -> OfficeParagraphs:
    """Read an HTML file. Raises Refused."""
    tree = parse_page(data)
    title = " ".join((tree.findtext(".//title") or "").split())
    hidden = remove_hidden_text(tree)
    reader = _HtmlReader(most_characters)
    body = tree.find("body")
    reader.read(tree if body is None else body)
    text = reader.text
    text.add_properties("; ".join(tree.xpath(_AUTHORS)), ())
    for item in hidden[:MOST_HIDDEN]:
        text.hidden.append((item.why, item.text))
    if not text.paragraphs:
        raise Refused("no_text")
    if not any(level == 1 for level, _ in text.paragraphs):
        text.title = title
    return text


class _HtmlReader:
    def __init__(self, most_characters: int) -> None:
        self.text = OfficeParagraphs(most_characters)
        self._mark = ""

    def read(self, root: etree._Element) -> None:
        self._inside(root, bold=False, depth=0)
        self._end()

    def _inside(self, element: etree._Element, *, bold: bool, depth: int) -> None:
        self._add(element.text, element, bold)
        for child in element.iterchildren():
            if not isinstance(child, lxml.html.HtmlElement):  # a comment
                pass
            elif depth < _DEEPEST:
                self._element(child, bold, depth + 1)
            else:
                self._add(" ".join(map(str, child.itertext())), child, bold)
            self._add(child.tail, element, bold)

    def _add(self, text: str | None, element: etree._Element, bold: bool) -> None:
        if not text:
            return
        if element.tag != "pre":
            self.text.add(re.sub(r"\s+", " ", text), bold=bold)
            return
        for number, line in enumerate(text.split("\n")):
            if number:
                self.text.end_line()
            self.text.add(line)

    def _element(self, element: etree._Element, bold: bool, depth: int) -> None:
        name = str(element.tag).lower()
        if name == "nav":
            self.text.left_out.append(("the page's navigation", "it is not part of the text"))
        elif name == "math":
            self.text.add(f" {mathml_text(element) or element.get('alttext') or ''} ")
        elif name in _UNREAD:
            pass
        elif name == "br":
            self.text.end_line()
        elif name == "table" and not self.text.in_row:
            self._table(element, depth)
        elif self.text.in_row:
            self._inside(element, bold=bold or name in _BOLD, depth=depth)
            self.text.add(" " if name in _BLOCKS else "")
        elif heading := _HEADING.fullmatch(name):
            self._end()
            self._inside(element, bold=bold, depth=depth)
            self._end(int(heading[1]))
        elif _LIST_MARK in (element.get("class") or ""):
            self._end()
            self._inside(element, bold=bold, depth=depth)
            self.text.add(" ")
        elif _LIST_ENTRY in (element.get("class") or ""):
            self._inside(element, bold=bold, depth=depth)
            self._end()
        elif name in _BLOCKS:
            self._end()
            self._mark = "- " if name == "li" else self._mark if name in ("p", "div") else ""
            self._inside(element, bold=bold, depth=depth)
            self._end()
        else:
            self._inside(element, bold=bold or name in _BOLD, depth=depth)

    def _table(self, table: etree._Element, depth: int) -> None:
        """Add a table, one line per row."""
        self._end()
        self.text.tables += 1
        for row in table.iter("tr", "caption"):
            for cell in self.text.row(list(row.iterchildren("td", "th")) or [row]):
                self._inside(cell, bold=False, depth=depth)
            self._end()

    def _end(self, level: int = BODY) -> None:
        before = len(self.text.paragraphs)
        self.text.end_paragraph(level, "" if level else self._mark)
        if len(self.text.paragraphs) > before:
            self._mark = ""
