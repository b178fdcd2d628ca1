"""Read a Word document (`.docx`) into separate lists of visible and hidden text.

Runs in the sandboxed process. Field codes, alternative texts and tables of contents are not read, because they repeat
or describe other content. Headers and footers are kept separate from the text."""

import re
from collections.abc import Iterator

from lxml import etree

from assayer.text.form_fields import UNTICKED
from workers.sandbox.formula_text import formula_text
from workers.sandbox.office_package import OfficePackage, attribute, children, get_local_name
from workers.sandbox.office_text import BODY, Look, OfficeHiding, OfficeParagraphs, is_title_style
from workers.sandbox.refusal import Refused
from workers.sandbox.word_links import WordLinks
from workers.sandbox.word_styles import TITLE_LEVEL, WordStyles, look_of, shading_of
from workers.sandbox.word_symbols import symbol_of

_RELATIONS = "_rels/.rels"
_DELETED = ("del", "moveFrom")
_NOT_TEXT = ("instrText", "delInstrText", "Fallback", "pPr", "rPr", "sdtPr", "docPr", "sectPr")
_HEAD_PART = re.compile(r"(?:header|footer)\d*\.xml")
_LEFTMOST, _RIGHTMOST = -6_000_000, 12_000_000
_WHOLE = re.compile(r"-?\d{1,12}")
_LINE_BREAKS = (None, "textWrapping")
_SEPARATORS = ("separator", "continuationSeparator", "continuationNotice")


def is_word(package: OfficePackage) -> bool:
    return _find_main_part(package) is not None


def _find_main_part(package: OfficePackage) -> str | None:
    """Return the main part that the package declares, as Word does; None if there is none."""
    for relation in children(package.part(_RELATIONS), "Relationship"):
        target = (attribute(relation, "Target") or "").lstrip("/")
        if (attribute(relation, "Type") or "").endswith("/officeDocument") and target.startswith("word/"):
            return target if target in package else None
    return None


def read_word(package: OfficePackage, most_characters: int) -> OfficeParagraphs:
    """Read a Word document. Raises Refused if it cannot be read."""
    name = _find_main_part(package)
    root = package.part(name) if name else None
    if name is None or root is None:
        raise Refused("damaged")
    return _WordReader(package, name, most_characters).read(root)


class _WordReader:
    def __init__(self, package: OfficePackage, name: str, most_characters: int) -> None:
        """Create a reader; `name` is the name of the package's main part."""
        self._package = package
        folder = self._folder = name.rpartition("/")[0]
        self._styles = WordStyles(package.part(f"{folder}/styles.xml"))
        self._text = OfficeParagraphs(most_characters)
        self._in_title = False
        """Whether a content control for the document's title is being read."""
        self._in_list = False
        """Whether the preceding paragraph was an entry in a reference list."""
        self._boxes: list[etree._Element] = []
        """Text boxes anchored in the current paragraph, which are read after it."""
        self._links = WordLinks(package, name)
        self._notes = {
            (name, attribute(note, "id")): note
            for name in ("footnote", "endnote")
            for note in children(package.part(f"{folder}/{name}s.xml"), name)
            if attribute(note, "type") not in _SEPARATORS
        }
        """Notes to which the text read so far does not refer."""

    def read(self, root: etree._Element) -> OfficeParagraphs:
        page = next(children(root, "background"), None)
        colour = attribute(page, "color") if self._shows_background() else None
        self._blocks(root, Look(behind=None if colour == "auto" else colour))
        for note in list(self._notes):
            self._note(note)
        self._text.named = _property(self._package.part("docProps/core.xml"), "title")
        self._text.add_properties(self._author(), self._heads())
        for comment in children(self._package.part(f"{self._folder}/comments.xml"), "comment"):
            self._text.hide("in a comment", _join_words(comment))
        return self._text

    def _author(self) -> str:
        return _property(self._package.part("docProps/core.xml"), "creator")

    def _heads(self) -> Iterator[str]:
        for name in self._package.names():
            if _HEAD_PART.fullmatch(name.removeprefix(f"{self._folder}/")):
                root = self._package.part(name, recover=True)
                yield from () if root is None else (_join_words(line) for line in root.iter("{*}p"))

    def _note(self, note: tuple[str, str | None], reason: OfficeHiding | None = None) -> str:
        """Read a note and return its mark; empty if the note does not exist, was read before, or is hidden."""
        element = self._notes.pop(note, None)
        if element is None:
            return ""
        text, boxes, links = self._text, self._boxes, self._links
        self._text, self._boxes = OfficeParagraphs(text.characters_left), []
        self._links = WordLinks(self._package, f"{self._folder}/{note[0]}s.xml")
        self._blocks(element, Look(), reason)
        outer_text, self._text, self._boxes, self._links = self._text, text, boxes, links
        return text.add_note(outer_text)

    def _shows_background(self) -> bool:
        settings = self._package.part(f"{self._folder}/settings.xml")
        return next(children(settings, "displayBackgroundShape"), None) is not None

    def _blocks(self, parent: etree._Element, outer_look: Look, reason: OfficeHiding | None = None) -> None:
        """Read paragraphs and tables at any nesting level. If `reason` is set, all of them are hidden."""
        for child in parent.iterchildren("*"):
            match get_local_name(child):
                case "p":
                    self._paragraph(child, outer_look, reason)
                case "tbl":
                    self._read_table(child, outer_look, reason)
                case "sdt" if self._is_empty_field(child):
                    pass
                case "sdt" if _is_title_control(child):
                    self._in_title = True
                    self._blocks(child, outer_look, reason)
                    self._in_title = False
                case "altChunk":
                    self._text.parts_unread += 1
                case name if name in _DELETED:
                    self._blocks(child, outer_look, reason or "deleted as a tracked change")
                case name if name not in _NOT_TEXT:
                    self._blocks(child, outer_look, reason)

    def _paragraph(self, paragraph: etree._Element, outer_look: Look, reason: OfficeHiding | None) -> None:
        properties = next(children(paragraph, "pPr"), None)
        style = self._styles.paragraph(properties)
        if style.is_contents:
            return
        if style.is_instruction:
            self._text.instructions += filter(None, [_join_words(paragraph).strip()])
            return
        if style.is_reference and not self._in_list:
            self._text.open_list()
        self._in_list = style.is_reference
        self._runs(paragraph, style.look.over(outer_look), reason)
        is_title = style.level == TITLE_LEVEL or self._in_title
        is_item = next(children(properties, "numPr"), None) is not None and style.level == BODY
        self._text.end_paragraph(style.level, "- " if is_item else "", is_title=is_title)
        self._boxes_of_paragraph(outer_look, reason)

    def _boxes_of_paragraph(self, outer_look: Look, reason: OfficeHiding | None) -> None:
        boxes, self._boxes = self._boxes, []
        for box in boxes:
            self._blocks(box, outer_look, reason)

    def _read_table(self, table: etree._Element, outer_look: Look, reason: OfficeHiding | None) -> None:
        """Read a table, with one line per row."""
        self._text.tables += reason is None
        properties = next(children(table, "tblPr"), None)
        first, others = self._styles.cells(attribute(next(children(properties, "tblStyle"), None), "val"))
        for number, row in enumerate(children(table, "tr")):
            of_row = next(children(row, "trPr"), None)
            hiding = reason
            if next(children(of_row, "hidden"), None) is not None:
                hiding = reason or "marked as hidden"
            elif next(children(of_row, "del"), None) is not None:
                hiding = reason or "deleted as a tracked change"
            behind = Look(behind=others if number else first).over(outer_look)
            for cell in self._text.row(children(row, "tc")):
                cell_look = Look(behind=shading_of(next(children(cell, "tcPr"), None))).over(behind)
                self._cell(cell, cell_look, hiding)
            self._text.end_paragraph()
            self._boxes_of_paragraph(outer_look, reason)

    def _cell(self, parent: etree._Element, outer_look: Look, reason: OfficeHiding | None) -> None:
        """Add a cell's text on one line, including any tables inside it."""
        for child in parent.iterchildren("*"):
            if get_local_name(child) == "p":
                style = self._styles.paragraph(next(children(child, "pPr"), None))
                self._runs(child, style.look.over(outer_look), reason)
                self._text.add(" ")
            elif self._is_empty_field(child):
                pass
            elif get_local_name(child) in _DELETED:
                self._cell(child, outer_look, reason or "deleted as a tracked change")
            elif get_local_name(child) not in _NOT_TEXT:
                self._cell(child, outer_look, reason)

    def _runs(self, parent: etree._Element, look: Look, reason: OfficeHiding | None) -> None:
        for child in parent.iterchildren("*"):
            match get_local_name(child):
                case "r":
                    self._run(child, look, reason)
                case "oMath":
                    self._formula(child, look, reason)
                case "p" | "tbl" | "txbxContent":
                    pass
                case "sdt" if self._is_empty_field(child):
                    pass
                case "sdt" if (box := _check_box(child)) is not None:
                    self._text.add(box)
                case "hyperlink" | "fldSimple":
                    outer = self._text.set_link(self._links.target_of(child))
                    self._runs(child, look, reason)
                    self._text.set_link(outer)
                case name if name in _DELETED:
                    self._runs(child, look, reason or "deleted as a tracked change")
                case name if name not in _NOT_TEXT:
                    self._runs(child, look, reason)

    def _is_empty_field(self, control: etree._Element) -> bool:
        """Return whether an element is a content control that shows only its prompt; count it if it is one."""
        properties = next(children(control, "sdtPr"), None)
        shows_prompt = next(children(properties, "showingPlcHdr"), None) is not None
        self._text.empty_fields += shows_prompt
        return shows_prompt

    def _formula(self, formula: etree._Element, look: Look, reason: OfficeHiding | None) -> None:
        def is_seen(run: etree._Element) -> bool:
            hiding = reason or look_of(next(children(run, "rPr"), None)).over(look).explain_unseen()
            if hiding is not None:
                self._text.add("".join(item.text or "" for item in children(run, "t")), hiding)
            return hiding is None

        self._text.add(formula_text(formula, is_seen))

    def _run(self, run: etree._Element, look: Look, reason: OfficeHiding | None) -> None:
        properties = next(children(run, "rPr"), None)
        style_name = attribute(next(children(properties, "rStyle"), None), "val")
        if self._styles.is_prompt(style_name):
            self._text.empty_fields += 1
            return
        style = self._styles.characters(style_name)
        run_look = look_of(properties).over(style).over(look)
        hiding = reason or run_look.explain_unseen()
        for child in run.iterchildren("*"):
            match get_local_name(child):
                case "sym":
                    self._text.add(symbol_of(child), hiding, script=run_look.script)
                case "fldChar" | "instrText":
                    self._text.add(_form_field(child), hiding)
                    self._text.set_link(self._links.read_field(child))
                case "t":
                    self._text.add(child.text or "", hiding, bold=bool(run_look.bold), script=run_look.script)
                case "delText":
                    self._text.add(child.text or "", "deleted as a tracked change")
                case "br" | "cr" if not hiding and attribute(child, "type") in _LINE_BREAKS:
                    self._text.end_line()
                case "tab" | "br" | "cr":
                    self._text.add(" ", hiding, bold=True)
                case "footnoteReference" | "endnoteReference":
                    note = get_local_name(child).removesuffix("Reference"), attribute(child, "id")
                    if mark := self._note(note, hiding):
                        self._text.add(f"[^{mark}]", bold=True)
                case "noBreakHyphen":
                    self._text.add("-", hiding, script=run_look.script)
                case "drawing" | "pict" | "AlternateContent" | "object":
                    self._drawing(child)

    def _drawing(self, drawing: etree._Element) -> None:
        """Read the text boxes in a drawing. If a shape is stored twice, the fallback for older versions of Word is
        skipped."""
        for box in drawing.iter("{*}txbxContent"):
            ancestors = list(box.iterancestors("*"))
            if any(get_local_name(ancestor) == "Fallback" for ancestor in ancestors):
                continue
            within = ancestors[: ancestors.index(drawing) + 1]
            if any(_is_hidden_shape(item) for item in within):
                self._text.hide("marked as hidden", _join_words(box))
            elif any(_is_off_page(item) for item in within):
                self._text.hide("off the page", _join_words(box))
            else:
                self._boxes.append(box)


def _check_box(control: etree._Element) -> str | None:
    """Return the box of a content control that is one; None for other controls."""
    properties = next(children(control, "sdtPr"), None)
    box = next(children(properties, "checkbox"), None)
    return None if box is None else _box(attribute(next(children(box, "checked"), None), "val"))


def _box(checked: str | None) -> str:
    return "☒" if checked in ("1", "true", "on") else UNTICKED


def _form_field(field: etree._Element) -> str:
    """Return what a field of an old form shows, if it is a box or a list: the box, or the chosen entry."""
    data = next(children(field, "ffData"), None)
    box, entries = (next(children(data, name), None) for name in ("checkBox", "ddList"))
    if box is not None:
        state = next(children(box, "checked"), next(children(box, "default"), None))
        return _box("1" if state is not None and attribute(state, "val") is None else attribute(state, "val"))
    chosen = attribute(next(children(entries, "result"), None), "val") or ""
    names = [attribute(entry, "val") or "" for entry in children(entries, "listEntry")]
    return names[int(chosen)] if chosen.isdecimal() and int(chosen) < len(names) else ""


def _is_title_control(control: etree._Element) -> bool:
    """Return whether a content control shows the document's title, as on a cover page."""
    properties = next(children(control, "sdtPr"), None)
    binding = attribute(next(children(properties, "dataBinding"), None), "xpath") or ""
    names = (attribute(next(children(properties, name), None), "val") or "" for name in ("alias", "tag"))
    return any(map(is_title_style, names)) or ("coreProperties" in binding and ":title" in binding)


def _property(properties: etree._Element | None, name: str) -> str:
    """Return one of the file's properties; empty if it is not set."""
    return "" if properties is None else properties.findtext(f".//{{*}}{name}") or ""


def _is_hidden_shape(element: etree._Element) -> bool:
    style = (attribute(element, "style") or "").replace(" ", "").lower()
    if "visibility:hidden" in style or "display:none" in style:
        return True
    return any(attribute(child, "hidden") in ("1", "true") for child in children(element, "docPr"))


def _is_off_page(element: etree._Element) -> bool:
    """Return whether the element's offset, in EMU (360,000 per centimetre), puts it off the page."""
    offsets = (child for name in ("positionH", "positionV") for child in children(element, name))
    texts = ((item.text or "").strip() for offset in offsets for item in children(offset, "posOffset"))
    return any(not _LEFTMOST < int(text) < _RIGHTMOST for text in texts if _WHOLE.fullmatch(text))


def _join_words(element: etree._Element) -> str:
    return " ".join("".join(item.text or "" for item in paragraph.iter("{*}t")) for paragraph in element.iter("{*}p"))
