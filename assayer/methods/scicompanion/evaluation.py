"""Final evaluation: judge the graph and the notebook on each dimension, in parallel."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assayer.citing.claim_numbers import collect_numbers
from assayer.citing.claim_quotes import GivenQuote, Side
from assayer.citing.evidence import Quoted
from assayer.citing.labels import strip_citations
from assayer.evaluation_context import EvaluationContext
from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.methods.innoeval.schemas import Judgement
from assayer.methods.points import PointWriter
from assayer.methods.scicompanion.graph import IDEA_NODE, StateGraph
from assayer.methods.scicompanion.options import OVERALL, SciCompanionOptions
from assayer.methods.scicompanion.prompt_state import CompanionState, build_state_question
from assayer.methods.scicompanion.schemas import DimensionQuestion
from assayer.methods.scicompanion.tasks import build_judging_task
from assayer.models import Absent, Assessment, EvidenceEdge, Part, Point, Summary
from assayer.run.concurrency import Failed, gather_settled

EVALUATION = "evaluation"
_MAX_POINTS = 3
_NO_POINTS = Summary(strengths=(), weaknesses=(), suggestions=())


class Evaluated(NamedTuple):
    summary: Summary
    part: Part


async def judge_dimensions(
    context: EvaluationContext[SciCompanionOptions], state: CompanionState, dimensions: Sequence[RubricDimension]
) -> Evaluated:
    """Judge every dimension; points cite papers by markers. If the request for a dimension fails, its score is absent,
    with the reason. Raises errors that would affect every dimension."""
    question = build_state_question(state, context.run, context.options, step=context.options.steps)
    state_fields = {name: getattr(question, name) for name in type(question).model_fields}

    async def judge_dimension(dimension: RubricDimension) -> Assessment:
        question = DimensionQuestion(**state_fields, dimension=dimension)
        answer = await context.ask(build_judging_task(dimension), question)
        return Assessment(
            name=strip_citations(dimension.title),
            statement=strip_citations(dimension.question),
            score=dimension.build_score(answer.score, strip_citations(answer.rationale)),
            points=_build_points(answer, question, state.graph),
            readings=(),
        )

    outcomes = await gather_settled(dimensions, judge_dimension)
    context.run.keep_successes(outcomes, "dimension")
    return _combine_assessments(
        dimensions,
        [
            _build_unscored_assessment(item, f"Not judged: {outcome.error.reason}.")
            if isinstance(outcome, Failed)
            else outcome
            for item, outcome in zip(dimensions, outcomes, strict=True)
        ],
    )


def build_unscored_evaluation(dimensions: Sequence[RubricDimension]) -> Evaluated:
    """Return all dimensions without scores, for use when no language model is configured."""
    reason = "no language model is configured."
    return _combine_assessments(dimensions, [_build_unscored_assessment(dimension, reason) for dimension in dimensions])


def _combine_assessments(dimensions: Sequence[RubricDimension], assessments: Sequence[Assessment]) -> Evaluated:
    """Combine the assessments. The overall judgement provides the part's score and the points in the report's
    summary."""
    overall = assessments[[dimension.name for dimension in dimensions].index(OVERALL)]
    other_assessments = [assessment for assessment in assessments if assessment is not overall] or assessments
    points = [point for assessment in other_assessments for point in _choose_leading_points(assessment.points)]
    part = Part(
        name=EVALUATION,
        title="Evaluation",
        score=overall.score,
        summary=_build_summary(points) if points else Absent(reason="no point was made."),
        assessments=tuple(assessments),
    )
    return Evaluated(_build_summary(overall.points) if overall.points else _NO_POINTS, part)


def _choose_leading_points(points: Iterable[Point]) -> list[Point]:
    """Return the first point of each kind."""
    first: dict[str, Point] = {}
    for point in points:
        first.setdefault(point.kind, point)
    return list(first.values())


def _build_summary(points: Sequence[Point]) -> Summary:
    def select_kind(kind: str) -> tuple[Point, ...]:
        return tuple(point for point in points if point.kind == kind)[:_MAX_POINTS]

    return Summary(
        strengths=select_kind("strength"), weaknesses=select_kind("weakness"), suggestions=select_kind("suggestion")
    )


def _build_unscored_assessment(dimension: RubricDimension, reason: str) -> Assessment:
    return Assessment(
        name=strip_citations(dimension.title),
        statement=strip_citations(dimension.question),
        score=Absent(reason=reason),
        points=(),
        readings=(),
    )


def _build_points(answer: Judgement, question: DimensionQuestion, graph: StateGraph) -> tuple[Point, ...]:
    """Convert the answer to points. A point gets the quotes of edges that say the same about the papers that it
    cites."""
    papers = {paper.label: paper.paper_id for paper in question.papers}
    quotes = [quote for edge in graph.edges.values() for quote in _collect_given_quotes(edge, graph)]
    numbers = collect_numbers(f"{question.title}\n\n{question.idea}")
    return PointWriter(papers, quotes, numbers, {paper.paper_id: paper for paper in question.papers}).build_all_points(
        answer
    )


def _collect_given_quotes(edge: EvidenceEdge, graph: StateGraph) -> list[GivenQuote]:
    """Return an edge's quotes. A quote for evidence on one of the idea's claims counts for the side that the evidence
    supports; other quotes can support points on either side."""
    paper = graph.evidence.get(edge.key)
    if paper is None or edge.basis not in ("quoted", "unverified"):
        return []
    is_own_claim = any(
        item.source == IDEA_NODE and item.kind == "states" and item.target == edge.target
        for item in graph.edges.values()
    )
    side: Side = "neither"
    if is_own_claim and edge.kind in ("supports", "contradicts"):
        side = "for" if edge.kind == "supports" else "against"
    quote = Quoted(words=edge.quote, state="verified" if edge.basis == "quoted" else "not_found")
    return [GivenQuote(paper=paper, side=side, statement=edge.statement, quoted=quote)]
