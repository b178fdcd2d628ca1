"""The support check as a task: prompt, answer, what an answer must keep to, and what answers without a model."""

from assayer.citing.labels import each_once
from assayer.claim_support.overlap import support_by_overlap
from assayer.claim_support.schemas import SupportAnswer, SupportQuestion
from assayer.llm import Task
from assayer.prompts import Prompts

__all__ = ["SUPPORT"]


def _check(question: SupportQuestion, answer: SupportAnswer) -> list[str]:
    return each_once([item.label for item in question.items], (one.label for one in answer.verdicts), "item")


SUPPORT = Task[SupportQuestion, SupportAnswer](
    "support.claims",
    Prompts("assayer.claim_support"),
    "support.v6.md",
    SupportAnswer,
    max_tokens=3_000,
    check=_check,
    fallback=support_by_overlap,
)
