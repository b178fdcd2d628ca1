"""LLM task that checks whether quotes support claims: prompt, answer schema and constraints. There is no check without
a language model."""

from assayer.citing.labels import check_each_once
from assayer.claim_support.schemas import SupportAnswer, SupportQuestion
from assayer.llm import AnswerBounds, Cut, LabelledList, Task
from assayer.prompts import Prompts
from assayer.text.sentences import sentences


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
