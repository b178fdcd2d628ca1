"""Read all text in an HTML file, such as an export from Google Docs or Notion. `page_extraction`, in contrast, finds
the article in a web page.

Runs in the sandboxed process."""

import re
from collections.abc import Iterator
from typing import cast

import lxml.html
from lxml import etree

from assayer.ideas.titles import strip_site
from assayer.text.form_fields import UNTICKED
from assayer.text.raised_text import Script
from workers.sandbox.hidden_html_text import remove_hidden_text
from workers.sandbox.mathml_text import format_mathml
from workers.sandbox.office_text import BODY, MAX_HIDDEN_TEXTS, OfficeParagraphs
from workers.sandbox.page_styles import PageStyles
from workers.sandbox.page_tree import parse_page
from workers.sandbox.refusal import Refused

_HEADING = re.compile(r"h([1-6])")
_BLOCK_ELEMENTS = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "div", "dl", "dt", "fieldset",
        "figcaption", "figure", "footer", "form", "header", "html", "li", "main", "ol", "p", "pre", "section",
        "summary", "ul", "hr", "caption",
    }
)  # fmt: skip
_UNREAD_ELEMENTS = frozenset(
    {"script", "style", "head", "title", "meta", "link", "svg", "button", "select", "option", "input"}
)
_BOLD_ELEMENTS = frozenset({"b", "strong"})
_SCRIPTS: dict[str, Script] = {"sup": "^", "sub": "_", "super": "^"}
"""Scripts by the name of an element or by the value of `vertical-align`."""
_LIST_MARK_CLASS, _LIST_ENTRY_CLASS = "csl-left-margin", "csl-right-inline"
"""Classes that citation processors give to an entry's number and to the entry next to it."""
_TITLE_PATHS = (
    "//meta[@name='citation_title' or @name='DC.title' or @name='dc.title' or @name='dcterms.title']/@content",
    "//meta[@property='og:title']/@content",
    "//title/text()",
)
"""Places of a page's title, in order of preference."""
_AUTHOR_NAMES = frozenset(
    {"author", "citation_author", "creator", "dc.creator", "dcterms.creator", "article:author", "twitter:creator"}
)
"""Names of metadata fields with a page's authors, in lower case."""
_NOTE_NAME = re.compile(r"_?(?:ftn|ftnt|fn|footnote|note|edn)[-_:]?(?:text-?)?\d{1,3}")
_NOTE_REFERENCE_NAME = re.compile(r"_?(?:ftn|ftnt|fn|footnote|note|edn)[-_:]?ref[-_:]?\d{1,3}(?:[:-]\d{1,2})?")
"""Names of a footnote and of the place that refers to it: `ftnt1` and `ftnt_ref1`, `_ftn1` and `_ftnref1`, `fn:1`."""
_REPEATED_FORMULA_CLASS = "katex-html"
"""Class of a formula's rendered form, which repeats its MathML."""
_MAX_DEPTH = 200


def read_html(data: bytes, most_characters: int) -> OfficeParagraphs:
    """Read an HTML file. Raises Refused if it cannot be read."""
    tree = parse_page(data)
    title = next((" ".join(item.split()) for path in _TITLE_PATHS for item in tree.xpath(path) if item.strip()), "")
    styles = PageStyles(tree) if b"vertical-align" in data else None
    hidden = remove_hidden_text(tree)
    reader = _HtmlReader(most_characters, styles)
    body = tree.find("body")
    reader.read(tree if body is None else body)
    text = reader.text
    text.add_properties("; ".join(_find_authors(tree)), ())
    for item in hidden[:MAX_HIDDEN_TEXTS]:
        text.hidden.append((item.why, item.text))
    if not text.paragraphs:
        raise Refused("no_text")
    text.named = strip_site(title)
    if not text.title and not any(level == 1 for level, _ in text.paragraphs):
        text.title = text.named
    return text


def _find_authors(tree: etree._Element) -> Iterator[str]:
    """Yield each author in the page's metadata once."""
    fields = (((meta.get("name") or meta.get("property") or "").lower(), meta) for meta in tree.iter("meta"))
    values = (meta.get("content") for name, meta in fields if name in _AUTHOR_NAMES)
    yield from dict.fromkeys(value for value in values if value)


def _extract_notes(root: etree._Element) -> dict[str, etree._Element]:
    """Remove the footnotes from the page; return them, keyed by the name by which the text refers to them. A footnote
    begins or ends with a link back."""
    links = [(link, (link.get("href") or "").removeprefix("#")) for link in root.iter("a")]
    notes: dict[str, etree._Element] = {}
    for link, target in links:
        if not _NOTE_REFERENCE_NAME.fullmatch(target):
            continue
        holder = next(link.iterancestors("li", "p", "div", "aside"), None)
        named_elements = (link, *link.iterancestors("li", "p", "div", "aside", "section")) if holder is not None else ()
        name = next(
            (name for item in named_elements if _NOTE_NAME.fullmatch(name := item.get("id") or item.get("name") or "")),
            None,
        )
        if name is None or name in notes or holder is None or holder is root:
            continue
        notes[name] = holder
        cast(lxml.html.HtmlElement, link).drop_tree()
    for note in notes.values():
        cast(lxml.html.HtmlElement, note).drop_tree()
    return notes


def _format_formula(element: etree._Element, name: str) -> str | None:
    """Return a formula's text, empty if it repeats another; None for other elements."""
    if name == "math":
        return f" {format_mathml(element) or element.get('alttext') or ''} "
    if name == "script" and (element.get("type") or "").startswith("math/tex"):
        return f" {element.text or ''} "
    return "" if _REPEATED_FORMULA_CLASS in (element.get("class") or "") else None


def _format_box(element: etree._Element) -> str:
    """Return the box of an option in a form; empty for other elements and for the tasks of a list."""
    is_option = element.get("type", "").lower() in ("checkbox", "radio") and "disabled" not in element.attrib
    return "" if not is_option else "☒" if "checked" in element.attrib else UNTICKED


class _HtmlReader:
    def __init__(self, most_characters: int, styles: PageStyles | None) -> None:
        """Create a reader. `styles` are those of a page that sets `vertical-align`."""
        self.text = OfficeParagraphs(most_characters)
        self._styles = styles
        self._script: Script = ""
        """Script of the element that is being read."""
        self._mark = ""
        self._notes: dict[str, etree._Element] = {}

    def read(self, root: etree._Element) -> None:
        self._notes = _extract_notes(root)
        self._read_inside(root, bold=False, depth=0)
        self._end_paragraph()
        for note in self._notes.values():
            self.text.add_note(self._read_note(note, 0))

    def _read_inside(self, element: etree._Element, *, bold: bool, depth: int) -> None:
        self._add(element.text, element, bold)
        for child in element.iterchildren():
            if not isinstance(child, lxml.html.HtmlElement):  # a comment
                pass
            elif depth < _MAX_DEPTH:
                self._read_element(child, bold, depth + 1)
            else:
                self._add(" ".join(map(str, child.itertext())), child, bold)
            self._add(child.tail, element, bold)

    def _add(self, text: str | None, element: etree._Element, bold: bool) -> None:
        if not text:
            return
        if element.tag != "pre":
            self.text.add(re.sub(r"\s+", " ", text), bold=bold, script=self._script)
            return
        for number, line in enumerate(text.split("\n")):
            if number:
                self.text.end_line()
            self.text.add(line)

    def _read_element(self, element: etree._Element, bold: bool, depth: int) -> None:
        name = str(element.tag).lower()
        if (note := self._notes.get((element.get("href") or "").removeprefix("#"))) is not None:
            self._insert_note(note, depth)
        elif name == "nav":
            self.text.left_out.append(("the page's navigation", "it is not part of the text"))
        elif (formula := _format_formula(element, name)) is not None:
            self.text.add(formula)
        elif name in _UNREAD_ELEMENTS:
            self.text.add(_format_box(element) if name == "input" else "")
        elif name == "br":
            self.text.end_line()
        elif name == "table" and not self.text.in_row:
            self._read_table(element, depth)
        elif self.text.in_row:
            self._read_inline(element, name, bold, depth)
            self.text.add(" " if name in _BLOCK_ELEMENTS else "")
        elif heading := _HEADING.fullmatch(name):
            self._end_paragraph()
            self._read_inside(element, bold=bold, depth=depth)
            self._end_paragraph(int(heading[1]))
        elif _LIST_MARK_CLASS in (element.get("class") or ""):
            self._end_paragraph()
            self._read_inside(element, bold=bold, depth=depth)
            self.text.add(" ")
        elif _LIST_ENTRY_CLASS in (element.get("class") or ""):
            self._read_inside(element, bold=bold, depth=depth)
            self._end_paragraph()
        elif name in _BLOCK_ELEMENTS:
            self._end_paragraph()
            self._mark = "- " if name == "li" else self._mark if name in ("p", "div") else ""
            self._read_inside(element, bold=bold, depth=depth)
            self._end_paragraph(is_title=name == "p" and "title" in (element.get("class") or "").split())
        else:
            self._read_inline(element, name, bold, depth)

    def _read_inline(self, element: etree._Element, name: str, bold: bool, depth: int) -> None:
        outer_script, self._script = self._script, self._find_script(element, name) or self._script
        outer_link = self.text.set_link(element.get("href") or "") if name == "a" else None
        self._read_inside(element, bold=bold or name in _BOLD_ELEMENTS, depth=depth)
        self._script = outer_script
        if outer_link is not None:
            self.text.set_link(outer_link)

    def _find_script(self, element: etree._Element, name: str) -> Script:
        if name in _SCRIPTS or self._styles is None:
            return _SCRIPTS.get(name, "")
        return _SCRIPTS.get(self._styles.find_properties(element).get("vertical-align", ""), "")

    def _read_table(self, table: etree._Element, depth: int) -> None:
        """Add a table, with one line per row. The properties of a page exported from Notion are set apart."""
        self._end_paragraph()
        if "properties" in (table.get("class") or "").split():
            for row in table.iter("tr"):
                name, *values = [
                    " ".join("".join(map(str, cell.itertext())).split()) for cell in row.iterchildren()
                ] or [""]
                self.text.front_matter += [(name.casefold(), "; ".join(values))] if name and values else []
            return
        self.text.tables += 1
        for row in table.iter("tr", "caption"):
            for cell in self.text.add_row(list(row.iterchildren("td", "th")) or [row]):
                self._read_inside(cell, bold=False, depth=depth)
            self._end_paragraph()

    def _insert_note(self, note: etree._Element, depth: int) -> None:
        """Read a footnote where the text refers to it."""
        self._notes = {name: item for name, item in self._notes.items() if item is not note}
        if mark := self.text.add_note(self._read_note(note, depth)):
            self.text.add(f"[^{mark}]")

    def _read_note(self, note: etree._Element, depth: int) -> OfficeParagraphs:
        text, self.text = self.text, OfficeParagraphs(self.text.characters_left)
        self._read_inside(note, bold=False, depth=depth)
        self._end_paragraph()
        note_text, self.text = self.text, text
        return note_text

    def _end_paragraph(self, level: int = BODY, *, is_title: bool = False) -> None:
        paragraph_count = len(self.text.paragraphs)
        self.text.end_paragraph(level, "" if level else self._mark, is_title=is_title)
        if len(self.text.paragraphs) > paragraph_count:
            self._mark = ""
