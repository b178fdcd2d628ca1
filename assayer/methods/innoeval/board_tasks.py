"""The tasks of the board: prompt file, answer schema, check. None has a fallback: no rule of ours is a reviewer."""

from collections.abc import Iterable, Sequence

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
from assayer.methods.innoeval.dimensions import Scale
from assayer.tasks import Prompts, Task

__all__ = ["ADVICE", "ALL", "SYNTHESIS", "judging"]

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


def judging(scale: Scale) -> Task[JudgingQuestion, Judgement]:
    """Of a dimension with this scale; one task under one name, its score held to the scale."""
    return Task(
        "innoeval.judging",
        _PROMPTS,
        "judging.v1.md",
        judgement_on(scale),
        tier="strong",
        max_tokens=2_500,
        check=_check_judging,
    )


SYNTHESIS = Task[MetaQuestion, Synthesis](
    "innoeval.synthesis",
    _PROMPTS,
    "synthesis.v1.md",
    Synthesis,
    tier="strong",
    max_tokens=3_000,
    check=_check_synthesis,
)
ADVICE = Task[AdviceQuestion, Advice](
    "innoeval.advice", _PROMPTS, "advice.v1.md", Advice, tier="strong", max_tokens=2_500, check=_check_advice
)

ALL = (judging(Scale()), SYNTHESIS, ADVICE)
