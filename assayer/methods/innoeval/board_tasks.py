"""The tasks of the board: prompt file, answer schema, check. None has a fallback: no rule of ours is a reviewer."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from assayer.evidence import unknown_labels
from assayer.methods.innoeval.board_schemas import (
    Advice,
    AdviceQuestion,
    Claim,
    Judgement,
    JudgingQuestion,
    MetaQuestion,
    Synthesis,
    judgement_on,
)
from assayer.methods.innoeval.dimensions import Dimension
from assayer.tasks import Prompts, Task

__all__ = ["ADVICE", "ALL", "JUDGING", "SYNTHESIS", "judging"]

_PROMPTS = Prompts("assayer.methods.innoeval")


def _citations(claims: Iterable[Claim], labels: Sequence[str]) -> list[str]:
    complaints = []
    for claim in claims:
        if unknown := unknown_labels(claim.text, labels):
            complaints.append(f"{', '.join(unknown)} is no label given here, written as [P3]: {claim.text[:80]!r}.")
    return complaints


def _check_judging(question: JudgingQuestion, answer: Judgement) -> list[str]:
    labels = [find.label for find in question.evidence]
    complaints = _citations([*answer.strengths, *answer.weaknesses, *answer.suggestions], labels)
    if answer.score is not None and not (answer.strengths or answer.weaknesses):
        complaints.append("A score needs at least one strength or weakness that it rests on.")
    return complaints


def _check_synthesis(question: MetaQuestion, answer: Synthesis) -> list[str]:
    known = [one.label for one in question.dimensions]
    labels = [find.label for find in question.evidence]
    complaints = [
        f"{one.dimension} is not a dimension given here." for one in answer.disputes if one.dimension not in known
    ]
    return complaints + _citations([*answer.strengths, *answer.weaknesses, *answer.suggestions], labels)


def _check_advice(question: AdviceQuestion, answer: Advice) -> list[str]:
    finds = {find.label for find in question.evidence}
    weaknesses = {one.label for one in question.weaknesses}
    complaints = [f"{one.label} is not a find given here." for one in answer.steps if one.label not in finds]
    answered = {one.weakness for one in answer.steps if one.weakness is not None}
    unknown = answered - weaknesses if weaknesses else ()  # where none was named, a label for it does no harm
    return complaints + [f"{label} is not a weakness given here." for label in sorted(unknown)]


JUDGING = Task[JudgingQuestion, Judgement](
    "innoeval.judging",
    _PROMPTS,
    "judging.v2.md",
    Judgement,
    tier="strong",
    max_tokens=2_500,
    check=_check_judging,
)


def judging(dimension: Dimension) -> Task[JudgingQuestion, Judgement]:
    """One task under one name, its score held to the dimension's rubric."""
    return replace(JUDGING, output=judgement_on(dimension.scores))


SYNTHESIS = Task[MetaQuestion, Synthesis](
    "innoeval.synthesis",
    _PROMPTS,
    "synthesis.v2.md",
    Synthesis,
    tier="strong",
    max_tokens=3_000,
    check=_check_synthesis,
)
ADVICE = Task[AdviceQuestion, Advice](
    "innoeval.advice", _PROMPTS, "advice.v2.md", Advice, tier="strong", max_tokens=2_500, check=_check_advice
)

ALL = (JUDGING, SYNTHESIS, ADVICE)
