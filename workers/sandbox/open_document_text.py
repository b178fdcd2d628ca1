"""Read an OpenDocument text (`.odt`) into separate lists of visible and hidden text.

Runs in the sandboxed process. Alternative texts and tables of contents are not read, because they repeat or describe
other content. Headers and footers are kept separate from the text."""

from lxml import etree

from workers.sandbox.mathml_text import format_mathml
from workers.sandbox.office_package import OfficePackage, find_children, get_attribute, get_local_name
from workers.sandbox.office_text import BODY, OfficeHiding, OfficeParagraphs, TextLook
from workers.sandbox.open_document_styles import OpenDocumentStyles
from workers.sandbox.refusal import Refused

_CONTENT_PART = "content.xml"
_MEDIA_TYPE = b"application/vnd.oasis.opendocument.text"
_ELEMENTS_WITHOUT_TEXT = (
    "table-of-content", "illustration-index", "table-index", "object-index", "user-index", "alphabetical-index",
    "bibliography-source", "desc", "forms", "sequence-decls", "variable-decls", "user-field-decls",
    "note-citation", "event-listeners", "soft-page-break",
)  # fmt: skip
_TITLE_FIELD = "{*}title"
_HEAD_ELEMENTS = ("header", "header-left", "header-first", "footer", "footer-left", "footer-first")
_MAX_SPACES = 100
_MAX_HEADING_LEVEL = 10


def is_open_document(package: OfficePackage) -> bool:
    return package.read_bytes("mimetype").startswith(_MEDIA_TYPE) and _CONTENT_PART in package


def read_open_document(package: OfficePackage, most_characters: int) -> OfficeParagraphs:
    """Read an OpenDocument file. Raises Refused if it cannot be read."""
    content = package.parse_part(_CONTENT_PART)
    body = next(find_children(content, "body"), None)
    text = next(find_children(body, "text"), None)
    if text is None:
        raise Refused("damaged")
    styles, properties = package.parse_part("styles.xml"), package.parse_part("meta.xml")
    paragraphs = _OpenDocumentReader(package, OpenDocumentStyles(styles, content), most_characters).read(text)
    author = "" if properties is None else next(
        (name for tag in ("initial-creator", "creator") if (name := properties.findtext(f".//{{*}}{tag}"))), ""
    )  # fmt: skip
    heads = [] if styles is None else [head for tag in _HEAD_ELEMENTS for head in styles.iter(f"{{*}}{tag}")]
    paragraphs.named = "" if properties is None else properties.findtext(".//{*}meta/{*}title") or ""
    paragraphs.add_properties(author, (_join_words(line) for head in heads for line in head.iter("{*}p")))
    return paragraphs


class _OpenDocumentReader:
    def __init__(self, package: OfficePackage, styles: OpenDocumentStyles, most_characters: int) -> None:
        self._package = package
        self._styles = styles
        self._text = OfficeParagraphs(most_characters)
        self._postponed: list[tuple[etree._Element, TextLook, OfficeHiding | None]] = []
        """Text boxes in the current paragraph, which are read after it."""

    def read(self, text: etree._Element) -> OfficeParagraphs:
        self._read_blocks(text, TextLook(), None)
        return self._text

    def _read_blocks(
        self, parent: etree._Element, outer_look: TextLook, reason: OfficeHiding | None, mark: str = ""
    ) -> None:
        for child in parent.iterchildren("*"):
            match get_local_name(child):
                case "p" | "h":
                    self._read_paragraph(child, outer_look, reason, mark)
                case "table":
                    self._read_table(child, outer_look, reason)
                case "tracked-changes":
                    for change in child.iter("{*}deletion"):
                        self._text.hide("deleted as a tracked change", _join_words(change))
                case "list-item":
                    self._read_blocks(child, outer_look, reason, "- ")
                case "section":
                    self._read_blocks(child, outer_look, reason or ("marked as hidden" if _is_hidden(child) else None))
                case "annotation":
                    self._text.hide("in a comment", _join_words(child))
                case _ if _is_text(child):
                    self._read_blocks(child, outer_look, reason, mark)

    def _read_paragraph(
        self, paragraph: etree._Element, outer_look: TextLook, reason: OfficeHiding | None, mark: str
    ) -> None:
        name = get_attribute(paragraph, "style-name")
        look = self._styles.resolve_look("paragraph", name).override(outer_look)
        if any(get_attribute(item, "is-hidden") == "true" for item in paragraph.iter("{*}hidden-paragraph")):
            reason = reason or "marked as hidden"
        self._read_inline(paragraph, look, reason)
        level = _get_level(paragraph)
        is_title = self._styles.is_title(name) or _is_title_field(paragraph)
        self._text.end_paragraph(level, "" if level else mark, is_title=is_title)
        self._read_postponed()

    def _read_postponed(self) -> None:
        postponed, self._postponed = self._postponed, []
        for element, look, hiding in postponed:
            self._read_blocks(element, look, hiding)

    def _read_table(self, table: etree._Element, outer_look: TextLook, reason: OfficeHiding | None) -> None:
        """Read a table, with one line per row. Hidden columns are hidden in every row."""
        self._text.tables += reason is None
        outer_look = self._styles.resolve_look("table", get_attribute(table, "style-name")).override(outer_look)
        hidden_columns = self._find_hidden_columns(table)
        for row in table.iter("{*}table-row"):
            if next(row.iterancestors("{*}table"), None) is not table:
                continue
            row_hiding = reason or (
                "in a hidden row, column or sheet" if self._is_row_or_column_hidden("table-row", row) else None
            )
            for column, cell in enumerate(self._text.add_row(find_children(row, "table-cell"))):
                hiding = row_hiding or ("in a hidden row, column or sheet" if column in hidden_columns else None)
                look = self._styles.resolve_look("table-cell", get_attribute(cell, "style-name")).override(outer_look)
                self._read_cell(cell, look, hiding)
            self._text.end_paragraph()
            self._read_postponed()

    def _read_cell(self, parent: etree._Element, outer_look: TextLook, reason: OfficeHiding | None) -> None:
        """Add a cell's text on one line, including any tables inside it."""
        for child in parent.iterchildren("*"):
            if get_local_name(child) in ("p", "h"):
                look = self._styles.resolve_look("paragraph", get_attribute(child, "style-name")).override(outer_look)
                self._read_inline(child, look, reason)
                self._text.add(" ")
            elif get_local_name(child) == "annotation":
                self._text.hide("in a comment", _join_words(child))
            elif _is_text(child):
                self._read_cell(child, outer_look, reason)

    def _find_hidden_columns(self, table: etree._Element) -> set[int]:
        hidden_columns: set[int] = set()
        column_number = 0
        for column in table.iter("{*}table-column"):
            repetitions = _parse_count(get_attribute(column, "number-columns-repeated"))
            if self._is_row_or_column_hidden("table-column", column):
                hidden_columns.update(range(column_number, column_number + repetitions))
            column_number += repetitions
        return hidden_columns

    def _is_row_or_column_hidden(self, family: str, element: etree._Element) -> bool:
        visibility = get_attribute(element, "visibility")
        return visibility in ("collapse", "filter") or self._styles.is_collapsed(
            family, get_attribute(element, "style-name")
        )

    def _read_inline(self, parent: etree._Element, look: TextLook, reason: OfficeHiding | None) -> None:
        hiding = reason or look.find_hiding()
        self._text.add(parent.text or "", hiding, script=look.script)
        for child in parent.iterchildren("*"):
            self._read_inline_element(child, look, reason, hiding)
            self._text.add(child.tail or "", hiding, script=look.script)

    def _read_note(self, note: etree._Element, reason: OfficeHiding | None) -> str:
        """Read a footnote or endnote; return its mark, or an empty string if it has no visible text."""
        text, postponed = self._text, self._postponed
        self._text, self._postponed = OfficeParagraphs(text.characters_left), []
        for body in find_children(note, "note-body"):
            self._read_blocks(body, TextLook(), reason)
        note_text, self._text, self._postponed = self._text, text, postponed
        return text.add_note(note_text)

    def _read_object(self, element: etree._Element) -> None:
        """Add the text of an embedded formula. Other objects, such as charts, are only named."""
        folder = (get_attribute(element, "href") or "").removeprefix("./").strip("/")
        inline_formula = next((child for child in element.iterchildren("*") if get_local_name(child) == "math"), None)
        formula = (
            inline_formula if inline_formula is not None else self._package.parse_part(f"{folder}/{_CONTENT_PART}")
        )
        if formula is not None and get_local_name(formula) == "math":
            self._text.add(f" {format_mathml(formula)} ")
        elif folder:
            self._text.left_out.append((f"the embedded object {folder!r}", "only formulas are read from objects"))

    def _read_span(self, span: etree._Element, look: TextLook, reason: OfficeHiding | None) -> None:
        """Read a span with a style of its own, or a link."""
        own_look = self._styles.resolve_look("text", get_attribute(span, "style-name"))
        outer_link = self._text.set_link(get_attribute(span, "href") or "") if get_local_name(span) == "a" else None
        self._read_inline(span, own_look.override(look), reason)
        if outer_link is not None:
            self._text.set_link(outer_link)

    def _read_hidden(self, element: etree._Element, name: str, reason: OfficeHiding | None) -> None:
        """Set apart a comment or hidden text; count the empty field of a form."""
        if name == "placeholder":
            self._text.empty_fields += 1
        elif name == "annotation":
            self._text.hide("in a comment", _join_words(element))
        else:
            self._text.add(get_attribute(element, "string-value") or element.text or "", reason or "marked as hidden")

    def _read_inline_element(
        self, child: etree._Element, look: TextLook, reason: OfficeHiding | None, hiding: OfficeHiding | None
    ) -> None:
        match get_local_name(child):
            case "line-break" if not hiding:
                self._text.end_line()
            case "s" | "tab" | "line-break":
                self._text.add(" " * _parse_count(get_attribute(child, "c")), hiding)
            case "span" | "a":
                self._read_span(child, look, reason)
            case "annotation" | "hidden-text" | "placeholder" as name:
                self._read_hidden(child, name, reason)
            case "text-box":
                self._postponed.append((child, TextLook(), reason))
            case "note":
                if mark := self._read_note(child, hiding):
                    self._text.add(f"[^{mark}]")
            case "object" if not hiding:
                self._read_object(child)
            case "frame":
                for part in child.iterchildren("*"):
                    self._read_inline_element(part, look, reason, hiding)
            case _ if _is_text(child):
                self._read_inline(child, look, reason)


def _is_title_field(paragraph: etree._Element) -> bool:
    """Return whether a paragraph consists of the field that shows the document's title."""
    fields = [field for field in paragraph.iter(_TITLE_FIELD) if not _is_description(field)]
    words = "".join(map(str, paragraph.itertext(with_tail=False))).strip()
    return len(fields) == 1 and words == "".join(map(str, fields[0].itertext(with_tail=False))).strip() != ""


def _is_text(element: etree._Element) -> bool:
    """Return whether an element may hold text of the document."""
    name = get_local_name(element)
    return name not in _ELEMENTS_WITHOUT_TEXT and not (name == "title" and _is_description(element))


def _is_description(title: etree._Element) -> bool:
    """Return whether an element named `title` describes a picture or a shape."""
    return "svg" in (etree.QName(title).namespace or "")


def _get_level(paragraph: etree._Element) -> int:
    if get_local_name(paragraph) == "p":
        return BODY
    return min(_parse_count(get_attribute(paragraph, "outline-level")), _MAX_HEADING_LEVEL)


def _is_hidden(section: etree._Element) -> bool:
    display = get_attribute(section, "display")
    return display == "none" or (display == "condition" and get_attribute(section, "is-hidden") == "true")


def _parse_count(number: str | None) -> int:
    """Return a repetition count, at most `_MAX_SPACES`; 1 if it is missing or invalid."""
    return min(int(number), _MAX_SPACES) if number and number.isascii() and number.isdigit() else 1


def _join_words(element: etree._Element) -> str:
    return " ".join(
        "".join(map(str, paragraph.itertext(with_tail=False))) for paragraph in element.iter("{*}p", "{*}h")
    )
