"""What a judgement is made of: scores, and points that cite."""

from typing import Literal, NewType

from assayer.models.base import Frozen

__all__ = ["Citation", "Label", "Point", "Score"]

Label = NewType("Label", str)
"""`P3`: stands for one of the report's references; written `[P3]` in texts."""


class Score(Frozen):
    """A number on a stated scale, and what it rests on."""

    value: float
    scale_min: float = 0.0
    scale_max: float = 10.0
    basis: str


class Citation(Frozen):
    """A reference that carries a point, with the words that carry it."""

    label: Label
    quote: str | None
    """The words quoted from the paper; None when the point cites the paper as a whole."""
    quote_state: Literal["verified", "not_found", "none"]
    """`not_found`: the quoted words are not in the text that was shown; the point is marked."""


class Point(Frozen):
    """One strength, weakness, suggestion … in a sentence or two, with `[P3]` labels in the text."""

    kind: Literal["support", "contradiction", "strength", "weakness", "suggestion"]
    text: str
    citations: tuple[Citation, ...] = ()
    downgraded: bool = False
    """True when none of its quotes could be found in the sources."""
