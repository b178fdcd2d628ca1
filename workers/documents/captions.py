"""Finds the captions of figures and tables among the lines of a PDF: by their first words and their type."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from assayer.models import Caption
from assayer.sanitise import clean_text
from workers.documents.lines import Line, Style

__all__ = ["take_captions"]

_START = re.compile(
    r"(?P<kind>fig(?:ure)?|tab(?:le)?)\b\.?\s+(?P<label>[A-Z]{0,2}\.?\d{1,3}[a-z]?|[IVX]{1,5})\b(?P<mark>[.:|]?)\s*"
    r"(?P<text>.*)",
    re.IGNORECASE,
)
_MOST_LINES = 25
_MOST_TABLE_LINES = 4
"""What follows a table's caption in the same type is the table."""


class _Start(NamedTuple):
    kind: str
    label: str
    text: str
    apart: bool
    """Set in other type than the text, so that its end shows."""


def take_captions(lines: Sequence[Line], body: Style) -> tuple[list[Line], list[Caption]]:
    """The lines without captions that stand apart from the text, and all captions in their order."""
    left: list[Line] = []
    captions: list[Caption] = []
    place = 0
    while place < len(lines):
        start = _start(lines[place], body)
        if start is None:
            left.append(lines[place])
            place += 1
            continue
        length = _length(lines, place, start)
        text = " ".join([start.text, *(line.text for line in lines[place + 1 : place + length])]).strip()
        if text:
            kind = start.kind.casefold()
            captions.append(
                Caption(kind="table" if kind[0] == "t" else "figure", label=start.label, text=clean_text(text))
            )
        if not start.apart:
            left += lines[place : place + length]
        place += length
    return left, captions


def _start(line: Line, body: Style) -> _Start | None:
    match = _START.match(line.text)
    if match is None:
        return None
    apart = abs(line.style.size - body.size) >= 0.4
    begins = match["mark"] == ":" or (apart and (not match["text"] or match["text"][0].isupper()))
    return _Start(match["kind"], match["label"], match["text"], apart) if begins else None


def _length(lines: Sequence[Line], place: int, start: _Start) -> int:
    """Lines of the caption that begins there: to the end of its type, or of a sentence where the type tells nothing."""
    first = lines[place]
    most = _MOST_LINES if start.apart and start.kind[0] not in "tT" else _MOST_TABLE_LINES
    by_sentence = not start.apart or start.kind[0] in "tT"
    for length in range(1, most):
        if by_sentence and lines[place + length - 1].text.endswith("."):
            return length
        following = lines[place + length] if place + length < len(lines) else None
        if (
            following is None
            or following.page != first.page
            or abs(following.style.size - first.style.size) >= 0.4
            or _START.match(following.text)
        ):
            return length
    return most if start.apart else 1
