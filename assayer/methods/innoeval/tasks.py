"""The tasks of search and grounding: prompt file, answer schema, check. None has a fallback: no board, no use."""

from collections import Counter

from assayer.checks import each_once
from assayer.methods.innoeval.schemas import (
    Extraction,
    ExtractionQuestion,
    GroundingQuestion,
    Groundings,
    Queries,
    QueriesQuestion,
    Refinement,
    RefinementQuestion,
    RelevanceQuestion,
    Relevances,
    refinement_within,
)
from assayer.tasks import Prompts, Task

__all__ = ["EXTRACTION", "GROUNDING", "QUERIES", "RELEVANCE", "SEARCH", "refining"]

_PROMPTS = Prompts("assayer.methods.innoeval")


def _check_extraction(question: ExtractionQuestion, answer: Extraction) -> list[str]:
    if answer.tldr or answer.methods or answer.research_questions:
        return []
    return ["Neither a summary nor a question nor a method was found: give at least the summary."]


def _check_queries(question: QueriesQuestion, answer: Queries) -> list[str]:
    return each_once([part.label for part in question.parts], (one.part for one in answer.queries), "part")


def _check_relevance(question: RelevanceQuestion, answer: Relevances) -> list[str]:
    return each_once([find.label for find in question.evidence], (one.label for one in answer.judgements), "find")


def _check_refinement(question: RefinementQuestion, answer: Refinement) -> list[str]:
    known = {one.label for one in question.tried}
    used = Counter(one.tried for one in answer.queries)
    complaints = [f"{label} is not a query given here." for label in sorted(used.keys() - known)]
    return complaints + [f"More than two queries come from {label}." for label, n in used.items() if n > 2]


def _check_grounding(question: GroundingQuestion, answer: Groundings) -> list[str]:
    complaints = each_once([find.label for find in question.evidence], (one.label for one in answer.finds), "find")
    parts = {part.label for part in question.parts}
    for find in answer.finds:
        unknown = sorted({one.part for one in find.groundings} - parts)
        complaints += [f"Find {find.label}: {label} is not a part given here." for label in unknown]
    return complaints


EXTRACTION = Task[ExtractionQuestion, Extraction](
    "innoeval.extraction", _PROMPTS, "extraction.v2.md", Extraction, max_tokens=2_500, check=_check_extraction
)
QUERIES = Task[QueriesQuestion, Queries](
    "innoeval.queries", _PROMPTS, "queries.v2.md", Queries, max_tokens=1_500, check=_check_queries
)
RELEVANCE = Task[RelevanceQuestion, Relevances](
    "innoeval.relevance", _PROMPTS, "relevance.v2.md", Relevances, max_tokens=2_000, check=_check_relevance
)
GROUNDING = Task[GroundingQuestion, Groundings](
    "innoeval.grounding",
    _PROMPTS,
    "grounding.v2.md",
    Groundings,
    tier="strong",
    max_tokens=5_000,
    check=_check_grounding,
)


def refining(limit: int) -> Task[RefinementQuestion, Refinement]:
    """At most so many queries; one task under one name, its answer held to the limit."""
    return Task(
        "innoeval.refinement",
        _PROMPTS,
        "refinement.v2.md",
        refinement_within(limit),
        max_tokens=1_500,
        check=_check_refinement,
    )


SEARCH = (EXTRACTION, QUERIES, RELEVANCE, refining(12), GROUNDING)
