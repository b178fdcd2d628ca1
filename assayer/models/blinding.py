"""What blind mode took out of an idea before anything judged it."""

from typing import Literal

from assayer.models.base import Frozen

__all__ = ["BlindDefault", "Blinding", "MaskedKind", "MaskedText", "UnblindedWords"]

MaskedKind = Literal[
    "name",
    "role",
    "affiliation",
    "email",
    "orcid",
    "contact",
    "funding",
    "acknowledgement",
    "biography",
]


BlindDefault = Literal["always", "several", "never"]
"""Which ideas are judged blind where the request does not say. several: those that are judged together: batches,
several ideas on the command line. Rankings and comparisons show ideas as they came in."""


class MaskedText(Frozen):
    """Words that no model and no search saw."""

    kind: MaskedKind
    text: str
    """As it stood in the idea, on one line."""
    times: int = 1


class Blinding(Frozen):
    """That an idea was judged blind, and what that hid. Nothing masked: no rule found anything to mask."""

    rules: int
    """Version of the rules that looked for what to mask."""
    masked: tuple[MaskedText, ...] = ()
    """In the order in which it first occurs."""


class UnblindedWords(Frozen):
    """The idea as it came in: for recognising its own paper and its references, never for a model."""

    title: str
    text: str
