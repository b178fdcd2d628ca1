"""The tasks of search and grounding: prompt file, answer schema, check. None has a fallback: no board, no use."""

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
)
from assayer.tasks import Prompts, Task

__all__ = ["EXTRACTION", "GROUNDING", "QUERIES", "REFINEMENT", "RELEVANCE", "SEARCH"]

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
    unknown = sorted({one.tried for one in answer.queries} - known)
    return [f"{label} is not a query given here." for label in unknown]


def _check_grounding(question: GroundingQuestion, answer: Groundings) -> list[str]:
    complaints = each_once([find.label for find in question.evidence], (one.label for one in answer.finds), "find")
    parts = {part.label for part in question.parts}
    for find in answer.finds:
        unknown = sorted({one.part for one in find.groundings} - parts)
        complaints += [f"Find {find.label}: {label} is not a part given here." for label in unknown]
    return complaints


EXTRACTION = Task[ExtractionQuestion, Extraction](
    "innoeval.extraction", _PROMPTS, "extraction.v1.md", Extraction, max_tokens=2_500, check=_check_extraction
)
QUERIES = Task[QueriesQuestion, Queries](
    "innoeval.queries", _PROMPTS, "queries.v1.md", Queries, max_tokens=1_500, check=_check_queries
)
RELEVANCE = Task[RelevanceQuestion, Relevances](
    "innoeval.relevance", _PROMPTS, "relevance.v1.md", Relevances, max_tokens=2_000, check=_check_relevance
)
REFINEMENT = Task[RefinementQuestion, Refinement](
    "innoeval.refinement", _PROMPTS, "refinement.v1.md", Refinement, max_tokens=1_500, check=_check_refinement
)
GROUNDING = Task[GroundingQuestion, Groundings](
    "innoeval.grounding",
    _PROMPTS,
    "grounding.v1.md",
    Groundings,
    tier="strong",
    max_tokens=5_000,
    check=_check_grounding,
)

SEARCH = (EXTRACTION, QUERIES, RELEVANCE, REFINEMENT, GROUNDING)
