"""A research idea as it came in."""

import datetime as dt
import hashlib
from collections.abc import Iterable
from typing import Literal, NewType

from assayer.models.base import Frozen
from assayer.models.blinding import Blinding, UnblindedWords
from assayer.models.cited_work import CitedWork

IdeaId = NewType("IdeaId", str)

FlagKind = Literal["hidden_text", "bidi_text", "homoglyphs", "suspected_injection", "label_lookalike"]


class TextFlag(Frozen):
    """Something suspicious that the sanitiser found (and, where it was invisible, removed)."""

    kind: FlagKind
    excerpt: str
    """At most 160 characters around the place."""
    offset: int
    """Characters from the start of the sanitised text."""


def suspicious_kinds(flags: Iterable[TextFlag]) -> tuple[FlagKind, ...]:
    """What people should look at, each kind once. Look-alikes of our labels are harmless where they were rewritten."""
    return tuple(sorted({flag.kind for flag in flags} - {"label_lookalike"}))


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
    references: tuple[CitedWork, ...] = ()
    """Its own, where a parser of its document (GROBID) has told them apart. Otherwise they are read from the text."""
    blinding: Blinding | None = None
    """What was masked in title, text and sections; None for an idea that is judged as it came in."""
    unblinded: UnblindedWords | None = None
    """Title and text before masking, where that was done."""

    @property
    def own_words(self) -> UnblindedWords:
        """As the idea came in, masked or not: for recognising its own paper and references, never for a model."""
        return self.unblinded or UnblindedWords(title=self.title, text=self.text)

    @property
    def judged_id(self) -> str:
        """Of the words that are judged: two ideas that differ in what is masked are one here."""
        if self.blinding is None:
            return self.id
        words = " ".join(f"{self.title} {self.text}".split())
        return hashlib.sha256(words.encode()).hexdigest()[:16]
