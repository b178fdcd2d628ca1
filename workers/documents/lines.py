"""The lines of a PDF and the type that they are set in."""

from typing import NamedTuple

__all__ = ["Line", "Style"]


class Style(NamedTuple):
    font: str
    size: float
    """In points, after all scaling."""
    bold: bool
    italic: bool
    upright: bool
    """False for text that runs up the margin."""


class Line(NamedTuple):
    page: int
    style: Style
    uniform: bool
    """Whether its first, middle and last letters share that style."""
    text: str
