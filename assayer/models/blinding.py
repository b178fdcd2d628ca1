"""Blind mode: the rule for when it applies, and the words that it removes."""

from typing import Literal

from assayer.models.base import Frozen

BlindDefault = Literal["always", "several", "never"]
"""Rule for which ideas are judged blind if the request does not say. `several` applies to ideas submitted together:
batches, rankings, comparisons, and several ideas or a folder on the command line."""


def is_judged_blind(requested: bool | None, default: BlindDefault, *, several: bool) -> bool:
    """Return whether ideas are judged blind. `requested` is the request's choice; if it is None, `default` decides.
    `several` is true if the ideas were submitted together, however many of them could be read."""
    return requested if requested is not None else default == "always" or (several and default == "several")


class UnblindedWords(Frozen):
    """Unmasked title and text of an idea. They are used to recognise the idea's own publication and to read its
    reference list, and are never shown to a model."""

    title: str
    text: str
