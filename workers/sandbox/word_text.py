"""Read a Word document (`.docx`) into separate lists of visible and hidden text.

Runs in the sandboxed process. Field codes, alternative texts and tables of contents are not read, because they repeat
or describe other content. Headers and footers are kept separate from the text."""

import re
from collections.abc import Iterator

from lxml import etree

from assayer.text.form_fields import UNTICKED
from workers.sandbox.formula_text import format_formula
from workers.sandbox.office_package import OfficePackage, find_children, get_attribute, get_local_name
from workers.sandbox.office_text import BODY, OfficeHiding, OfficeParagraphs, TextLook, is_title_style
from workers.sandbox.refusal import Refused
from workers.sandbox.word_links import WordLinks
from workers.sandbox.word_styles import TITLE_LEVEL, WordStyles, read_run_look, read_shading
from workers.sandbox.word_symbols import get_symbol

_RELATIONS_PART = "_rels/.rels"
_DELETED_ELEMENTS = ("del", "moveFrom")
_ELEMENTS_WITHOUT_TEXT = ("instrText", "delInstrText", "Fallback", "pPr", "rPr", "sdtPr", "docPr", "sectPr")
_HEAD_PART = re.compile(r"(?:header|footer)\d*\.xml")
_LEFT_LIMIT, _RIGHT_LIMIT = -6_000_000, 12_000_000
_INTEGER = re.compile(r"-?\d{1,12}")
_LINE_BREAKS = (None, "textWrapping")
_SEPARATORS = ("separator", "continuationSeparator", "continuationNotice")


def is_word(package: OfficePackage) -> bool:
    return _find_main_part(package) is not None


def _find_main_part(package: OfficePackage) -> str | None:
    """Return the main part that the package declares, as Word does; None if there is none."""
    for relation in find_children(package.parse_part(_RELATIONS_PART), "Relationship"):
        target = (get_attribute(relation, "Target") or "").lstrip("/")
        if (get_attribute(relation, "Type") or "").endswith("/officeDocument") and target.startswith("word/"):
            return target if target in package else None
    return None


def read_word(package: OfficePackage, most_characters: int) -> OfficeParagraphs:
    """Read a Word document. Raises Refused if it cannot be read."""
    name = _find_main_part(package)
    root = package.parse_part(name) if name else None
    if name is None or root is None:
        raise Refused("damaged")
    return _WordReader(package, name, most_characters).read(root)


class _WordReader:
    def __init__(self, package: OfficePackage, name: str, most_characters: int) -> None:
        """Create a reader; `name` is the name of the package's main part."""
        self._package = package
        folder = self._folder = name.rpartition("/")[0]
        self._styles = WordStyles(package.parse_part(f"{folder}/styles.xml"))
        self._text = OfficeParagraphs(most_characters)
        self._in_title = False
        """Whether a content control for the document's title is being read."""
        self._in_list = False
        """Whether the preceding paragraph was an entry in a reference list."""
        self._boxes: list[etree._Element] = []
        """Text boxes anchored in the current paragraph, which are read after it."""
        self._links = WordLinks(package, name)
        self._notes = {
            (name, get_attribute(note, "id")): note
            for name in ("footnote", "endnote")
            for note in find_children(package.parse_part(f"{folder}/{name}s.xml"), name)
            if get_attribute(note, "type") not in _SEPARATORS
        }
        """Notes to which the text read so far does not refer."""

    def read(self, root: etree._Element) -> OfficeParagraphs:
        page = next(find_children(root, "background"), None)
        colour = get_attribute(page, "color") if self._is_background_shown() else None
        self._read_blocks(root, TextLook(background=None if colour == "auto" else colour))
        for note in list(self._notes):
            self._read_note(note)
        self._text.named = _get_property(self._package.parse_part("docProps/core.xml"), "title")
        self._text.add_properties(self._read_author(), self._read_heads())
        for comment in find_children(self._package.parse_part(f"{self._folder}/comments.xml"), "comment"):
            self._text.hide("in a comment", _join_words(comment))
        return self._text

    def _read_author(self) -> str:
        return _get_property(self._package.parse_part("docProps/core.xml"), "creator")

    def _read_heads(self) -> Iterator[str]:
        for name in self._package.list_names():
            if _HEAD_PART.fullmatch(name.removeprefix(f"{self._folder}/")):
                root = self._package.parse_part(name, recover=True)
                yield from () if root is None else (_join_words(line) for line in root.iter("{*}p"))

    def _read_note(self, note: tuple[str, str | None], reason: OfficeHiding | None = None) -> str:
        """Read a note and return its mark; empty if the note does not exist, was read before, or is hidden."""
        element = self._notes.pop(note, None)
        if element is None:
            return ""
        text, boxes, links = self._text, self._boxes, self._links
        self._text, self._boxes = OfficeParagraphs(text.characters_left), []
        self._links = WordLinks(self._package, f"{self._folder}/{note[0]}s.xml")
        self._read_blocks(element, TextLook(), reason)
        note_text, self._text, self._boxes, self._links = self._text, text, boxes, links
        return text.add_note(note_text)

    def _is_background_shown(self) -> bool:
        settings = self._package.parse_part(f"{self._folder}/settings.xml")
        return next(find_children(settings, "displayBackgroundShape"), None) is not None

    def _read_blocks(self, parent: etree._Element, outer_look: TextLook, reason: OfficeHiding | None = None) -> None:
        """Read paragraphs and tables at any nesting level. If `reason` is set, all of them are hidden."""
        for child in parent.iterchildren("*"):
            match get_local_name(child):
                case "p":
                    self._read_paragraph(child, outer_look, reason)
                case "tbl":
                    self._read_table(child, outer_look, reason)
                case "sdt" if self._is_empty_field(child):
                    pass
                case "sdt" if _is_title_control(child):
                    self._in_title = True
                    self._read_blocks(child, outer_look, reason)
                    self._in_title = False
                case "altChunk":
                    self._text.parts_unread += 1
                case name if name in _DELETED_ELEMENTS:
                    self._read_blocks(child, outer_look, reason or "deleted as a tracked change")
                case name if name not in _ELEMENTS_WITHOUT_TEXT:
                    self._read_blocks(child, outer_look, reason)

    def _read_paragraph(self, paragraph: etree._Element, outer_look: TextLook, reason: OfficeHiding | None) -> None:
        properties = next(find_children(paragraph, "pPr"), None)
        style = self._styles.resolve_paragraph(properties)
        if style.is_contents:
            return
        if style.is_instruction:
            self._text.instructions += filter(None, [_join_words(paragraph).strip()])
            return
        if style.is_reference and not self._in_list:
            self._text.open_list()
        self._in_list = style.is_reference
        self._read_runs(paragraph, style.look.override(outer_look), reason)
        is_title = style.level == TITLE_LEVEL or self._in_title
        is_item = next(find_children(properties, "numPr"), None) is not None and style.level == BODY
        self._text.end_paragraph(style.level, "- " if is_item else "", is_title=is_title)
        self._read_boxes(outer_look, reason)

    def _read_boxes(self, outer_look: TextLook, reason: OfficeHiding | None) -> None:
        boxes, self._boxes = self._boxes, []
        for box in boxes:
            self._read_blocks(box, outer_look, reason)

    def _read_table(self, table: etree._Element, outer_look: TextLook, reason: OfficeHiding | None) -> None:
        """Read a table, with one line per row."""
        self._text.tables += reason is None
        properties = next(find_children(table, "tblPr"), None)
        first_row_background, other_background = self._styles.find_cell_backgrounds(
            get_attribute(next(find_children(properties, "tblStyle"), None), "val")
        )
        for number, row in enumerate(find_children(table, "tr")):
            row_properties = next(find_children(row, "trPr"), None)
            hiding = reason
            if next(find_children(row_properties, "hidden"), None) is not None:
                hiding = reason or "marked as hidden"
            elif next(find_children(row_properties, "del"), None) is not None:
                hiding = reason or "deleted as a tracked change"
            row_look = TextLook(background=other_background if number else first_row_background).override(outer_look)
            for cell in self._text.add_row(find_children(row, "tc")):
                cell_look = TextLook(background=read_shading(next(find_children(cell, "tcPr"), None))).override(
                    row_look
                )
                self._read_cell(cell, cell_look, hiding)
            self._text.end_paragraph()
            self._read_boxes(outer_look, reason)

    def _read_cell(self, parent: etree._Element, outer_look: TextLook, reason: OfficeHiding | None) -> None:
        """Add a cell's text on one line, including any tables inside it."""
        for child in parent.iterchildren("*"):
            if get_local_name(child) == "p":
                style = self._styles.resolve_paragraph(next(find_children(child, "pPr"), None))
                self._read_runs(child, style.look.override(outer_look), reason)
                self._text.add(" ")
            elif self._is_empty_field(child):
                pass
            elif get_local_name(child) in _DELETED_ELEMENTS:
                self._read_cell(child, outer_look, reason or "deleted as a tracked change")
            elif get_local_name(child) not in _ELEMENTS_WITHOUT_TEXT:
                self._read_cell(child, outer_look, reason)

    def _read_runs(self, parent: etree._Element, look: TextLook, reason: OfficeHiding | None) -> None:
        for child in parent.iterchildren("*"):
            match get_local_name(child):
                case "r":
                    self._read_run(child, look, reason)
                case "oMath":
                    self._add_formula(child, look, reason)
                case "p" | "tbl" | "txbxContent":
                    pass
                case "sdt" if self._is_empty_field(child):
                    pass
                case "sdt" if (box := _check_box(child)) is not None:
                    self._text.add(box)
                case "hyperlink" | "fldSimple":
                    outer_link = self._text.set_link(self._links.get_target(child))
                    self._read_runs(child, look, reason)
                    self._text.set_link(outer_link)
                case name if name in _DELETED_ELEMENTS:
                    self._read_runs(child, look, reason or "deleted as a tracked change")
                case name if name not in _ELEMENTS_WITHOUT_TEXT:
                    self._read_runs(child, look, reason)

    def _is_empty_field(self, control: etree._Element) -> bool:
        """Return whether an element is a content control that shows only its prompt; count it if it is one."""
        properties = next(find_children(control, "sdtPr"), None)
        shows_prompt = next(find_children(properties, "showingPlcHdr"), None) is not None
        self._text.empty_fields += shows_prompt
        return shows_prompt

    def _add_formula(self, formula: etree._Element, look: TextLook, reason: OfficeHiding | None) -> None:
        def is_seen(run: etree._Element) -> bool:
            hiding = reason or read_run_look(next(find_children(run, "rPr"), None)).override(look).find_hiding()
            if hiding is not None:
                self._text.add("".join(item.text or "" for item in find_children(run, "t")), hiding)
            return hiding is None

        self._text.add(format_formula(formula, is_seen))

    def _read_run(self, run: etree._Element, look: TextLook, reason: OfficeHiding | None) -> None:
        properties = next(find_children(run, "rPr"), None)
        style_name = get_attribute(next(find_children(properties, "rStyle"), None), "val")
        if self._styles.is_prompt(style_name):
            self._text.empty_fields += 1
            return
        style = self._styles.resolve_characters(style_name)
        run_look = read_run_look(properties).override(style).override(look)
        hiding = reason or run_look.find_hiding()
        for child in run.iterchildren("*"):
            match get_local_name(child):
                case "sym":
                    self._text.add(get_symbol(child), hiding, script=run_look.script)
                case "fldChar" | "instrText":
                    self._text.add(_format_form_field(child), hiding)
                    self._text.set_link(self._links.read_field(child))
                case "t":
                    self._text.add(child.text or "", hiding, bold=bool(run_look.bold), script=run_look.script)
                case "delText":
                    self._text.add(child.text or "", "deleted as a tracked change")
                case "br" | "cr" if not hiding and get_attribute(child, "type") in _LINE_BREAKS:
                    self._text.end_line()
                case "tab" | "br" | "cr":
                    self._text.add(" ", hiding, bold=True)
                case "footnoteReference" | "endnoteReference":
                    note = get_local_name(child).removesuffix("Reference"), get_attribute(child, "id")
                    if mark := self._read_note(note, hiding):
                        self._text.add(f"[^{mark}]", bold=True)
                case "noBreakHyphen":
                    self._text.add("-", hiding, script=run_look.script)
                case "drawing" | "pict" | "AlternateContent" | "object":
                    self._read_drawing(child)

    def _read_drawing(self, drawing: etree._Element) -> None:
        """Read the text boxes in a drawing. If a shape is stored twice, the fallback for older versions of Word is
        skipped."""
        for box in drawing.iter("{*}txbxContent"):
            ancestors = list(box.iterancestors("*"))
            if any(get_local_name(ancestor) == "Fallback" for ancestor in ancestors):
                continue
            shapes = ancestors[: ancestors.index(drawing) + 1]
            if any(_is_hidden_shape(item) for item in shapes):
                self._text.hide("marked as hidden", _join_words(box))
            elif any(_is_off_page(item) for item in shapes):
                self._text.hide("off the page", _join_words(box))
            else:
                self._boxes.append(box)


def _check_box(control: etree._Element) -> str | None:
    """Return the box of a content control that is one; None for other controls."""
    properties = next(find_children(control, "sdtPr"), None)
    box = next(find_children(properties, "checkbox"), None)
    return None if box is None else _format_box(get_attribute(next(find_children(box, "checked"), None), "val"))


def _format_box(checked: str | None) -> str:
    return "☒" if checked in ("1", "true", "on") else UNTICKED


def _format_form_field(field: etree._Element) -> str:
    """Return what a field of an old form shows, if it is a box or a list: the box, or the chosen entry."""
    data = next(find_children(field, "ffData"), None)
    box, entries = (next(find_children(data, name), None) for name in ("checkBox", "ddList"))
    if box is not None:
        state = next(find_children(box, "checked"), next(find_children(box, "default"), None))
        return _format_box(
            "1" if state is not None and get_attribute(state, "val") is None else get_attribute(state, "val")
        )
    chosen_index = get_attribute(next(find_children(entries, "result"), None), "val") or ""
    names = [get_attribute(entry, "val") or "" for entry in find_children(entries, "listEntry")]
    return names[int(chosen_index)] if chosen_index.isdecimal() and int(chosen_index) < len(names) else ""


def _is_title_control(control: etree._Element) -> bool:
    """Return whether a content control shows the document's title, as on a cover page."""
    properties = next(find_children(control, "sdtPr"), None)
    binding = get_attribute(next(find_children(properties, "dataBinding"), None), "xpath") or ""
    names = (get_attribute(next(find_children(properties, name), None), "val") or "" for name in ("alias", "tag"))
    return any(map(is_title_style, names)) or ("coreProperties" in binding and ":title" in binding)


def _get_property(properties: etree._Element | None, name: str) -> str:
    """Return one of the file's properties; empty if it is not set."""
    return "" if properties is None else properties.findtext(f".//{{*}}{name}") or ""


def _is_hidden_shape(element: etree._Element) -> bool:
    style = (get_attribute(element, "style") or "").replace(" ", "").lower()
    if "visibility:hidden" in style or "display:none" in style:
        return True
    return any(get_attribute(child, "hidden") in ("1", "true") for child in find_children(element, "docPr"))


def _is_off_page(element: etree._Element) -> bool:
    """Return whether the element's offset, in EMU (360,000 per centimetre), puts it off the page."""
    offsets = (child for name in ("positionH", "positionV") for child in find_children(element, name))
    texts = ((item.text or "").strip() for offset in offsets for item in find_children(offset, "posOffset"))
    return any(not _LEFT_LIMIT < int(text) < _RIGHT_LIMIT for text in texts if _INTEGER.fullmatch(text))


def _join_words(element: etree._Element) -> str:
    return " ".join("".join(item.text or "" for item in paragraph.iter("{*}t")) for paragraph in element.iter("{*}p"))
