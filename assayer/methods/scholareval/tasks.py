"""The eight tasks of ScholarEval: prompt file, answer schema, check, fallback."""

from collections.abc import Iterable, Sequence

from assayer.citing.evidence import Evidence
from assayer.citing.labels import each_once, uncited_complaints
from assayer.llm import Task
from assayer.methods.scholareval import fallbacks
from assayer.methods.scholareval.schemas import (
    Claim,
    ComparisonQuestion,
    Comparisons,
    DimensionReview,
    Dimensions,
    DimensionsQuestion,
    FirstLook,
    FirstLookQuestion,
    LabelledText,
    MethodReview,
    Methods,
    MethodsQuestion,
    ReadingQuestion,
    Readings,
    ReviewQuestion,
    SoundnessSummary,
    SummaryQuestion,
    SynthesisQuestion,
)
from assayer.prompts import Prompts

__all__ = [
    "ALL",
    "COMPARISON",
    "DIMENSIONS",
    "FIRST_LOOK",
    "METHODS",
    "READING",
    "REVIEW",
    "SUMMARY",
    "SYNTHESIS",
]

_PROMPTS = Prompts("assayer.methods.scholareval")


def _uncited(claims: Iterable[Claim], labels: Sequence[str]) -> list[str]:
    return uncited_complaints(claim.text for claim in claims) if labels else []


def _labels(evidence: Iterable[Evidence]) -> list[str]:
    return [item.label for item in evidence]


def _check_first_look(question: FirstLookQuestion, answer: FirstLook) -> list[str]:
    shown = {one.label for one in question.shown}
    return [f"{label} is not a paper given here." for label in sorted(set(answer.labels) - shown)]


def _check_reading(question: ReadingQuestion, answer: Readings) -> list[str]:
    complaints = each_once(_labels(question.evidence), (one.label for one in answer.readings), "paper")
    for paper in answer.readings:
        found = _once_at_most(question.parts, [one.method for one in paper.notes], "method")
        complaints += [f"Paper {paper.label}: {complaint}" for complaint in found]
    return complaints


def _check_review(question: ReviewQuestion, answer: MethodReview) -> list[str]:
    labels = [note.label for note in question.notes]
    return _uncited([*answer.support, *answer.contradictions], labels)


def _check_comparison(question: ComparisonQuestion, answer: Comparisons) -> list[str]:
    complaints = each_once(_labels(question.evidence), (one.label for one in answer.comparisons), "paper")
    for paper in answer.comparisons:
        found = _once_at_most(question.parts, [one.dimension for one in paper.verdicts], "dimension")
        complaints += [f"Paper {paper.label}: {complaint}" for complaint in found]
    return complaints


def _once_at_most(parts: Iterable[LabelledText], got: Sequence[str], noun: str) -> list[str]:
    """Complaints about labels that were not given, or given twice."""
    return each_once([part.label for part in parts if part.label in set(got)], got, noun)


def _check_synthesis(question: SynthesisQuestion, answer: DimensionReview) -> list[str]:
    labels = [paper.label for paper in question.compared]
    return _uncited([*answer.strengths, *answer.weaknesses], labels)


METHODS = Task[MethodsQuestion, Methods](
    "scholareval.methods", _PROMPTS, "methods.v3.md", Methods, fallback=fallbacks.methods
)
FIRST_LOOK = Task[FirstLookQuestion, FirstLook](
    "scholareval.first_look",
    _PROMPTS,
    "first_look.v1.md",
    FirstLook,
    max_tokens=500,
    check=_check_first_look,
    fallback=fallbacks.first_look,
)
READING = Task[ReadingQuestion, Readings](
    "scholareval.reading",
    _PROMPTS,
    "reading.v4.md",
    Readings,
    max_tokens=6_000,
    check=_check_reading,
    fallback=fallbacks.reading,
)
REVIEW = Task[ReviewQuestion, MethodReview](
    "scholareval.review",
    _PROMPTS,
    "review.v4.md",
    MethodReview,
    tier="strong",
    check=_check_review,
    fallback=fallbacks.review,
)
SUMMARY = Task[SummaryQuestion, SoundnessSummary](
    "scholareval.summary",
    _PROMPTS,
    "summary.v3.md",
    SoundnessSummary,
    tier="strong",
    fallback=fallbacks.summary,
)
DIMENSIONS = Task[DimensionsQuestion, Dimensions](
    "scholareval.dimensions", _PROMPTS, "dimensions.v3.md", Dimensions, fallback=fallbacks.dimensions
)
COMPARISON = Task[ComparisonQuestion, Comparisons](
    "scholareval.comparison",
    _PROMPTS,
    "comparison.v3.md",
    Comparisons,
    max_tokens=6_000,
    check=_check_comparison,
    fallback=fallbacks.comparison,
)
SYNTHESIS = Task[SynthesisQuestion, DimensionReview](
    "scholareval.synthesis",
    _PROMPTS,
    "synthesis.v4.md",
    DimensionReview,
    tier="strong",
    check=_check_synthesis,
    fallback=fallbacks.synthesis,
)

ALL = (METHODS, FIRST_LOOK, READING, REVIEW, SUMMARY, DIMENSIONS, COMPARISON, SYNTHESIS)
