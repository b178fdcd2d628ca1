"""Record of what blind mode removed from an idea before it was judged."""

from typing import Literal

from assayer.models.base import Frozen

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
"""Default for which ideas are judged blind if the request does not specify it. `several` means ideas submitted
together: batches, rankings, comparisons, and several ideas or a folder on the command line."""


def judged_blind(said: bool | None, default: BlindDefault, *, several: bool) -> bool:
    """Return whether ideas are judged blind: as the request states, or by `default` if it states nothing (None).
    `several` is whether the ideas were submitted together, however many of them could be read."""
    return said if said is not None else default == "always" or (several and default == "several")


class MaskedText(Frozen):
    """Text masked before the idea is judged; no language model or embedding model sees it."""

    kind: MaskedKind
    text: str
    """Text as it appeared in the idea, on one line."""
    times: int = 1


class Blinding(Frozen):
    """Record that an idea was judged blind, and of what was masked. If `masked` is empty, no rule found anything to
    mask."""

    rules: int
    """Version of the masking rules."""
    masked: tuple[MaskedText, ...] = ()
    """Masked texts in order of first occurrence."""


class UnblindedWords(Frozen):
    """Unmasked title and text of the idea, used to recognise its own paper and to read its reference list. Never
    shown to a model."""

    title: str
    text: str
