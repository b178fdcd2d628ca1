"""What blind mode took out of an idea before anything judged it."""

from typing import Literal

from assayer.models.base import Frozen

__all__ = ["BlindDefault", "Blinding", "MaskedKind", "MaskedText", "UnblindedWords", "judged_blind"]

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
"""Which ideas are judged blind where the request does not say. several: those that were given together: batches,
rankings, comparisons, several ideas or a folder on the command line."""


def judged_blind(said: bool | None, default: BlindDefault, *, several: bool) -> bool:
    """Whether ideas are judged blind. `said`: by the request, None where it does not say. `several`: whether they were
    given together, however many of them could be read."""
    return said if said is not None else default == "always" or (several and default == "several")


class MaskedText(Frozen):
    """Words without which the idea is judged: no language model and no embedding is shown its text with them."""

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
    """The idea as it came in: for recognising its own paper, and for reading the list of its references. Never for a
    model."""

    title: str
    text: str
