"""Viewpoints: what an idea says, one statement at a time, and who took it apart."""

from assayer.models import Frozen

__all__ = ["Refused", "Viewpoint", "Viewpoints"]


class Viewpoint(Frozen):
    """One statement of an idea: an idea, an argument or a fact."""

    text: str
    """Readable without the rest of the idea, unless marked otherwise."""
    words: str
    """The words of the idea that it rests on, as they stand there, on one line."""
    self_contained: bool = True
    """False when it begins with a word whose referent could not be supplied."""


class Refused(Frozen):
    """A statement that is not used, and why."""

    text: str
    reason: str


class Viewpoints(Frozen):
    """All statements of one idea, in its order."""

    viewpoints: tuple[Viewpoint, ...]
    maker: str
    """`splitter v1`, or the task with its version and model."""
    refused: tuple[Refused, ...] = ()
