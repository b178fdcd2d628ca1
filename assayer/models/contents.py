"""What a paper's title and abstract hold: concepts and methods by name, and claims."""

from typing import Literal

from assayer.models.base import Frozen

__all__ = ["ContentKind", "NamedContent", "PaperContents"]

ContentKind = Literal["concept", "method"]


class NamedContent(Frozen):
    kind: ContentKind
    name: str
    """As the paper, or the first paper of its segment that has it, writes it."""
    introduced: bool = False
    """The paper says that it proposes it."""
    built_on: bool = False
    """The paper says that it builds on it."""
    sentence: str
    """Of the title or the abstract, where it stands first."""


class PaperContents(Frozen):
    named: tuple[NamedContent, ...] = ()
    """In order of appearance; each name once."""
    claims: tuple[str, ...] = ()
    """Sentences of the abstract that say what was found."""
