"""ScholarEval's eight LLM tasks, each with its prompt file, answer schema and check."""

from collections.abc import Iterable, Sequence

from assayer.citing.evidence import Evidence
from assayer.citing.labels import check_each_once, complain_about_uncited_texts, complain_about_unknown_labels
from assayer.llm import AnswerBounds, Cut, LabelledList, Task
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

_PROMPTS = Prompts("assayer.methods.scholareval")


def _complain_about_uncited_claims(claims: Iterable[Claim], labels: Sequence[str]) -> list[str]:
    return complain_about_uncited_texts(claim.text for claim in claims) if labels else []


def _list_labels(evidence: Iterable[Evidence]) -> list[str]:
    return [item.label for item in evidence]


def _check_first_look(question: FirstLookQuestion, answer: FirstLook) -> list[str]:
    return complain_about_unknown_labels(answer.labels, (item.label for item in question.shown), "paper")


def _check_reading(question: ReadingQuestion, answer: Readings) -> list[str]:
    complaints = check_each_once(
        _list_labels(question.evidence), (reading.label for reading in answer.readings), "paper"
    )
    for paper in answer.readings:
        label_complaints = _complain_about_repeated_labels(
            question.parts, [note.method for note in paper.notes], "method"
        )
        complaints += [f"Paper {paper.label}: {complaint}" for complaint in label_complaints]
    return complaints


def _check_review(question: ReviewQuestion, answer: MethodReview) -> list[str]:
    labels = [note.label for note in question.notes]
    return _complain_about_uncited_claims([*answer.support, *answer.contradictions], labels)


def _check_comparison(question: ComparisonQuestion, answer: Comparisons) -> list[str]:
    complaints = check_each_once(
        _list_labels(question.evidence), (comparison.label for comparison in answer.comparisons), "paper"
    )
    for paper in answer.comparisons:
        label_complaints = _complain_about_repeated_labels(
            question.parts, [verdict.dimension for verdict in paper.verdicts], "dimension"
        )
        complaints += [f"Paper {paper.label}: {complaint}" for complaint in label_complaints]
    return complaints


def _complain_about_repeated_labels(parts: Iterable[LabelledText], labels: Sequence[str], noun: str) -> list[str]:
    """Return complaints about labels that are unknown or were used twice."""
    return check_each_once([part.label for part in parts if part.label in set(labels)], labels, noun)


def _check_synthesis(question: SynthesisQuestion, answer: DimensionReview) -> list[str]:
    labels = [paper.label for paper in question.compared]
    return _complain_about_uncited_claims([*answer.strengths, *answer.weaknesses], labels)


def _bound_first_look(question: FirstLookQuestion) -> AnswerBounds:
    return AnswerBounds({"labels": question.most}, {"labels": [item.label for item in question.shown]})


def _bound_reading(question: ReadingQuestion) -> AnswerBounds:
    """Allow one note per paper, because a grammar cannot forbid two notes on the same method."""
    papers = LabelledList(_list_labels(question.evidence))
    return AnswerBounds({"notes": 1}, {"method": [part.label for part in question.parts]}, {"readings": papers})


def _bound_comparison(question: ComparisonQuestion) -> AnswerBounds:
    """Allow one verdict per paper, because a grammar cannot forbid two verdicts on the same dimension."""
    papers = LabelledList(_list_labels(question.evidence))
    return AnswerBounds(
        {"verdicts": 1}, {"dimension": [part.label for part in question.parts]}, {"comparisons": papers}
    )


METHODS = Task[MethodsQuestion, Methods](
    "scholareval.methods",
    _PROMPTS,
    "methods.v3.md",
    Methods,
    bounds=lambda question: AnswerBounds({"methods": question.limit}),
)
FIRST_LOOK = Task[FirstLookQuestion, FirstLook](
    "scholareval.first_look",
    _PROMPTS,
    "first_look.v5.md",
    FirstLook,
    max_tokens=500,
    check=_check_first_look,
    bounds=_bound_first_look,
    cuts=(Cut("shown", "title for the screening"),),
)
READING = Task[ReadingQuestion, Readings](
    "scholareval.reading",
    _PROMPTS,
    "reading.v7.md",
    Readings,
    max_tokens=6_000,
    check=_check_reading,
    bounds=_bound_reading,
    cuts=(Cut("evidence", ""), Cut("parts", "method for the reading of papers")),
)
REVIEW = Task[ReviewQuestion, MethodReview](
    "scholareval.review",
    _PROMPTS,
    "review.v12.md",
    MethodReview,
    tier="strong",
    check=_check_review,
    cuts=(Cut("notes", "note for the review of a method"),),
)
SUMMARY = Task[SummaryQuestion, SoundnessSummary](
    "scholareval.summary",
    _PROMPTS,
    "summary.v7.md",
    SoundnessSummary,
    tier="strong",
    cuts=(Cut("reviews", "review for the summary"),),
)
DIMENSIONS = Task[DimensionsQuestion, Dimensions](
    "scholareval.dimensions",
    _PROMPTS,
    "dimensions.v3.md",
    Dimensions,
    bounds=lambda question: AnswerBounds({"dimensions": question.limit}),
)
COMPARISON = Task[ComparisonQuestion, Comparisons](
    "scholareval.comparison",
    _PROMPTS,
    "comparison.v4.md",
    Comparisons,
    max_tokens=8_000,
    check=_check_comparison,
    bounds=_bound_comparison,
    cuts=(Cut("evidence", ""), Cut("parts", "dimension for the comparison of papers")),
)
SYNTHESIS = Task[SynthesisQuestion, DimensionReview](
    "scholareval.synthesis",
    _PROMPTS,
    "synthesis.v12.md",
    DimensionReview,
    tier="strong",
    check=_check_synthesis,
    cuts=(Cut("compared", "compared paper for a dimension"),),
)

ALL = (METHODS, FIRST_LOOK, READING, REVIEW, SUMMARY, DIMENSIONS, COMPARISON, SYNTHESIS)
