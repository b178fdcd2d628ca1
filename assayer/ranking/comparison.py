"""Compare two ideas with a language model: question, answer schema and task. Also writes comparisons as JSON lines for
reuse in the next ranking."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Annotated, Literal

from pydantic import Field, create_model

from assayer.citing.answer_texts import TextRole
from assayer.llm import AnswerBounds, LabelledList, Llm, Task, ask_on_record
from assayer.models import Frozen, Idea, IdeaId
from assayer.prompts import Prompts
from assayer.ranking.judged_texts import format_shown_text, require_same_blinding_rules
from assayer.ranking.known_comparisons import Judging
from assayer.ranking.options import RankingOptions
from assayer.run.run import Run
from assayer.text.sanitise import sanitise
from assayer_client.comparisons import Comparison, DimensionVerdict, JudgedBy, NamedComparison
from assayer_client.rankings import Dimension

_ShortText = Annotated[str, Field(min_length=1, max_length=400)]
_Restated = Annotated[_ShortText, TextRole.RESTATES]


class PairQuestion(Frozen):
    dimensions: tuple[Dimension, ...]
    first: str
    second: str
    first_evidence: str | None = None
    """Findings from the report on the first idea, or an empty string if it has no report. None if ideas are compared by
    their texts alone."""
    second_evidence: str | None = None


class PairAnswerEntry(Frozen):
    label: str = Field(pattern=r"^D[1-9]\d?$", description="Label of the respect, as D1.")
    in_a: _Restated = Field(description="At most 25 words: the one or two elements of idea A's plan that weigh most.")
    in_b: _Restated = Field(description="At most 25 words: the one or two elements of idea B's plan that weigh most.")
    reason: _ShortText = Field(description="At most 30 words: why one outweighs the other.")
    better: Literal["A", "B", "tie"]


class PairAnswer(Frozen):
    entries: tuple[PairAnswerEntry, ...]

    def get_entry(self, number: int) -> PairAnswerEntry:
        """Return the entry for the question's dimension with this number, counting from 1."""
        return next(entry for entry in self.entries if entry.label == f"D{number}")


def _check_entries(question: PairQuestion, answer: PairAnswer) -> list[str]:
    expected_labels = [f"D{number}" for number in range(1, len(question.dimensions) + 1)]
    answered_labels = sorted((entry.label for entry in answer.entries), key=lambda label: (len(label), label))
    return (
        []
        if answered_labels == expected_labels
        else [f"`entries` must hold one entry for each of {', '.join(expected_labels)}."]
    )


def _bound(question: PairQuestion) -> AnswerBounds:
    labels = [f"D{number}" for number in range(1, len(question.dimensions) + 1)]
    return AnswerBounds(lists={"entries": LabelledList(labels)})


COMPARISON = Task[PairQuestion, PairAnswer](
    name="ranking.comparison",
    prompts=Prompts("assayer.ranking"),
    prompt="comparison.v4.md",
    output=PairAnswer,
    tier="strong",
    max_tokens=2_000,
    check=_check_entries,
    bounds=_bound,
)


@cache
def _build_answer_schema(respects: int) -> type[PairAnswer]:
    """Return the answer schema restricted to one entry per dimension."""
    entries_field = Field(min_length=respects, max_length=respects, description="One for each respect, in order.")
    return create_model("Answer", __base__=PairAnswer, entries=(tuple[PairAnswerEntry, ...], entries_field))


def build_comparison_task(dimension_count: int) -> Task[PairQuestion, PairAnswer]:
    """Return the comparison task, with its answer restricted to one entry per dimension. All variants share one task
    name."""
    return replace(COMPARISON, output=_build_answer_schema(dimension_count))


_SIDE = {"A": "first", "B": "second", "tie": "tie"}


async def compare_ideas(
    first: Idea,
    second: Idea,
    llm: Llm,
    run: Run,
    options: RankingOptions,
    evidence: Mapping[IdeaId, str] | None = None,
) -> Comparison:
    """Compare two ideas, shown in this order as `format_shown_text`. The findings of their reports are added if
    `evidence` is passed. Raises the errors of `ask`, and InputError if the ideas are not masked in the same way."""
    rules = require_same_blinding_rules((first, second))
    question = PairQuestion(
        dimensions=options.dimensions,
        first=format_shown_text(first, options),
        second=format_shown_text(second, options),
        first_evidence=None if evidence is None else evidence.get(first.id, ""),
        second_evidence=None if evidence is None else evidence.get(second.id, ""),
    )
    answer, record = await ask_on_record(llm, build_comparison_task(len(question.dimensions)), question, run)
    verdicts = []
    for number, dimension in enumerate(question.dimensions, start=1):
        entry = answer.get_entry(number)
        verdict = {"dimension": dimension.name, "winner": _SIDE[entry.better], "reason": entry.reason}
        verdicts.append(DimensionVerdict.model_validate(verdict))
    return Comparison(
        first=first.id,
        second=second.id,
        verdicts=tuple(verdicts),
        blinding_rules=rules,
        with_evidence=evidence is not None,
        judged_by=JudgedBy(
            model=record.model,
            question=compute_question_digest(options),
            first_text=_compute_text_digest(question.first, question.first_evidence),
            second_text=_compute_text_digest(question.second, question.second_evidence),
        ),
    )


def compute_question_digest(options: RankingOptions) -> str:
    """Return a digest of the prompt, including all dimensions that it asks about."""
    respects = [(dimension.name, dimension.question) for dimension in options.dimensions]
    return _compute_digest(COMPARISON.version, COMPARISON.digest, respects)


def compute_shown_digests(
    ideas: Iterable[Idea], options: RankingOptions, evidence: Mapping[IdeaId, str] | None
) -> dict[str, str]:
    """Return, for each idea, a digest of the text that the judge is shown. Texts that differ only in white space have
    the same digest."""
    return {
        idea.id: _compute_text_digest(
            format_shown_text(idea, options), None if evidence is None else evidence.get(idea.id, "")
        )
        for idea in ideas
    }


def describe_judging(
    options: RankingOptions, model: str | None, rules: int | None, with_evidence: bool = False
) -> Judging:
    """Return the conditions under which a ranking with these options is judged, without digests of its ideas' texts."""
    return Judging(rules, with_evidence, model, compute_question_digest(options))


def _compute_text_digest(text: str, evidence: str | None) -> str:
    return _compute_digest(" ".join(text.split()), evidence)


def _compute_digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def format_comparisons(comparisons: Iterable[Comparison], references: Mapping[IdeaId, str]) -> str:
    """Return the comparisons as JSON lines, with the submitters' names for their ideas."""
    named = (
        NamedComparison(
            **dict(item),
            first_reference=references.get(item.first, ""),
            second_reference=references.get(item.second, ""),
        )
        for item in comparisons
    )
    return "".join(f"{item.model_dump_json()}\n" for item in named)


def sanitise_comparison(comparison: Comparison) -> Comparison:
    """Return the comparison with its reasons and model name sanitised like all external text, because reports show
    them."""
    verdicts = tuple(
        verdict.model_copy(update={"reason": sanitise(verdict.reason)[0].strip()}) for verdict in comparison.verdicts
    )
    judged_by = comparison.judged_by
    if judged_by is not None and judged_by.model is not None:
        judged_by = judged_by.model_copy(update={"model": " ".join(sanitise(judged_by.model)[0].split())})
    return comparison.model_copy(update={"verdicts": verdicts, "judged_by": judged_by})
