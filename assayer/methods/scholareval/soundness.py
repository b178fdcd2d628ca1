"""Soundness module, in five stages: methods and queries → title screening → reading → review of each method →
summary."""

from collections.abc import Mapping, Sequence, Set
from decimal import Decimal
from typing import Literal

from assayer.citing.claim_numbers import collect_numbers
from assayer.citing.claim_quotes import GivenQuote, Side, collect_given_quotes
from assayer.citing.labels import label_papers, parse_marker, relabel, strip_citations
from assayer.errors import AssayerError
from assayer.evaluation_context import EvaluationContext
from assayer.methods.points import PointWriter, build_reading, get_verified_words
from assayer.methods.scholareval import tasks
from assayer.methods.scholareval.aggregation import build_score, build_unreviewed_assessment, compute_mean_score
from assayer.methods.scholareval.first_look import build_shown_title
from assayer.methods.scholareval.method_reading import MethodReader, RelevantPaper, label_methods
from assayer.methods.scholareval.options import ScholarEvalOptions
from assayer.methods.scholareval.schemas import (
    MethodNote,
    MethodReview,
    MethodsQuestion,
    PaperNote,
    ProposedMethod,
    ReviewDigest,
    ReviewQuestion,
    Stance,
    SummaryQuestion,
)
from assayer.methods.scholareval.soundness_readings import SoundnessReadings
from assayer.models import Absent, Assessment, FitLevel, Paper, PaperId, Part, Point, Reading, Score, Summary
from assayer.run.concurrency import Failed, gather_all, gather_settled

_STANCE: dict[Stance, Literal[-1, 0, 1]] = {"contradicts": -1, "neutral": 0, "background": 0, "supports": 1}
_SIDE: dict[Stance, Side] = {
    "contradicts": "against",
    "neutral": "neither",
    "background": "neither",
    "supports": "for",
}


class SoundnessModule:
    """The soundness module for one evaluation. Its texts cite papers by markers."""

    def __init__(
        self, context: EvaluationContext[ScholarEvalOptions], fit: FitLevel, readings: SoundnessReadings
    ) -> None:
        """Papers read for the methods are published to `readings`, even if the module fails."""
        self._context, self._readings = context, readings
        self._run, self._options = context.run, context.options
        self._numbers = collect_numbers(context.text)
        self._reader = MethodReader(context, fit)

    @property
    def papers(self) -> Mapping[PaperId, Paper]:
        """Papers found for the methods."""
        return self._reader.papers

    async def evaluate(self) -> Part:
        try:
            return await self._evaluate_methods()
        finally:
            self._readings.publish()

    async def _evaluate_methods(self) -> Part:
        self._run.report_progress("soundness", 0, 1)  # the number of methods is not known yet
        question = MethodsQuestion(idea=self._context.text, limit=self._options.methods)
        methods = (await self._context.ask(tasks.METHODS, question)).methods
        self._run.journal.record_dropped(
            "method", "less important than the methods reviewed", max(0, len(methods) - self._options.methods)
        )
        methods = methods[: self._options.methods]
        parts = label_methods(methods)
        search_outcomes = await gather_settled(methods, self._reader.search)
        self._run.keep_successes(search_outcomes, "method")
        candidates_by_method = {
            part.label: item for part, item in zip(parts, search_outcomes, strict=True) if not isinstance(item, Failed)
        }
        read = await self._reader.read(parts, candidates_by_method)
        self._readings.publish(self._select_relevant_papers(read.notes))
        done_count = 0

        async def assess_method(place: int) -> Assessment:
            nonlocal done_count
            label, search = parts[place].label, search_outcomes[place]
            assessment = (
                build_unreviewed_assessment(methods[place].name, methods[place].description, search.error)
                if isinstance(search, Failed)
                else await self._assess_method(methods[place], read.notes[label], search.fit, read.errors)
            )
            done_count += 1
            self._run.report_progress("soundness", done_count, len(methods) + 1)
            return assessment

        assessments = await gather_all(assess_method(place) for place in range(len(methods)))
        summary = await self._summarise(assessments)
        self._run.report_progress("soundness", len(methods) + 1, len(methods) + 1)
        return Part(
            name="soundness",
            title="Soundness",
            score=compute_mean_score(assessments, "method"),
            summary=summary,
            assessments=tuple(assessments),
        )

    def _select_relevant_papers(self, notes: Mapping[str, Sequence[RelevantPaper]]) -> list[Paper]:
        """Return the papers with a note other than background, nearest first."""
        nearness = {
            item.paper: item.shown.similarity or 0.0
            for method_papers in notes.values()
            for item in method_papers
            if item.note.stance != "background"
        }
        return [self.papers[paper] for paper in sorted(nearness, key=lambda paper: (-nearness[paper], paper))]

    async def _assess_method(
        self,
        method: ProposedMethod,
        relevant: Sequence[RelevantPaper],
        fit: FitLevel,
        errors: Sequence[AssayerError],
    ) -> Assessment:
        readings = tuple(_build_reading(source, self._numbers) for source in relevant)
        name, statement = strip_citations(method.name), strip_citations(method.description)
        if not relevant:
            absent = self._explain_no_relevant_paper(errors, fit)
            return Assessment(name=name, statement=statement, score=absent, points=(), readings=())
        question = ReviewQuestion(
            idea=self._context.text,
            method=method,
            notes=tuple(_build_paper_note(f"P{number}", source) for number, source in enumerate(relevant, start=1)),
            fit=fit,
            day=self._run.cutoff,
        )
        review = await self._context.try_to_ask(tasks.REVIEW, question, "review of a method")
        if isinstance(review, Failed):
            return build_unreviewed_assessment(name, statement, review.error, readings)
        return Assessment(
            name=name,
            statement=statement,
            score=build_score(review.score, review.rationale, review.certainty),
            points=self._build_points(review, relevant),
            readings=readings,
        )

    def _explain_no_relevant_paper(self, errors: Sequence[AssayerError], fit: FitLevel) -> Absent:
        if errors:
            return Absent(reason=f"Not reviewed: its papers could not be read because {errors[0].reason}.")
        elsewhere = "" if fit == "good" else "; the corpus does not cover this field well"
        return Absent(reason=f"No paper relevant to this method was found{elsewhere}.")

    async def _summarise(self, assessments: Sequence[Assessment]) -> Summary | Absent:
        reviewed_methods = [
            (assessment, assessment.score) for assessment in assessments if isinstance(assessment.score, Score)
        ]
        if not reviewed_methods:
            return Absent(reason="No method could be reviewed.")
        points = [point for item, _ in reviewed_methods for point in item.points]
        cited_labels = dict.fromkeys(citation.label for point in points for citation in point.citations)
        papers = label_papers(map(parse_marker, cited_labels))
        labels = {paper: label for label, paper in papers.items()}
        question = SummaryQuestion(
            idea=self._context.text,
            reviews=tuple(_build_review_digest(item, score, labels) for item, score in reviewed_methods),
            papers=tuple(build_shown_title(label, self.papers[paper]) for label, paper in papers.items()),
            unreviewed=tuple(assessment.name for assessment in assessments if not isinstance(assessment.score, Score)),
        )
        outcome = await self._context.try_to_ask(tasks.SUMMARY, question, "summary of soundness")
        if isinstance(outcome, Failed):
            return Absent(reason=f"Not written: {outcome.error.reason}.")
        writer = PointWriter(papers, collect_given_quotes(points), self._numbers, self._reader.shown)
        return writer.build_summary(outcome)

    def _build_points(self, review: MethodReview, relevant: Sequence[RelevantPaper]) -> tuple[Point, ...]:
        papers, evidence_by_paper = (
            label_papers(item.paper for item in relevant),
            {item.paper: item.shown for item in relevant},
        )
        writer = PointWriter(papers, [_build_given_quote(item) for item in relevant], self._numbers, evidence_by_paper)
        return (
            *writer.build_points("support", review.support),
            *writer.build_points("contradiction", review.contradictions),
            *writer.build_points("suggestion", review.suggestions),
        )


def _format_note(note: MethodNote) -> str:
    return f"{note.did} {note.results} {note.context}"


def _build_reading(source: RelevantPaper, idea: Set[Decimal]) -> Reading:
    note = source.note
    return build_reading(source.shown, _STANCE[note.stance], strip_citations(_format_note(note)), source.quoted, idea)


def _build_paper_note(label: str, source: RelevantPaper) -> PaperNote:
    """Return the note as shown to the model that reviews the method."""
    evidence, note = source.shown, source.note
    return PaperNote(
        label=label,
        title=evidence.title,
        year=evidence.year,
        stance=note.stance,
        did=strip_citations(note.did),
        results=strip_citations(note.results),
        context=strip_citations(note.context),
        quote=get_verified_words(source.quoted),
        similarity=evidence.similarity,
    )


def _build_given_quote(source: RelevantPaper) -> GivenQuote:
    note = source.note
    return GivenQuote(paper=source.paper, side=_SIDE[note.stance], statement=_format_note(note), quoted=source.quoted)


def _build_review_digest(assessment: Assessment, score: Score, labels: Mapping[PaperId, str]) -> ReviewDigest:
    def list_texts(kind: str) -> tuple[str, ...]:
        return tuple(relabel(point.text, labels) for point in assessment.points if point.kind == kind)

    return ReviewDigest(
        name=assessment.name,
        score=score.value,
        certainty=score.certainty or "low",
        support=list_texts("support"),
        contradictions=list_texts("contradiction"),
        suggestions=list_texts("suggestion"),
    )
