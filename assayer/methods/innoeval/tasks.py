"""InnoEval's LLM tasks, each with its prompt file, answer schema and check."""

from collections import Counter
from dataclasses import replace
from functools import cache

from assayer.citing.labels import check_each_once, complain_about_unknown_labels
from assayer.llm import Cut, Task
from assayer.methods.innoeval.dimensions import EvidenceKind, RubricDimension
from assayer.methods.innoeval.schemas import (
    Advice,
    AdviceQuestion,
    EvidenceRelevanceQuestion,
    EvidenceRelevances,
    Extraction,
    ExtractionQuestion,
    GroundingQuestion,
    Groundings,
    Judgement,
    Judgements,
    JudgingQuestion,
    MetaQuestion,
    Refinement,
    RefinementQuestion,
    SearchQueries,
    SearchQueriesQuestion,
    Synthesis,
    build_judgements_schema,
    build_queries_schema,
    build_refinement_schema,
)
from assayer.prompts import Prompts

_PROMPTS = Prompts("assayer.methods.innoeval")


def _check_extraction(question: ExtractionQuestion, answer: Extraction) -> list[str]:
    if answer.tldr or answer.methods or answer.research_questions:
        return []
    return ["Neither a summary nor a question nor a method was found: give at least the summary."]


def _check_queries(question: SearchQueriesQuestion, answer: SearchQueries) -> list[str]:
    return check_each_once([part.label for part in question.parts], (query.part for query in answer.queries), "part")


def _check_relevance(question: EvidenceRelevanceQuestion, answer: EvidenceRelevances) -> list[str]:
    return check_each_once(
        [item.label for item in question.evidence], (judgement.label for judgement in answer.judgements), "find"
    )


def _check_refinement(question: RefinementQuestion, answer: Refinement) -> list[str]:
    use_counts = Counter(query.tried for query in answer.queries)
    complaints = complain_about_unknown_labels(use_counts, (item.label for item in question.tried), "query")
    return complaints + [f"More than two queries come from {label}." for label, n in use_counts.items() if n > 2]


def _check_grounding(question: GroundingQuestion, answer: Groundings) -> list[str]:
    complaints = check_each_once(
        [item.label for item in question.evidence], (find.label for find in answer.finds), "find"
    )
    parts = {part.label for part in question.parts}
    for item in answer.finds:
        unknown = complain_about_unknown_labels((grounding.part for grounding in item.groundings), parts, "part")
        complaints += [f"Find {item.label}: {complaint}" for complaint in unknown]
    return complaints


EXTRACTION = Task[ExtractionQuestion, Extraction](
    "innoeval.extraction", _PROMPTS, "extraction.v2.md", Extraction, max_tokens=2_500, check=_check_extraction
)
QUERIES = Task[SearchQueriesQuestion, SearchQueries](
    "innoeval.queries", _PROMPTS, "queries.v5.md", SearchQueries, max_tokens=1_500, check=_check_queries
)


@cache
def build_queries_task(kinds: tuple[EvidenceKind, ...]) -> Task[SearchQueriesQuestion, SearchQueries]:
    """Return the query task, with its answer schema restricted to queries of these kinds. All variants share one task
    name."""
    return replace(QUERIES, output=build_queries_schema(kinds))


RELEVANCE = Task[EvidenceRelevanceQuestion, EvidenceRelevances](
    "innoeval.relevance", _PROMPTS, "relevance.v5.md", EvidenceRelevances, max_tokens=4_000, check=_check_relevance
)
GROUNDING = Task[GroundingQuestion, Groundings](
    "innoeval.grounding",
    _PROMPTS,
    "grounding.v3.md",
    Groundings,
    tier="strong",
    max_tokens=5_000,
    check=_check_grounding,
)


def build_refinement_task(limit: int) -> Task[RefinementQuestion, Refinement]:
    """Return the refinement task for at most `limit` queries. The answer schema enforces the limit. All variants share
    one task name."""
    return Task(
        "innoeval.refinement",
        _PROMPTS,
        "refinement.v4.md",
        build_refinement_schema(limit),
        max_tokens=1_500,
        check=_check_refinement,
    )


SEARCH_TASKS = (EXTRACTION, QUERIES, RELEVANCE, build_refinement_task(12), GROUNDING)


def check_judgement(question: object, answer: Judgement) -> list[str]:
    if answer.score is not None and not (answer.strengths or answer.weaknesses):
        return ["A score needs at least one strength or weakness that it rests on."]
    return []


def _check_judgements(question: JudgingQuestion, answer: Judgements) -> list[str]:
    return [
        f"{dimension.title}: {complaint}"
        for dimension in question.dimensions
        for complaint in check_judgement(question, answer.get_judgement(dimension))
    ]


def _check_synthesis(question: MetaQuestion, answer: Synthesis) -> list[str]:
    known_labels = (dimension.label for dimension in question.dimensions)
    return complain_about_unknown_labels((dispute.dimension for dispute in answer.disputes), known_labels, "dimension")


def _check_advice(question: AdviceQuestion, answer: Advice) -> list[str]:
    finds = [item.label for item in question.evidence]
    complaints = complain_about_unknown_labels((step.label for step in answer.steps), finds, "find")
    answered_labels = (step.weakness for step in answer.steps if step.weakness is not None)
    if known_labels := [weakness.label for weakness in question.weaknesses]:  # without weaknesses, labels are ignored
        complaints += complain_about_unknown_labels(answered_labels, known_labels, "weakness")
    return complaints


JUDGING = Task[JudgingQuestion, Judgements](
    "innoeval.judging",
    _PROMPTS,
    "judging.v5.md",
    Judgements,
    tier="strong",
    max_tokens=8_000,
    check=_check_judgements,
    cuts=(Cut("evidence", "source for a reviewer"), Cut("sections", "section for a reviewer")),
)


@cache
def build_judging_task(
    dimensions: tuple[RubricDimension, ...], model: str | None = None
) -> Task[JudgingQuestion, Judgements]:
    """Return the judging task, with one review per dimension, for the seat's model. All variants share one task
    name."""
    return replace(JUDGING, output=build_judgements_schema(dimensions), model=model)


SYNTHESIS = Task[MetaQuestion, Synthesis](
    "innoeval.synthesis",
    _PROMPTS,
    "synthesis.v5.md",
    Synthesis,
    tier="strong",
    max_tokens=3_000,
    check=_check_synthesis,
)
ADVICE = Task[AdviceQuestion, Advice](
    "innoeval.advice", _PROMPTS, "advice.v3.md", Advice, tier="strong", max_tokens=2_500, check=_check_advice
)

BOARD_TASKS = (JUDGING, SYNTHESIS, ADVICE)
