"""Content extracted from a paper's title and abstract: named concepts and methods, and claims."""

from typing import Literal

from assayer.models.base import Frozen

ContentKind = Literal["concept", "method"]


class NamedContent(Frozen):
    kind: ContentKind
    name: str
    """Name as the paper writes it, or as the first paper in its corpus segment to mention it does."""
    introduced: bool = False
    """True if the paper says that it proposes this concept or method."""
    built_on: bool = False
    """True if the paper says that it builds on this concept or method."""
    sentence: str
    """Sentence in the title or abstract in which the name first appears."""


class PaperContents(Frozen):
    named: tuple[NamedContent, ...] = ()
    """Concepts and methods in order of appearance, each name once."""
    claims: tuple[str, ...] = ()
    """Sentences in the abstract that state findings."""
