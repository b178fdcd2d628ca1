"""Which ideas are judged blind, and the words that blind mode removes."""

from typing import Literal

from assayer.models.base import Frozen

BlindDefault = Literal["always", "several", "never"]
"""Default rule for which ideas are judged blind if the request does not specify it. `several` means ideas submitted
together: batches, rankings, comparisons, and several ideas or a folder on the command line."""


def judged_blind(requested: bool | None, default: BlindDefault, *, several: bool) -> bool:
    """Return whether ideas are judged blind: as the request says (`requested`), or by `default` if it does not say
    (None). `several` is true if the ideas were submitted together, regardless of how many of them could be read."""
    return requested if requested is not None else default == "always" or (several and default == "several")


class UnblindedWords(Frozen):
    """Unmasked title and text of the idea, used to recognise its own paper and to read its reference list. Never
    shown to a model."""

    title: str
    text: str
