"""Read an OpenDocument text (`.odt`) into separate lists of visible and hidden text.

Runs in the sandboxed process. Alternative texts and tables of contents are not read, because they repeat or describe
other content. Headers and footers are kept separate from the text."""

from lxml import etree

from workers.sandbox.mathml_text import mathml_text
from workers.sandbox.office_package import OfficePackage, attribute, children, get_local_name
from workers.sandbox.office_text import BODY, Look, OfficeHiding, OfficeParagraphs
from workers.sandbox.open_document_styles import OpenDocumentStyles
from workers.sandbox.refusal import Refused

_CONTENT = "content.xml"
_KIND = b"application/vnd.oasis.opendocument.text"
_NOT_TEXT = (
    "table-of-content", "illustration-index", "table-index", "object-index", "user-index", "alphabetical-index",
    "bibliography-source", "desc", "forms", "sequence-decls", "variable-decls", "user-field-decls",
    "note-citation", "event-listeners", "soft-page-break",
)  # fmt: skip
_TITLE_FIELD = "{*}title"
_HEADS = ("header", "header-left", "header-first", "footer", "footer-left", "footer-first")
_MAX_SPACES = 100
_MAX_HEADING_LEVEL = 10


def is_open_document(package: OfficePackage) -> bool:
    return package.bytes_of("mimetype").startswith(_KIND) and _CONTENT in package


def read_open_document(package: OfficePackage, most_characters: int) -> OfficeParagraphs:
    """Read an OpenDocument file. Raises Refused if it cannot be read."""
    content = package.part(_CONTENT)
    body = next(children(content, "body"), None)
    text = next(children(body, "text"), None)
    if text is None:
        raise Refused("damaged")
    styles, properties = package.part("styles.xml"), package.part("meta.xml")
    read = _OpenDocumentReader(package, OpenDocumentStyles(styles, content), most_characters).read(text)
    author = "" if properties is None else next(
        (name for tag in ("initial-creator", "creator") if (name := properties.findtext(f".//{{*}}{tag}"))), ""
    )  # fmt: skip
    heads = [] if styles is None else [head for tag in _HEADS for head in styles.iter(f"{{*}}{tag}")]
    read.named = "" if properties is None else properties.findtext(".//{*}meta/{*}title") or ""
    read.add_properties(author, (_join_words(line) for head in heads for line in head.iter("{*}p")))
    return read


class _OpenDocumentReader:
    def __init__(self, package: OfficePackage, styles: OpenDocumentStyles, most_characters: int) -> None:
        self._package = package
        self._styles = styles
        self._text = OfficeParagraphs(most_characters)
        self._postponed: list[tuple[etree._Element, Look, OfficeHiding | None]] = []
        """Text boxes in the current paragraph, which are read after it."""

    def read(self, text: etree._Element) -> OfficeParagraphs:
        self._blocks(text, Look(), None)
        return self._text

    def _blocks(self, parent: etree._Element, outer_look: Look, reason: OfficeHiding | None, mark: str = "") -> None:
        for child in parent.iterchildren("*"):
            match get_local_name(child):
                case "p" | "h":
                    self._paragraph(child, outer_look, reason, mark)
                case "table":
                    self._read_table(child, outer_look, reason)
                case "tracked-changes":
                    for change in child.iter("{*}deletion"):
                        self._text.hide("deleted as a tracked change", _join_words(change))
                case "list-item":
                    self._blocks(child, outer_look, reason, "- ")
                case "section":
                    self._blocks(child, outer_look, reason or ("marked as hidden" if _is_hidden(child) else None))
                case "annotation":
                    self._text.hide("in a comment", _join_words(child))
                case _ if _is_text(child):
                    self._blocks(child, outer_look, reason, mark)

    def _paragraph(self, paragraph: etree._Element, outer_look: Look, reason: OfficeHiding | None, mark: str) -> None:
        name = attribute(paragraph, "style-name")
        look = self._styles.look("paragraph", name).over(outer_look)
        if any(attribute(item, "is-hidden") == "true" for item in paragraph.iter("{*}hidden-paragraph")):
            reason = reason or "marked as hidden"
        self._inline(paragraph, look, reason)
        level = _level(paragraph)
        is_title = self._styles.is_title(name) or _is_title_field(paragraph)
        self._text.end_paragraph(level, "" if level else mark, is_title=is_title)
        self._follow()

    def _follow(self) -> None:
        later, self._postponed = self._postponed, []
        for element, look, hiding in later:
            self._blocks(element, look, hiding)

    def _read_table(self, table: etree._Element, outer_look: Look, reason: OfficeHiding | None) -> None:
        """Read a table, with one line per row. Hidden columns are hidden in every row."""
        self._text.tables += reason is None
        outer_look = self._styles.look("table", attribute(table, "style-name")).over(outer_look)
        unseen = self._unseen_columns(table)
        for row in table.iter("{*}table-row"):
            if next(row.iterancestors("{*}table"), None) is not table:
                continue
            of_row = reason or ("in a hidden row, column or sheet" if self._is_unseen("table-row", row) else None)
            for place, cell in enumerate(self._text.row(children(row, "table-cell"))):
                hiding = of_row or ("in a hidden row, column or sheet" if place in unseen else None)
                look = self._styles.look("table-cell", attribute(cell, "style-name")).over(outer_look)
                self._cell(cell, look, hiding)
            self._text.end_paragraph()
            self._follow()

    def _cell(self, parent: etree._Element, outer_look: Look, reason: OfficeHiding | None) -> None:
        """Add a cell's text on one line, including any tables inside it."""
        for child in parent.iterchildren("*"):
            if get_local_name(child) in ("p", "h"):
                look = self._styles.look("paragraph", attribute(child, "style-name")).over(outer_look)
                self._inline(child, look, reason)
                self._text.add(" ")
            elif get_local_name(child) == "annotation":
                self._text.hide("in a comment", _join_words(child))
            elif _is_text(child):
                self._cell(child, outer_look, reason)

    def _unseen_columns(self, table: etree._Element) -> set[int]:
        unseen: set[int] = set()
        place = 0
        for column in table.iter("{*}table-column"):
            times = _count(attribute(column, "number-columns-repeated"))
            if self._is_unseen("table-column", column):
                unseen.update(range(place, place + times))
            place += times
        return unseen

    def _is_unseen(self, family: str, element: etree._Element) -> bool:
        own = attribute(element, "visibility")
        return own in ("collapse", "filter") or self._styles.is_collapsed(family, attribute(element, "style-name"))

    def _inline(self, parent: etree._Element, look: Look, reason: OfficeHiding | None) -> None:
        hiding = reason or look.explain_unseen()
        self._text.add(parent.text or "", hiding, script=look.script)
        for child in parent.iterchildren("*"):
            self._read_within(child, look, reason, hiding)
            self._text.add(child.tail or "", hiding, script=look.script)

    def _note(self, note: etree._Element, reason: OfficeHiding | None) -> str:
        """Read a footnote or endnote; return its mark, or an empty string if it has no visible text."""
        text, later = self._text, self._postponed
        self._text, self._postponed = OfficeParagraphs(text.characters_left), []
        for body in children(note, "note-body"):
            self._blocks(body, Look(), reason)
        outer_text, self._text, self._postponed = self._text, text, later
        return text.add_note(outer_text)

    def _object(self, element: etree._Element) -> None:
        """Add the text of an embedded formula. Other objects, such as charts, are only named."""
        folder = (attribute(element, "href") or "").removeprefix("./").strip("/")
        inner = next((child for child in element.iterchildren("*") if get_local_name(child) == "math"), None)
        formula = inner if inner is not None else self._package.part(f"{folder}/{_CONTENT}")
        if formula is not None and get_local_name(formula) == "math":
            self._text.add(f" {mathml_text(formula)} ")
        elif folder:
            self._text.left_out.append((f"the embedded object {folder!r}", "only formulas are read from objects"))

    def _read_span(self, span: etree._Element, look: Look, reason: OfficeHiding | None) -> None:
        """Read a span with a style of its own, or a link."""
        own_look = self._styles.look("text", attribute(span, "style-name"))
        outer = self._text.set_link(attribute(span, "href") or "") if get_local_name(span) == "a" else None
        self._inline(span, own_look.over(look), reason)
        if outer is not None:
            self._text.set_link(outer)

    def _read_unseen(self, element: etree._Element, name: str, reason: OfficeHiding | None) -> None:
        """Set apart a comment or hidden text; count the empty field of a form."""
        if name == "placeholder":
            self._text.empty_fields += 1
        elif name == "annotation":
            self._text.hide("in a comment", _join_words(element))
        else:
            self._text.add(attribute(element, "string-value") or element.text or "", reason or "marked as hidden")

    def _read_within(
        self, child: etree._Element, look: Look, reason: OfficeHiding | None, hiding: OfficeHiding | None
    ) -> None:
        match get_local_name(child):
            case "line-break" if not hiding:
                self._text.end_line()
            case "s" | "tab" | "line-break":
                self._text.add(" " * _count(attribute(child, "c")), hiding)
            case "span" | "a":
                self._read_span(child, look, reason)
            case "annotation" | "hidden-text" | "placeholder" as name:
                self._read_unseen(child, name, reason)
            case "text-box":
                self._postponed.append((child, Look(), reason))
            case "note":
                if mark := self._note(child, hiding):
                    self._text.add(f"[^{mark}]")
            case "object" if not hiding:
                self._object(child)
            case "frame":
                for part in child.iterchildren("*"):
                    self._read_within(part, look, reason, hiding)
            case _ if _is_text(child):
                self._inline(child, look, reason)


def _is_title_field(paragraph: etree._Element) -> bool:
    """Return whether a paragraph consists of the field that shows the document's title."""
    fields = [field for field in paragraph.iter(_TITLE_FIELD) if not _is_description(field)]
    words = "".join(map(str, paragraph.itertext(with_tail=False))).strip()
    return len(fields) == 1 and words == "".join(map(str, fields[0].itertext(with_tail=False))).strip() != ""


def _is_text(element: etree._Element) -> bool:
    """Return whether an element may hold text of the document."""
    name = get_local_name(element)
    return name not in _NOT_TEXT and not (name == "title" and _is_description(element))


def _is_description(title: etree._Element) -> bool:
    """Return whether an element named `title` describes a picture or a shape."""
    return "svg" in (etree.QName(title).namespace or "")


def _level(paragraph: etree._Element) -> int:
    if get_local_name(paragraph) == "p":
        return BODY
    return min(_count(attribute(paragraph, "outline-level")), _MAX_HEADING_LEVEL)


def _is_hidden(section: etree._Element) -> bool:
    display = attribute(section, "display")
    return display == "none" or (display == "condition" and attribute(section, "is-hidden") == "true")


def _count(number: str | None) -> int:
    """Return a repetition count, at most `_MAX_SPACES`; 1 if it is missing or invalid."""
    return min(int(number), _MAX_SPACES) if number and number.isascii() and number.isdigit() else 1


def _join_words(element: etree._Element) -> str:
    return " ".join(
        "".join(map(str, paragraph.itertext(with_tail=False))) for paragraph in element.iter("{*}p", "{*}h")
    )
