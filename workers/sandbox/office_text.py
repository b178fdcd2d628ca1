"""What is read of an office document: paragraphs with the level of their heading, and text that nobody sees.

Runs in the sandboxed process. Unlike a PDF, such a file has no picture that could be looked at: what counts is what it
says of its text's look.
"""

from typing import Literal, NamedTuple

__all__ = ["BODY", "HIDDEN_LENGTH", "MOST_HIDDEN", "Look", "OfficeHiding", "OfficeParagraphs", "TooMuchText"]

OfficeHiding = Literal[
    "marked as hidden",
    "tiny",
    "of the colour behind it",
    "without a fill",
    "off the page",
    "deleted, with the change recorded",
    "in a comment",
    "in a hidden row, column or sheet",
]

BODY = 0
"""The level of a paragraph that is no heading; headings count from 1."""
MOST_HIDDEN = 200
HIDDEN_LENGTH = 1_000
_TINY = 2.0
"""Points."""
_SQUEEZED = 10.0
"""Percent of a letter's width."""
_ALIKE = 0x20
_WHITE = "ffffff"
_BLACK = "000000"


class TooMuchText(Exception):
    """There is more than may be read."""


class Look(NamedTuple):
    """What decides whether text can be seen; None where nothing is said, and what lies below counts."""

    hidden: bool | None = None
    points: float | None = None
    width: float | None = None
    """Of its letters, in percent."""
    colour: str | None = None
    """Six hexadecimal digits; empty for whatever can be read on what is behind."""
    behind: str | None = None
    """The colour behind it; empty for none of its own."""
    unfilled: bool | None = None
    away: bool | None = None
    """Whether it is set off the page."""

    def over(self, below: "Look") -> "Look":
        return below._replace(**{name: own for name, own in self._asdict().items() if own is not None})

    def why_unseen(self) -> OfficeHiding | None:
        """None for text that can be seen."""
        if self.hidden:
            return "marked as hidden"
        if self.unfilled:
            return "without a fill"
        if self.away:
            return "off the page"
        if (self.points is not None and self.points <= _TINY) or (self.width is not None and self.width < _SQUEEZED):
            return "tiny"
        if self.colour and _alike(self.colour, self.behind or _WHITE):
            return "of the colour behind it"
        return None


def _alike(first: str, second: str) -> bool:
    return all(abs(a - b) < _ALIKE for a, b in zip(_parts(first), _parts(second), strict=True))


def _parts(colour: str) -> tuple[int, int, int]:
    """Red, green and blue; black for what is no colour."""
    try:
        number = int(colour[:6].ljust(6, "0"), 16)
    except ValueError:
        number = int(_BLACK, 16)
    return number >> 16, number >> 8 & 0xFF, number & 0xFF


class OfficeParagraphs:
    """Collects the paragraphs of a document in their order."""

    def __init__(self, most_characters: int) -> None:
        self._left = most_characters
        self._shown: list[str] = []
        self._unseen: list[tuple[OfficeHiding, str]] = []
        self.paragraphs: list[tuple[int, str]] = []
        """Level of the heading, and text on one line."""
        self.hidden: list[tuple[OfficeHiding, str]] = []
        self.title = ""
        self.parts_unread = 0
        """Documents within the document."""

    def add(self, text: str, why: OfficeHiding | None = None) -> None:
        """To the paragraph under way. Raises TooMuchText."""
        self._left -= len(text)
        if self._left < 0:
            raise TooMuchText
        if why is None:
            self._shown.append(text)
        elif self._unseen and self._unseen[-1][0] == why:
            self._unseen[-1] = why, self._unseen[-1][1] + text
        else:
            self._unseen.append((why, text))

    def end_paragraph(self, level: int = BODY, mark: str = "", is_title: bool = False) -> None:
        """`mark` goes before what it shows, if anything. The first title is the document's."""
        shown = " ".join("".join(self._shown).split())
        if shown and is_title and not self.title:
            self.title = shown
        elif shown:
            self.paragraphs.append((max(level, BODY), mark + shown))
        for why, text in self._unseen:
            self.hide(why, text)
        self._shown, self._unseen = [], []

    def hide(self, why: OfficeHiding, text: str) -> None:
        """Keeps what is no part of a paragraph."""
        line = " ".join(text.split())[:HIDDEN_LENGTH]
        if line and len(self.hidden) < MOST_HIDDEN:
            self.hidden.append((why, line))
