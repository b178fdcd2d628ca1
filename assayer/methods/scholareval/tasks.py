"""The ten tasks of ScholarEval: prompt file, answer schema, check, fallback."""

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
    MethodReview,
    Methods,
    MethodsQuestion,
    Queries,
    QueriesQuestion,
    Query,
    QueryQuestion,
    ReadingQuestion,
    Readings,
    RelevanceQuestion,
    Relevances,
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
    "METHODS",
    "QUERIES",
    "QUERY",
    "READING",
    "RELEVANCE",
    "REVIEW",
    "SUMMARY",
    "SYNTHESIS",
]

_PROMPTS = Prompts("assayer.methods.scholareval")


def _uncited(claims: Iterable[Claim], labels: Sequence[str]) -> list[str]:
    return uncited_complaints(claim.text for claim in claims) if labels else []


def _labels(evidence: Iterable[Evidence]) -> list[str]:
    return [item.label for item in evidence]


def _check_reading(question: ReadingQuestion, answer: Readings) -> list[str]:
    return each_once(_labels(question.evidence), (one.label for one in answer.readings), "paper")


def _check_review(question: ReviewQuestion, answer: MethodReview) -> list[str]:
    labels = [note.label for note in question.notes]
    return _uncited([*answer.support, *answer.contradictions], labels)


def _check_queries(question: QueriesQuestion, answer: Queries) -> list[str]:
    labels = [statement.label for statement in question.statements]
    return each_once(labels, (one.statement for one in answer.queries), "statement")


def _check_relevance(question: RelevanceQuestion, answer: Relevances) -> list[str]:
    return each_once(_labels(question.evidence), (one.label for one in answer.judgements), "paper")


def _check_comparison(question: ComparisonQuestion, answer: Comparisons) -> list[str]:
    complaints = each_once(_labels(question.evidence), (one.label for one in answer.comparisons), "paper")
    dimensions = [dimension.label for dimension in question.dimensions]
    for paper in answer.comparisons:
        found = each_once(dimensions, (one.dimension for one in paper.verdicts), "dimension")
        complaints += [f"Paper {paper.label}: {complaint}" for complaint in found]
    return complaints


def _check_synthesis(question: SynthesisQuestion, answer: DimensionReview) -> list[str]:
    labels = [paper.label for paper in question.compared]
    return _uncited([*answer.strengths, *answer.weaknesses], labels)


METHODS = Task[MethodsQuestion, Methods](
    "scholareval.methods", _PROMPTS, "methods.v1.md", Methods, fallback=fallbacks.methods
)
QUERY = Task[QueryQuestion, Query](
    "scholareval.query", _PROMPTS, "query.v1.md", Query, max_tokens=300, fallback=fallbacks.query
)
READING = Task[ReadingQuestion, Readings](
    "scholareval.reading",
    _PROMPTS,
    "reading.v1.md",
    Readings,
    check=_check_reading,
    fallback=fallbacks.reading,
)
REVIEW = Task[ReviewQuestion, MethodReview](
    "scholareval.review",
    _PROMPTS,
    "review.v1.md",
    MethodReview,
    tier="strong",
    check=_check_review,
    fallback=fallbacks.review,
)
SUMMARY = Task[SummaryQuestion, SoundnessSummary](
    "scholareval.summary",
    _PROMPTS,
    "summary.v1.md",
    SoundnessSummary,
    tier="strong",
    fallback=fallbacks.summary,
)
DIMENSIONS = Task[DimensionsQuestion, Dimensions](
    "scholareval.dimensions", _PROMPTS, "dimensions.v1.md", Dimensions, fallback=fallbacks.dimensions
)
QUERIES = Task[QueriesQuestion, Queries](
    "scholareval.queries",
    _PROMPTS,
    "queries.v1.md",
    Queries,
    max_tokens=1_000,
    check=_check_queries,
    fallback=fallbacks.queries,
)
RELEVANCE = Task[RelevanceQuestion, Relevances](
    "scholareval.relevance",
    _PROMPTS,
    "relevance.v1.md",
    Relevances,
    max_tokens=1_500,
    check=_check_relevance,
    fallback=fallbacks.relevance,
)
COMPARISON = Task[ComparisonQuestion, Comparisons](
    "scholareval.comparison",
    _PROMPTS,
    "comparison.v1.md",
    Comparisons,
    max_tokens=6_000,
    check=_check_comparison,
    fallback=fallbacks.comparison,
)
SYNTHESIS = Task[SynthesisQuestion, DimensionReview](
    "scholareval.synthesis",
    _PROMPTS,
    "synthesis.v1.md",
    DimensionReview,
    tier="strong",
    check=_check_synthesis,
    fallback=fallbacks.synthesis,
)

ALL = (METHODS, QUERY, READING, REVIEW, SUMMARY, DIMENSIONS, QUERIES, RELEVANCE, COMPARISON, SYNTHESIS)
