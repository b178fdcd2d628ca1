"""One comparison of two ideas by a language model: question, answer and task; comparisons as lines of JSON for the next
ranking.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Annotated, Literal

from pydantic import Field, create_model

from assayer.citing.answer_texts import TextRole
from assayer.llm import Llm, Task, ask
from assayer.models import Frozen, Idea, IdeaId
from assayer.models.ranking import Comparison, Dimension, DimensionVerdict
from assayer.prompts import Prompts
from assayer.ranking.judged_texts import blinding_rules, shown_text
from assayer.ranking.options import RankingOptions
from assayer.run.run import Run
from assayer.text.sanitise import sanitise

__all__ = [
    "COMPARISON",
    "PairAnswer",
    "PairAnswerEntry",
    "PairQuestion",
    "compare_ideas",
    "comparison_task",
    "comparisons_to_jsonl",
    "sanitised_comparison",
]


_ShortText = Annotated[str, Field(min_length=1, max_length=400)]
_Restated = Annotated[_ShortText, TextRole.RESTATES]


class PairQuestion(Frozen):
    dimensions: tuple[Dimension, ...]
    first: str
    second: str
    first_evidence: str | None = None
    """What a report found on it; empty where there is no report of it, None where ideas are compared by their own texts
    alone."""
    second_evidence: str | None = None


class PairAnswerEntry(Frozen):
    label: str = Field(pattern=r"^D[1-9]\d?$", description="Label of the respect, as D1.")
    in_a: _Restated = Field(description="At most 25 words: the one or two elements of idea A's plan that weigh most.")
    in_b: _Restated = Field(description="At most 25 words: the one or two elements of idea B's plan that weigh most.")
    reason: _ShortText = Field(description="At most 30 words: why one outweighs the other.")
    better: Literal["A", "B", "tie"]


class PairAnswer(Frozen):
    entries: tuple[PairAnswerEntry, ...]

    def of(self, number: int) -> PairAnswerEntry:
        """The entry for the dimension at this place of the question, counted from 1."""
        return next(entry for entry in self.entries if entry.label == f"D{number}")


def _check_entries(question: PairQuestion, answer: PairAnswer) -> list[str]:
    wanted = [f"D{number}" for number in range(1, len(question.dimensions) + 1)]
    given = sorted((entry.label for entry in answer.entries), key=lambda label: (len(label), label))
    return [] if given == wanted else [f"`entries` must hold one entry for each of {', '.join(wanted)}."]


COMPARISON = Task[PairQuestion, PairAnswer](
    name="ranking.comparison",
    prompts=Prompts("assayer.ranking"),
    prompt="comparison.v4.md",
    output=PairAnswer,
    tier="strong",
    max_tokens=2_000,
    check=_check_entries,
)


@cache
def _answer_with_entries(respects: int) -> type[PairAnswer]:
    """The same answer with as many entries as there are respects."""
    described = Field(min_length=respects, max_length=respects, description="One for each respect, in order.")
    return create_model("Answer", __base__=PairAnswer, entries=(tuple[PairAnswerEntry, ...], described))


def comparison_task(respects: int) -> Task[PairQuestion, PairAnswer]:
    """One task under one name, its answer held to one entry a respect."""
    return replace(COMPARISON, output=_answer_with_entries(respects))


_SIDE = {"A": "first", "B": "second", "tie": "tie"}


async def compare_ideas(
    first: Idea,
    second: Idea,
    llm: Llm,
    run: Run,
    options: RankingOptions,
    evidence: Mapping[IdeaId, str] | None = None,
) -> Comparison:
    """One comparison, in this order, of what `shown_text` gives, and of what reports found where there is `evidence`.
    Raises as `ask`, and InputError for a masked idea beside one that is not."""
    rules = blinding_rules((first, second))
    question = PairQuestion(
        dimensions=options.dimensions,
        first=shown_text(first, options),
        second=shown_text(second, options),
        first_evidence=None if evidence is None else evidence.get(first.id, ""),
        second_evidence=None if evidence is None else evidence.get(second.id, ""),
    )
    answer = await ask(llm, comparison_task(len(question.dimensions)), question, run)
    verdicts = []
    for number, dimension in enumerate(question.dimensions, start=1):
        entry = answer.of(number)
        verdict = {"dimension": dimension.name, "winner": _SIDE[entry.better], "reason": entry.reason}
        verdicts.append(DimensionVerdict.model_validate(verdict))
    return Comparison(
        first=first.id,
        second=second.id,
        verdicts=tuple(verdicts),
        blinding_rules=rules,
        with_evidence=evidence is not None,
    )


def comparisons_to_jsonl(comparisons: Iterable[Comparison]) -> str:
    return "".join(f"{one.model_dump_json()}\n" for one in comparisons)


def sanitised_comparison(comparison: Comparison) -> Comparison:
    """Reasons are shown in reports: they are cleaned like all text from outside."""
    verdicts = tuple(it.model_copy(update={"reason": sanitise(it.reason)[0].strip()}) for it in comparison.verdicts)
    return comparison.model_copy(update={"verdicts": verdicts})
