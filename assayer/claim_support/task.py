"""LLM task that checks whether quotes support claims: prompt, answer schema and constraints. There is no check without
a language model."""

from typing import Annotated, Literal

from pydantic import Field

from assayer.citing.answer_texts import TextRole
from assayer.citing.labels import check_each_once
from assayer.llm import AnswerBounds, Cut, LabelledList, Task
from assayer.models import Frozen
from assayer.prompts import Prompts
from assayer.text.sentences import sentences


class SupportItem(Frozen):
    """A claim, with the words quoted in support of it. Labels are valid only within their prompt."""

    label: str
    claim: str
    """Text of the claim. A citation of this passage's paper reads `[this source]`; any other, `[another source]`."""
    passage: str
    more: tuple[str, ...] = ()
    """Further passages from the same paper; the claim is checked against all of its passages together."""
    title: str
    advice: bool = False
    """Whether the claim is part of a suggestion, which need not say anything about the paper."""

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


def _check(question: SupportQuestion, answer: SupportAnswer) -> list[str]:
    return check_each_once(
        [item.label for item in question.items], (verdict.label for verdict in answer.verdicts), "item"
    )


def _bound(question: SupportQuestion) -> AnswerBounds:
    """Limit `carried` to the sentences in each item's passages."""
    passage_sentences = [sentences("\n\n".join(item.passages), min_words=1) or [""] for item in question.items]
    labels = [item.label for item in question.items]
    return AnswerBounds(lists={"verdicts": LabelledList(labels, {"carried": passage_sentences})})


SUPPORT = Task[SupportQuestion, SupportAnswer](
    "support.claims",
    Prompts("assayer.claim_support"),
    "support.v10.md",
    SupportAnswer,
    max_tokens=8_000,
    check=_check,
    bounds=_bound,
    cuts=(Cut("items", ""),),
)
