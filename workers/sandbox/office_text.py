"""Collect an office document's text: paragraphs with their heading levels, and hidden text.

Runs in the sandboxed process. Unlike a PDF page, an office file cannot be rendered here for comparison, so the
formatting stated in the file decides whether text is visible."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple, TypeVar

from assayer.reference_lists.identifiers import arxiv_ids_in, dois_in
from assayer.reference_lists.link_targets import link_address
from assayer.text.form_fields import EMPTY_FIELD
from assayer.text.raised_text import Script, join_scripts
from workers.sandbox.refusal import Refused

Cell = TypeVar("Cell")
OfficeHiding = Literal[
    "marked as hidden",
    "tiny",
    "in the background colour",
    "without a fill",
    "off the page",
    "deleted as a tracked change",
    "in a comment",
    "in a hidden row, column or sheet",
]

BODY = 0
"""Level of a paragraph that is not a heading. Headings count from 1."""
BOLD_LINE = -1
"""Level of a line that is entirely bold, and so may be a heading without a heading style."""
AUTHOR_PROPERTY, HEADS = "author of the file", "headers and footers"
"""Names of fields above the text: the author in the file's properties, and the lines of headers and footers."""
_MAX_HEADS, _MAX_HEAD_CHARS = 12, 200
_MAX_INSTRUCTION_CHARS = 60
MAX_HIDDEN_TEXTS = 200
"""Maximum number of hidden texts reported."""
MAX_HIDDEN_CHARS = 1_000
"""Maximum length of each reported hidden text, in characters."""
_MAX_TITLE_CHARS = 60
"""Maximum length in characters of a line that may be a list's heading."""
_TITLE_STYLE = re.compile(
    r"(?:(?:paper|document|doc|proposal|project|manuscript|article|main|thesis)[ _-]?)?"
    r"(?:title|titel|titre|título|titulo|titolo|tytuł|tittel|rubrik)",
    re.IGNORECASE,
)
_INSTRUCTION_STYLE = re.compile(
    r"(?:form |template |grant |applicant )?(?:instructions?|guidance|guidelines?|help ?text|hinweise?|"
    r"ausfüllhinweise?|consignes?|instrucci(?:ón|ones)|istruzioni|toelichting)\b",
    re.IGNORECASE,
)
_MAX_TINY_POINTS = 2.0
"""Size, in points, at or below which text is too small to read."""
_MIN_WIDTH_PERCENT = 10.0
"""Percentage of a letter's normal width below which text counts as squeezed."""
_MAX_COLOUR_DIFFERENCE = 0x20
_WHITE = "ffffff"
_BLACK = "000000"


class TextLook(NamedTuple):
    """Formatting that decides whether text is visible. A property that is None is inherited from the underlying
    style."""

    hidden: bool | None = None
    points: float | None = None
    width: float | None = None
    """Width of the letters, in percent."""
    colour: str | None = None
    """Text colour as six hexadecimal digits; empty for an automatic colour that is readable on its background."""
    background: str | None = None
    """Background colour; empty if the text has no separate background."""
    is_unfilled: bool | None = None
    is_off_page: bool | None = None
    """Whether the text is placed off the page."""
    bold: bool | None = None
    script: Script | None = None

    def override(self, base: "TextLook") -> "TextLook":
        return base._replace(**{name: value for name, value in self._asdict().items() if value is not None})

    def find_hiding(self) -> OfficeHiding | None:
        """Return why the text is invisible, or None if it is visible."""
        if self.hidden:
            return "marked as hidden"
        if self.is_unfilled:
            return "without a fill"
        if self.is_off_page:
            return "off the page"
        if (self.points is not None and self.points <= _MAX_TINY_POINTS) or (
            self.width is not None and self.width < _MIN_WIDTH_PERCENT
        ):
            return "tiny"
        if self.colour and _look_alike(self.colour, self.background or _WHITE):
            return "in the background colour"
        return None


def is_instruction_style(name: str) -> bool:
    """Return whether a style with this name is for the instructions of a form."""
    return _INSTRUCTION_STYLE.match(name) is not None


def is_title_style(name: str) -> bool:
    """Return whether a paragraph style with this name is for the document's title."""
    return _TITLE_STYLE.fullmatch(name) is not None


def _look_alike(first_colour: str, second_colour: str) -> bool:
    return all(
        abs(a - b) < _MAX_COLOUR_DIFFERENCE
        for a, b in zip(_parse_rgb(first_colour), _parse_rgb(second_colour), strict=True)
    )


def _parse_rgb(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue, each from 0 to 255; black if the text is not a colour."""
    try:
        number = int(colour[:6].ljust(6, "0"), 16)
    except ValueError:
        number = int(_BLACK, 16)
    return number >> 16, number >> 8 & 0xFF, number & 0xFF


class _Piece(NamedTuple):
    text: str
    bold: bool
    script: Script = ""
    link: str = ""
    """Address of the work that the text is linked to; empty if there is none."""


class OfficeParagraphs:
    """A document's paragraphs, collected in order."""

    def __init__(self, most_characters: int) -> None:
        self._characters_left = most_characters
        self._visible_pieces: list[_Piece] = []
        """Visible text of the current paragraph. Lines end with `\\n`."""
        self._hidden_pieces: list[tuple[OfficeHiding, str]] = []
        self.paragraphs: list[tuple[int, str]] = []
        """Paragraphs, as pairs of heading level and text on one line."""
        self.hidden: list[tuple[str, str]] = []
        """Hidden texts, each with the reason why it is hidden."""
        self.notes: list[tuple[str, str]] = []
        """Footnotes and endnotes, each with the mark by which the text refers to it, as `[^mark]`."""
        self.left_out: list[tuple[str, str]] = []
        """Parts that were not read, and why."""
        self.front_matter: list[tuple[str, str]] = []
        """Metadata fields above the text, such as its authors."""
        self.reference_lines: list[str] = []
        """Reference list entries that the document marks as such, each with its number."""
        self._link = ""
        """Address of the work that the text being added is linked to."""
        self.empty_fields = 0
        """Number of fields of a form that hold only a prompt, which is not read."""
        self.instructions: list[str] = []
        """Instructions of a form, in a style of their own, which are not read."""
        self.tables = 0
        self.in_row = False
        self.title = ""
        """Text styled as the document's title, with a line for each paragraph."""
        self.named = ""
        """Title in the properties of the file, which may be out of date."""
        self.parts_unread = 0
        """Number of embedded documents, which are not read."""

    @property
    def characters_left(self) -> int:
        return self._characters_left

    def add(
        self, text: str, reason: OfficeHiding | None = None, *, bold: bool = False, script: Script | None = None
    ) -> None:
        """Add text to the current paragraph. Raises Refused if the document has too much text."""
        self._characters_left -= len(text)
        if self._characters_left < 0:
            raise Refused("too_much_text")
        if reason is None:
            self._visible_pieces.append(_Piece(text.replace("\n", " "), bold, script or "", self._link))
        elif self._hidden_pieces and self._hidden_pieces[-1][0] == reason:
            self._hidden_pieces[-1] = reason, self._hidden_pieces[-1][1] + text
        else:
            self._hidden_pieces.append((reason, text))

    def set_link(self, target: str) -> str:
        """Set the target of the link in which text is added from now on, or none if it identifies no work. Return the
        target before."""
        outer_link, self._link = self._link, link_address(target)
        return outer_link

    def add_from_part(self, part: "OfficeParagraphs") -> None:
        """Add everything except the text from a part that was read separately."""
        self.hidden += part.hidden[: MAX_HIDDEN_TEXTS - len(self.hidden)]
        self.notes += part.notes
        self.left_out += part.left_out
        self.front_matter += part.front_matter
        self.empty_fields += part.empty_fields

    def add_properties(self, author: str, heads: Iterable[str]) -> None:
        """Add what names the authors but is not part of the text: the author in the file's properties, and the lines of
        headers and footers, without duplicates."""
        lines = dict.fromkeys(" ".join(line.split())[:_MAX_HEAD_CHARS] for line in heads)
        visible_lines = [line for line in lines if any(map(str.isalpha, line))][:_MAX_HEADS]
        self.front_matter += [(AUTHOR_PROPERTY, author.strip())] if author.strip() else []
        self.front_matter += [(HEADS, "; ".join(visible_lines))] if visible_lines else []

    def add_row(self, cells: Iterable[Cell]) -> Iterator[Cell]:
        """Yield a table row's cells. The caller adds each cell's text before taking the next. The row becomes one line,
        including any tables inside it."""
        self.in_row = True
        for index, cell in enumerate(cells):
            if index:
                self.add(" | ")
            yield cell
        self.in_row = False

    def open_list(self) -> None:
        """Add a heading before a reference list, unless the list already follows a heading or another short line."""
        if self.paragraphs and len(self.paragraphs[-1][1]) > _MAX_TITLE_CHARS:
            level = min((level for level, _ in self.paragraphs if level > BODY), default=1)
            self.paragraphs.append((level, "References"))

    def end_line(self) -> None:
        """End a line within the current paragraph."""
        self._visible_pieces.append(_Piece(" " if self.in_row else "\n", True))

    def add_note(self, note: "OfficeParagraphs") -> str:
        """Add a note's paragraphs and hidden texts; return its mark, or an empty string if it has no visible text."""
        self._characters_left = min(self._characters_left, note.characters_left)
        self.hidden += note.hidden[: MAX_HIDDEN_TEXTS - len(self.hidden)]
        self.empty_fields += note.empty_fields
        text = " ".join(text for _, text in note.paragraphs)
        if text:
            self.notes.append((str(len(self.notes) + 1), text))
        return self.notes[-1][0] if text else ""

    def end_paragraph(self, level: int = BODY, mark: str = "", is_title: bool = False) -> None:
        """End the current paragraph. `mark` is put before its visible text, if any. The first titles, if nothing stands
        between them, become the document's title."""
        lines = _split_lines(self._visible_pieces)
        visible_text = " ".join(text for text, _ in lines if text)
        if visible_text and is_title and (not self.title or not self.paragraphs):
            self.title = f"{self.title}\n{visible_text}".strip()
        elif visible_text and level > BODY:
            self.paragraphs.append((level, mark + visible_text))
        elif visible_text:
            self._add_lines(lines, mark)
        for reason, text in self._hidden_pieces:
            self.hide(reason, text)
        self._visible_pieces, self._hidden_pieces = [], []

    def _add_lines(self, lines: list[tuple[str, bool]], mark: str) -> None:
        """Add a text paragraph's lines, split at blank lines. Each bold line becomes a separate paragraph, because it
        may be a heading."""
        for (bold, is_blank), group in groupby(lines, key=lambda line: (line[1], not line[0])):
            texts = [text for text, _ in group]
            if is_blank:
                continue
            if bold and not mark:
                self.paragraphs += [(BOLD_LINE, text) for text in texts]
            else:
                self.paragraphs.append((BODY, mark + "\n".join(texts)))
            mark = ""

    def to_json(self) -> dict[str, object]:
        """Return the contents as the JSON object that the process outputs."""
        return {
            "kind": "text",
            "title": self.title,
            "named": self.named,
            "paragraphs": self.paragraphs,
            "hidden": self.hidden,
            "notes": self.notes,
            "left_out": [*self.left_out, *self._list_unread_form_parts()],
            "front_matter": self.front_matter,
            "reference_lines": self.reference_lines,
            "tables": self.tables,
            "parts_unread": self.parts_unread,
        }

    def _list_unread_form_parts(self) -> Iterator[tuple[str, str]]:
        if self.empty_fields:
            yield f"{self.empty_fields} empty field{'s' * (self.empty_fields > 1)}", EMPTY_FIELD
        if self.instructions:
            count, first_instruction = len(self.instructions), self.instructions[0][:_MAX_INSTRUCTION_CHARS]
            part = (
                f"the instruction {first_instruction!r}"
                if count == 1
                else f"{count} instructions, the first {first_instruction!r}"
            )
            yield part, "the style marks it as an instruction of the form"

    def hide(self, reason: OfficeHiding, text: str) -> None:
        """Record hidden text that is not part of a paragraph."""
        line = " ".join(text.split())[:MAX_HIDDEN_CHARS]
        if line and len(self.hidden) < MAX_HIDDEN_TEXTS:
            self.hidden.append((reason, line))


def _write_links(line: Sequence[_Piece]) -> Iterator[tuple[str, Script]]:
    """Yield the pieces of a line, with links to works written as in Markdown, each work once."""
    written_links = {""}
    for link, group in groupby(line, key=lambda piece: piece.link):
        pieces = list(group)
        words = "".join(piece.text for piece in pieces)
        opening_mark, closing_mark = (
            ("", "") if link in written_links or not words.strip() else _build_link_marks(words, link)
        )
        written_links.add(link)
        yield opening_mark, ""
        yield from ((piece.text, piece.script) for piece in pieces)
        yield closing_mark, ""


def _build_link_marks(words: str, address: str) -> tuple[str, str]:
    """Return what stands before and after the words of a link; nothing if the words print the address."""
    if {*dois_in(address), *arxiv_ids_in(address)} & {*dois_in(words), *arxiv_ids_in(words)}:
        return "", ""
    return ("", f" ({address})") if "[" in words or "]" in words else ("[", f"]({address})")


def _split_lines(pieces: Iterable[_Piece]) -> list[tuple[str, bool]]:
    """Return (line, is_bold) pairs. A line is bold if all its letters are; blank lines are not bold."""
    lines: list[list[_Piece]] = [[]]
    for piece in pieces:
        if piece.text == "\n":
            lines.append([])
        else:
            lines[-1].append(piece)
    joined_lines = ((" ".join(join_scripts(_write_links(line)).split()), line) for line in lines)
    return [
        (text, bool(text) and all(piece.bold for piece in line if piece.text.strip())) for text, line in joined_lines
    ]
