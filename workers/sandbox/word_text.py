"""Reads the text of a Word document (`.docx`): what it shows in one list, what it hides in another.

Runs in the sandboxed process. Headers, footers, field codes, alternative texts and tables of contents are not read:
they repeat or describe what is there.
"""

import re

from lxml import etree

from workers.sandbox.office_package import OfficePackage, UnreadableOffice, attribute, children, named
from workers.sandbox.office_text import BODY, Look, OfficeHiding, OfficeParagraphs
from workers.sandbox.word_styles import TITLE_LEVEL, WordStyles, look_of, shading_of

__all__ = ["is_word", "read_word"]

_RELATIONS = "_rels/.rels"
_DELETED = ("del", "moveFrom")
_NOT_TEXT = ("instrText", "delInstrText", "Fallback", "pPr", "rPr", "sdtPr", "docPr", "sectPr")
_LEFTMOST, _RIGHTMOST = -6_000_000, 12_000_000
_WHOLE = re.compile(r"-?\d{1,12}")
_SEPARATORS = ("separator", "continuationSeparator", "continuationNotice")


def is_word(package: OfficePackage) -> bool:
    return _main_part(package) is not None


def _main_part(package: OfficePackage) -> str | None:
    """By the package's own word for it, as Word finds it."""
    for relation in children(package.part(_RELATIONS), "Relationship"):
        target = (attribute(relation, "Target") or "").lstrip("/")
        if (attribute(relation, "Type") or "").endswith("/officeDocument") and target.startswith("word/"):
            return target if target in package else None
    return None


def read_word(package: OfficePackage, most_characters: int) -> OfficeParagraphs:
    """Raises UnreadableOffice and TooMuchText."""
    name = _main_part(package)
    root = package.part(name) if name else None
    if name is None or root is None:
        raise UnreadableOffice("damaged")
    return _WordReader(package, name.rpartition("/")[0], most_characters).read(root)


class _WordReader:
    def __init__(self, package: OfficePackage, folder: str, most_characters: int) -> None:
        self._package = package
        self._folder = folder
        self._styles = WordStyles(package.part(f"{folder}/styles.xml"))
        self._text = OfficeParagraphs(most_characters)
        self._boxes: list[etree._Element] = []
        """Text boxes anchored in the paragraph under way: they follow it."""

    def read(self, root: etree._Element) -> OfficeParagraphs:
        page = next(children(root, "background"), None)
        colour = attribute(page, "color") if self._shows_background() else None
        self._blocks(root, Look(behind=None if colour == "auto" else colour))
        for name in ("footnotes", "endnotes"):
            for note in children(self._package.part(f"{self._folder}/{name}.xml"), name[:-1]):
                if attribute(note, "type") not in _SEPARATORS:
                    self._blocks(note, Look())
        for comment in children(self._package.part(f"{self._folder}/comments.xml"), "comment"):
            self._text.hide("in a comment", _words(comment))
        return self._text

    def _shows_background(self) -> bool:
        settings = self._package.part(f"{self._folder}/settings.xml")
        return next(children(settings, "displayBackgroundShape"), None) is not None

    def _blocks(self, parent: etree._Element, below: Look, why: OfficeHiding | None = None) -> None:
        """Paragraphs and tables, however they are wrapped; all of them hidden where `why` says so."""
        for child in parent.iterchildren("*"):
            match named(child):
                case "p":
                    self._paragraph(child, below, why)
                case "tbl":
                    self._table(child, below, why)
                case "altChunk":
                    self._text.parts_unread += 1
                case name if name in _DELETED:
                    self._blocks(child, below, why or "deleted, with the change recorded")
                case name if name not in _NOT_TEXT:
                    self._blocks(child, below, why)

    def _paragraph(self, paragraph: etree._Element, below: Look, why: OfficeHiding | None) -> None:
        properties = next(children(paragraph, "pPr"), None)
        style = self._styles.paragraph(properties)
        if style.is_contents:
            return
        self._runs(paragraph, style.look.over(below), why)
        is_item = next(children(properties, "numPr"), None) is not None and style.level == BODY
        self._text.end_paragraph(style.level, "- " if is_item else "", is_title=style.level == TITLE_LEVEL)
        self._boxes_of_paragraph(below, why)

    def _boxes_of_paragraph(self, below: Look, why: OfficeHiding | None) -> None:
        boxes, self._boxes = self._boxes, []
        for box in boxes:
            self._blocks(box, below, why)

    def _table(self, table: etree._Element, below: Look, why: OfficeHiding | None) -> None:
        """A line a row."""
        properties = next(children(table, "tblPr"), None)
        first, others = self._styles.cells(attribute(next(children(properties, "tblStyle"), None), "val"))
        for number, row in enumerate(children(table, "tr")):
            of_row = next(children(row, "trPr"), None)
            hiding = why
            if next(children(of_row, "hidden"), None) is not None:
                hiding = why or "marked as hidden"
            elif next(children(of_row, "del"), None) is not None:
                hiding = why or "deleted, with the change recorded"
            behind = Look(behind=others if number else first).over(below)
            for place, cell in enumerate(children(row, "tc")):
                own = Look(behind=shading_of(next(children(cell, "tcPr"), None))).over(behind)
                if place:
                    self._text.add(" | ")
                self._cell(cell, own, hiding)
            self._text.end_paragraph()
            self._boxes_of_paragraph(below, why)

    def _cell(self, parent: etree._Element, below: Look, why: OfficeHiding | None) -> None:
        """On one line, with the tables that it holds."""
        for child in parent.iterchildren("*"):
            if named(child) == "p":
                style = self._styles.paragraph(next(children(child, "pPr"), None))
                self._runs(child, style.look.over(below), why)
                self._text.add(" ")
            elif named(child) in _DELETED:
                self._cell(child, below, why or "deleted, with the change recorded")
            elif named(child) not in _NOT_TEXT:
                self._cell(child, below, why)

    def _runs(self, parent: etree._Element, look: Look, why: OfficeHiding | None) -> None:
        for child in parent.iterchildren("*"):
            match named(child):
                case "r":
                    self._run(child, look, why)
                case "p" | "tbl" | "txbxContent":
                    pass
                case name if name in _DELETED:
                    self._runs(child, look, why or "deleted, with the change recorded")
                case name if name not in _NOT_TEXT:
                    self._runs(child, look, why)

    def _run(self, run: etree._Element, look: Look, why: OfficeHiding | None) -> None:
        properties = next(children(run, "rPr"), None)
        style = self._styles.characters(attribute(next(children(properties, "rStyle"), None), "val"))
        hiding = why or look_of(properties).over(style).over(look).why_unseen()
        for child in run.iterchildren("*"):
            match named(child):
                case "t":
                    self._text.add(child.text or "", hiding)
                case "delText":
                    self._text.add(child.text or "", "deleted, with the change recorded")
                case "tab" | "br" | "cr":
                    self._text.add(" ", hiding)
                case "noBreakHyphen":
                    self._text.add("-", hiding)
                case "drawing" | "pict" | "AlternateContent" | "object":
                    self._drawing(child)

    def _drawing(self, drawing: etree._Element) -> None:
        """Of a shape that is written down twice, for two generations of Word, the first is read."""
        for box in drawing.iter("{*}txbxContent"):
            ancestors = list(box.iterancestors("*"))
            if any(named(one) == "Fallback" for one in ancestors):
                continue
            within = ancestors[: ancestors.index(drawing) + 1]
            if any(_is_hidden_shape(one) for one in within):
                self._text.hide("marked as hidden", _words(box))
            elif any(_is_off_page(one) for one in within):
                self._text.hide("off the page", _words(box))
            else:
                self._boxes.append(box)


def _is_hidden_shape(element: etree._Element) -> bool:
    style = (attribute(element, "style") or "").replace(" ", "").lower()
    if "visibility:hidden" in style or "display:none" in style:
        return True
    return any(attribute(one, "hidden") in ("1", "true") for one in children(element, "docPr"))


def _is_off_page(element: etree._Element) -> bool:
    """By its distance, in EMU (360,000 a centimetre), from whatever it is measured from."""
    offsets = (child for name in ("positionH", "positionV") for child in children(element, name))
    texts = ((one.text or "").strip() for offset in offsets for one in children(offset, "posOffset"))
    return any(not _LEFTMOST < int(text) < _RIGHTMOST for text in texts if _WHOLE.fullmatch(text))


def _words(element: etree._Element) -> str:
    return " ".join("".join(one.text or "" for one in paragraph.iter("{*}t")) for paragraph in element.iter("{*}p"))
