"""SciCompanion's LLM tasks. Without a language model, its steps only search."""

from dataclasses import replace
from functools import cache

from assayer.llm import Task
from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.methods.innoeval.schemas import Judgement, build_judgement_schema
from assayer.methods.innoeval.tasks import check_judgement
from assayer.methods.scicompanion.schemas import (
    DimensionQuestion,
    GraphCompletion,
    NextQueries,
    StateQuestion,
    StepAnswer,
    TraceAnswer,
)
from assayer.prompts import Prompts

_PROMPTS = Prompts("assayer.methods.scicompanion")


def _check_queries(question: StateQuestion, answer: NextQueries) -> list[str]:
    if any(query.strip() for query in answer.queries):
        return []
    return ["No query is given: write at least one."]


QUERIES = Task[StateQuestion, NextQueries](
    "scicompanion.queries", _PROMPTS, "queries.v2.md", NextQueries, max_tokens=800, check=_check_queries
)
STEP = Task[StateQuestion, StepAnswer](
    "scicompanion.step", _PROMPTS, "step.v3.md", StepAnswer, tier="strong", max_tokens=5_000
)
COMPLETION = Task[StateQuestion, GraphCompletion](
    "scicompanion.completion", _PROMPTS, "completion.v3.md", GraphCompletion, tier="strong", max_tokens=4_500
)
TRACE = Task[StateQuestion, TraceAnswer](
    "scicompanion.trace", _PROMPTS, "trace.v2.md", TraceAnswer, tier="strong", max_tokens=800
)
JUDGING = Task[DimensionQuestion, Judgement](
    "scicompanion.judging",
    _PROMPTS,
    "judging.v3.md",
    Judgement,
    tier="strong",
    max_tokens=2_500,
    check=check_judgement,
)


@cache
def build_judging_task(dimension: RubricDimension) -> Task[DimensionQuestion, Judgement]:
    """Return the judging task for a dimension, with scores restricted to its rubric. All dimensions share one task
    name."""
    return replace(JUDGING, output=build_judgement_schema(dimension.scores))


ALL = (QUERIES, STEP, COMPLETION, TRACE, JUDGING)
