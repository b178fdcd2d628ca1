"""Question and answer of the support check; the answer gives evidence before the outcome."""

from typing import Annotated, Literal

from pydantic import Field

from assayer.citing.answer_texts import TextRole
from assayer.models import Frozen


class SupportItem(Frozen):
    """Claim and the words quoted for it. Labels are valid only within their prompt."""

    label: str
    claim: str
    """Text of the claim. Citations of the passage's paper read `[this source]`, all others `[another source]`."""
    passage: str
    more: tuple[str, ...] = ()
    """Other passages from the same paper; the claim is checked against all passages together."""
    title: str
    advice: bool = False
    """True if the claim is part of a suggestion, which need not say anything about the paper."""

    @property
    def passages(self) -> tuple[str, ...]:
        return (self.passage, *self.more)


class SupportQuestion(Frozen):
    items: tuple[SupportItem, ...]


class SupportVerdict(Frozen):
    label: Annotated[str, Field(pattern=r"^C\d+$", description="Label of one of the items given, e.g. C3.")]
    carried: Annotated[str, TextRole.COPIED] = Field(
        description='Words copied exactly from this item\'s passages that bear on the claim, at most 40, with " … " '
        "between those of different passages; an empty string if there are none."
    )
    missing: str = Field(
        description="At most 30 words: what is claimed but not in the passages, or denied by them; empty if nothing "
        "is. Cites nothing."
    )
    outcome: Literal["supports", "partly", "not", "contradicts", "nothing_claimed"]


class SupportAnswer(Frozen):
    verdicts: list[SupportVerdict] = Field(description="One for each item given, in order.")
