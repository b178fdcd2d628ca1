"""A research idea as it came in."""

import datetime as dt
from typing import Literal, NewType

from assayer.models.base import Frozen

IdeaId = NewType("IdeaId", str)

FlagKind = Literal["hidden_text", "bidi_text", "homoglyphs", "suspected_injection", "label_lookalike"]


class TextFlag(Frozen):
    """Something suspicious that the sanitiser found (and, where it was invisible, removed)."""

    kind: FlagKind
    excerpt: str
    """At most 160 characters around the place."""
    offset: int
    """Characters from the start of the sanitised text."""


class Section(Frozen):
    """A titled stretch of text, of an idea or of a paper."""

    title: str
    text: str


class Idea(Frozen):
    """A research idea or proposal: sanitised text, split at its own headings."""

    id: IdeaId
    """Hash of title and text: the same words are the same idea."""
    title: str
    text: str
    """The whole text, headings included."""
    sections: tuple[Section, ...]
    source: str
    """Where it came from, for people: a file name, `file.jsonl:12`."""
    cutoff: dt.date | None = None
    """Literature published after this day must not be used to judge the idea."""
    flags: tuple[TextFlag, ...] = ()
