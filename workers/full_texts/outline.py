"""Puts the pieces of a paper, each under its own heading, together to its main sections."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from assayer.imrad import Part, number_of, opens_part, part_of, without_number
from assayer.models import Section

__all__ = ["Piece", "main_sections"]

_UNTITLED = "Text"
_ROMAN = re.compile(r"[IVX]+")
_ROMAN_PAIR = re.compile(r"[IVX]{2,}|[VX]")
_LETTER = re.compile(r"[A-Z]")
_SUBJECT_OPENS: tuple[Part | None, ...] = (None, "abstract", "introduction")
"""Parts after which a title that names only its subject opens a section; elsewhere it belongs to the part before it."""


class Piece(NamedTuple):
    """Text under one heading; both may be empty."""

    number: str
    """Of the heading, where it stands apart from the title."""
    title: str
    text: str


def main_sections(pieces: Iterable[Piece]) -> tuple[Section, ...]:
    """Main sections, with the headings inside them on lines of their own; those without text are left out."""
    headed = [_headed(piece) for piece in pieces]
    opens = _openings(headed)
    sections: list[tuple[str, list[str]]] = []
    for piece, opening in zip(headed, opens, strict=True):
        if opening or not sections:
            sections.append((piece.title or _UNTITLED, []))
        elif piece.title:
            sections[-1][1].append(f"{piece.number} {piece.title}".strip())
        if piece.text.strip():
            sections[-1][1].append(piece.text.strip())
    texts = ((title, "\n\n".join(parts)) for title, parts in sections)
    return tuple(Section(title=title, text=text) for title, text in texts if text)


def _headed(piece: Piece) -> Piece:
    """With the number that stands in front of the title, unless it stands apart."""
    title = " ".join(piece.title.split())
    number = piece.number.strip().strip(".):") or number_of(title)
    return Piece(number, without_number(title), piece.text)


def _openings(pieces: Sequence[Piece]) -> Iterator[bool]:
    numbers = [piece.number for piece in pieces if piece.number]
    if len(numbers) >= 3:
        return _by_number(pieces, roman=sum(bool(_ROMAN_PAIR.fullmatch(number)) for number in numbers) >= 2)
    return _by_part(pieces)


def _by_number(pieces: Iterable[Piece], *, roman: bool) -> Iterator[bool]:
    begun = False
    for piece in pieces:
        if piece.number:
            begun = True
            yield _is_main_number(piece.number, roman)
        else:
            opens = opens_part(piece.title) is not None or part_of(piece.title) == "back"
            yield bool(piece.title) and (opens or not begun)


def _is_main_number(number: str, roman: bool) -> bool:
    if roman:
        return _ROMAN.fullmatch(number) is not None
    return not re.search(r"[.-]", number) and (number.isdigit() or _LETTER.fullmatch(number) is not None)


def _by_part(pieces: Iterable[Piece]) -> Iterator[bool]:
    current: Part | None = None
    for piece in pieces:
        part = part_of(piece.title) if piece.title else None
        opens = bool(piece.title) and _opens(piece.title, part, current)
        if opens:
            current = part
        yield opens


def _opens(title: str, part: Part | None, current: Part | None) -> bool:
    if part is None:
        return current in _SUBJECT_OPENS
    if part != current:
        return True
    # Names of methods (participants, procedure, data …) are also those of their subsections.
    return part != "methods" and opens_part(title) is not None
