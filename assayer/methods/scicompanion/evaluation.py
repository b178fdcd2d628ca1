"""The final evaluation: graph and notebook judged on each dimension, side by side."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assayer.citing.claim_numbers import KnownNumbers, numbers_in
from assayer.citing.claim_quotes import GivenQuote, Side, quoted_point
from assayer.citing.evidence import Quoted
from assayer.citing.labels import plain
from assayer.llm import Llm, ask
from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.methods.innoeval.schemas import Judgement
from assayer.methods.scicompanion.graph import IDEA_NODE, StateGraph
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.methods.scicompanion.prompt_state import CompanionState, state_question
from assayer.methods.scicompanion.schemas import DimensionQuestion
from assayer.methods.scicompanion.tasks import judging_task
from assayer.models import Absent, Assessment, EvidenceEdge, Part, Point, Score, Summary
from assayer.run.run import Run
from assayer.run.structured_concurrency import Failed, each

__all__ = ["EVALUATION", "Evaluated", "judge_dimensions", "unjudged"]

EVALUATION = "evaluation"
_MOST_POINTS = 3
_NO_POINTS = Summary(strengths=(), weaknesses=(), suggestions=())


class Evaluated(NamedTuple):
    summary: Summary
    part: Part


async def judge_dimensions(
    llm: Llm, run: Run, state: CompanionState, options: SciCompanionOptions, dimensions: Sequence[RubricDimension]
) -> Evaluated:
    """Papers are cited by markers. A dimension whose call fails has no score, with the reason. Raises what makes going
    on pointless for all."""
    given = state_question(state, run, options, step=options.steps)
    shown = {name: getattr(given, name) for name in type(given).model_fields}

    async def judged(dimension: RubricDimension) -> Assessment:
        question = DimensionQuestion(**shown, dimension=dimension)
        answer = await ask(llm, judging_task(dimension), question, run)
        return Assessment(
            name=plain(dimension.title),
            statement=plain(dimension.question),
            score=_score(answer, dimension),
            points=_points(answer, question, state.graph),
            readings=(),
        )

    outcomes = await each(dimensions, judged)
    run.keep_successes(outcomes, "dimension")
    return _together(
        [
            _without_score(one, f"Not judged: {outcome.error.reason}.") if isinstance(outcome, Failed) else outcome
            for one, outcome in zip(dimensions, outcomes, strict=True)
        ]
    )


def unjudged(dimensions: Sequence[RubricDimension]) -> Evaluated:
    """Of a run without a language model."""
    reason = "Not judged: nothing here reads papers but a language model, and none is configured."
    return _together([_without_score(one, reason) for one in dimensions])


def _together(assessments: Sequence[Assessment]) -> Evaluated:
    """The last dimension is the overall judgement: its score is the part's, its points lead the report."""
    overall = assessments[-1]
    points = [point for one in assessments[:-1] or assessments for point in _leading(one.points)]
    part = Part(
        name=EVALUATION,
        title="Evaluation",
        score=overall.score,
        summary=_summary(points) if points else Absent(reason="no point was made."),
        assessments=tuple(assessments),
    )
    return Evaluated(_summary(overall.points) if overall.points else _NO_POINTS, part)


def _leading(points: Iterable[Point]) -> list[Point]:
    """The first of each kind."""
    first: dict[str, Point] = {}
    for one in points:
        first.setdefault(one.kind, one)
    return list(first.values())


def _summary(points: Sequence[Point]) -> Summary:
    def of(kind: str) -> tuple[Point, ...]:
        return tuple(one for one in points if one.kind == kind)[:_MOST_POINTS]

    return Summary(strengths=of("strength"), weaknesses=of("weakness"), suggestions=of("suggestion"))


def _without_score(dimension: RubricDimension, reason: str) -> Assessment:
    return Assessment(
        name=plain(dimension.title),
        statement=plain(dimension.question),
        score=Absent(reason=reason),
        points=(),
        readings=(),
    )


def _score(answer: Judgement, dimension: RubricDimension) -> Score | Absent:
    basis = plain(answer.rationale)
    if answer.score is None:
        return Absent(reason=basis)
    return Score(value=answer.score, scale_min=dimension.scale.min, scale_max=dimension.scale.max, basis=basis)


def _points(answer: Judgement, question: DimensionQuestion, graph: StateGraph) -> tuple[Point, ...]:
    """A point carries the quotes of edges that say what it says of the papers it cites."""
    papers = {one.label: one.paper_id for one in question.papers}
    given = [quote for edge in graph.edges.values() for quote in _given_quotes(edge, graph)]
    numbers = KnownNumbers(
        numbers_in(f"{question.title}\n\n{question.idea}"), {one.paper_id: one.numbers for one in question.papers}
    )
    shown = {one.paper_id: one for one in question.papers}
    return (
        *(quoted_point("strength", one.text, papers, given, numbers, shown) for one in answer.strengths),
        *(quoted_point("weakness", one.text, papers, given, numbers, shown) for one in answer.weaknesses),
        *(quoted_point("suggestion", one.text, papers, given, numbers, shown) for one in answer.suggestions),
    )


def _given_quotes(edge: EvidenceEdge, graph: StateGraph) -> list[GivenQuote]:
    """What bears on a claim of the idea takes its side; other words may carry points on either."""
    paper = graph.evidence.get(edge.key)
    if paper is None or edge.basis not in ("quoted", "unverified"):
        return []
    own = any(
        one.source == IDEA_NODE and one.kind == "states" and one.target == edge.target for one in graph.edges.values()
    )
    sides: tuple[Side, ...] = ("for", "against")
    if own and edge.kind in ("supports", "contradicts"):
        sides = ("for",) if edge.kind == "supports" else ("against",)
    quoted = Quoted(words=edge.quote, state="verified" if edge.basis == "quoted" else "not_found")
    return [GivenQuote(paper=paper, side=side, statement=edge.statement, quoted=quoted) for side in sides]
