"""Soundness: methods and queries → first look at titles → reading → per-method review → summary (5 levels)."""

from collections.abc import Mapping, Sequence, Set
from decimal import Decimal
from typing import Literal

from assayer.citing.claim_numbers import KnownNumbers, numbers_in
from assayer.citing.claim_quotes import GivenQuote, PointKind, Side, given_by_points, quoted_point
from assayer.citing.evidence import citation_of
from assayer.citing.labels import labelled, marker, paper_of, plain, relabel
from assayer.errors import AssayerError
from assayer.literature.library import Library
from assayer.llm import Llm, ask
from assayer.methods.scholareval import tasks
from assayer.methods.scholareval.aggregation import mean_score, score_or_absent, unreviewed_assessment
from assayer.methods.scholareval.method_reading import MethodReader, RelevantPaper, method_parts
from assayer.methods.scholareval.options import ScholarEvalOptions
from assayer.methods.scholareval.paper_evidence import title_line
from assayer.methods.scholareval.read_for_methods import ReadForMethods
from assayer.methods.scholareval.schemas import (
    CitedTitle,
    Claim,
    MethodReview,
    MethodsQuestion,
    PaperNote,
    ProposedMethod,
    ReviewDigest,
    ReviewQuestion,
    Stance,
    SummaryQuestion,
)
from assayer.models import (
    Absent,
    Assessment,
    FitLevel,
    Paper,
    PaperId,
    Part,
    Point,
    Reading,
    Score,
    Summary,
)
from assayer.ports import Reranker
from assayer.run.run import Run
from assayer.run.structured_concurrency import Failed, attempt, each, together

__all__ = ["SoundnessModule", "paper_note"]

_STANCE: dict[Stance, Literal[-1, 0, 1]] = {"contradicts": -1, "neutral": 0, "supports": 1}
_UNREAD = "It was not read for this method: the settings leave the reading out."
_SIDE: dict[Stance, Side] = {"contradicts": "against", "neutral": "neither", "supports": "for"}


class SoundnessModule:
    """The soundness module of one evaluation. Texts and labels leave it as markers."""

    def __init__(
        self,
        llm: Llm,
        library: Library,
        run: Run,
        options: ScholarEvalOptions,
        idea: str,
        fit: FitLevel,
        reranker: Reranker | None = None,
        shared: ReadForMethods | None = None,
    ) -> None:
        """What it reads is given to `shared`."""
        self._llm, self._library, self._run, self._options = llm, library, run, options
        self._idea, self._shared = idea, shared or ReadForMethods()
        self._reader = MethodReader(llm, library, run, options, idea, fit, reranker)

    @property
    def papers(self) -> Mapping[PaperId, Paper]:
        """Found for the methods."""
        return self._reader.papers

    async def evaluate(self) -> Part:
        try:
            return await self._evaluate()
        finally:
            self._shared.give()

    async def _evaluate(self) -> Part:
        self._run.report_progress("soundness", 0, 1)  # how many methods there are is not known yet
        question = MethodsQuestion(idea=self._idea, limit=self._options.methods)
        methods = (await ask(self._llm, tasks.METHODS, question, self._run)).methods
        self._run.journal.record_dropped(
            "method", "less important than the methods reviewed", max(0, len(methods) - self._options.methods)
        )
        methods = methods[: self._options.methods]
        parts = method_parts(methods)
        searched = await each(methods, self._reader.search)
        self._run.keep_successes(searched, "method")
        found = {part.label: one for part, one in zip(parts, searched, strict=True) if not isinstance(one, Failed)}
        read = await self._reader.read(parts, found)
        self._shared.give(one for part in parts for one in read.notes.get(part.label, ()))
        done = 0

        async def assess(place: int) -> Assessment:
            nonlocal done
            label, search = parts[place].label, searched[place]
            assessment = (
                unreviewed_assessment(methods[place].name, methods[place].description, search.error)
                if isinstance(search, Failed)
                else await self._assess_method(methods[place], read.notes[label], search.fit, read.errors)
            )
            done += 1
            self._run.report_progress("soundness", done, len(methods) + 1)
            return assessment

        assessments = await together(assess(place) for place in range(len(methods)))
        summary = await self._summarise(assessments)
        self._run.report_progress("soundness", len(methods) + 1, len(methods) + 1)
        return Part(
            name="soundness",
            title="Soundness",
            score=mean_score(assessments, "method"),
            summary=summary,
            assessments=tuple(assessments),
        )

    async def _assess_method(
        self,
        method: ProposedMethod,
        relevant: Sequence[RelevantPaper],
        fit: FitLevel,
        errors: Sequence[AssayerError],
    ) -> Assessment:
        readings = tuple(_reading(source, numbers_in(self._idea)) for source in relevant)
        name, statement = plain(method.name), plain(method.description)
        if not relevant:
            absent = self._no_relevant_paper(errors, fit)
            return Assessment(name=name, statement=statement, score=absent, points=(), readings=())
        review = await attempt(self._review_method(method, relevant, fit))
        if isinstance(review, Failed):
            self._run.keep_successes([review], "review of a method")
            return Assessment(
                name=name,
                statement=statement,
                score=Absent(reason=f"Not reviewed: {review.error.reason}."),
                points=(),
                readings=readings,
            )
        return Assessment(
            name=name,
            statement=statement,
            score=score_or_absent(review.score, review.rationale, review.certainty),
            points=self._points(review, relevant),
            readings=readings,
        )

    def _no_relevant_paper(self, errors: Sequence[AssayerError], fit: FitLevel) -> Absent:
        if errors:
            return Absent(reason=f"Not reviewed: its papers could not be read because {errors[0].reason}.")
        elsewhere = "" if fit == "good" else "; the corpus does not cover this field well"
        return Absent(reason=f"No paper relevant to this method was found{elsewhere}.")

    async def _review_method(
        self, method: ProposedMethod, relevant: Sequence[RelevantPaper], fit: FitLevel
    ) -> MethodReview:
        question = ReviewQuestion(
            idea=self._idea,
            method=method,
            notes=tuple(paper_note(f"P{number}", source) for number, source in enumerate(relevant, start=1)),
            fit=fit,
            day=self._run.cutoff,
        )
        return await ask(self._llm, tasks.REVIEW, question, self._run)

    async def _summarise(self, assessments: Sequence[Assessment]) -> Summary | Absent:
        reviewed = [(one, one.score) for one in assessments if isinstance(one.score, Score)]
        if not reviewed:
            return Absent(reason="No method could be reviewed.")
        cited = dict.fromkeys(
            citation.label for one, _ in reviewed for given in one.points for citation in given.citations
        )
        given = given_by_points(point for one, _ in reviewed for point in one.points)
        numbers, shown = KnownNumbers(numbers_in(self._idea), self._reader.numbers), self._reader.shown
        papers = labelled(map(paper_of, cited))
        labels = {paper: label for label, paper in papers.items()}
        question = SummaryQuestion(
            idea=self._idea,
            reviews=tuple(_review_digest(one, score, labels) for one, score in reviewed),
            papers=tuple(_cited_title(label, self.papers[paper]) for label, paper in papers.items()),
            labels=tuple(papers),
            unreviewed=tuple(one.name for one in assessments if not isinstance(one.score, Score)),
        )
        outcome = await attempt(ask(self._llm, tasks.SUMMARY, question, self._run))
        if isinstance(outcome, Failed):
            self._run.keep_successes([outcome], "summary of soundness")
            return Absent(reason=f"Not written: {outcome.error.reason}.")

        def said(kind: PointKind, texts: Sequence[Claim]) -> tuple[Point, ...]:
            return tuple(quoted_point(kind, one.text, papers, given, numbers, shown) for one in texts)

        return Summary(
            strengths=said("strength", outcome.strengths),
            weaknesses=said("weakness", outcome.weaknesses),
            suggestions=said("suggestion", outcome.suggestions),
        )

    def _points(self, review: MethodReview, relevant: Sequence[RelevantPaper]) -> tuple[Point, ...]:
        papers = labelled(source.paper for source in relevant)
        given = [_given_quote(source) for source in relevant]
        numbers = KnownNumbers(numbers_in(self._idea), {source.paper: source.numbers for source in relevant})
        shown = {source.paper: source.shown for source in relevant}
        return (
            *(quoted_point("support", one.text, papers, given, numbers, shown) for one in review.support),
            *(quoted_point("contradiction", one.text, papers, given, numbers, shown) for one in review.contradictions),
            *(quoted_point("suggestion", one.text, papers, given, numbers, shown) for one in review.suggestions),
        )


def _reading(source: RelevantPaper, idea: Set[Decimal]) -> Reading:
    if source.note is None:
        return Reading(label=marker(source.paper), stance=None, text=_UNREAD)
    text = plain(f"{source.note.did} {source.note.results} {source.note.context}")
    return Reading(
        label=marker(source.paper),
        stance=_STANCE[source.note.stance],
        text=text,
        quote=citation_of(source.paper, source.quoted) if source.quoted else None,
        numbers_not_found=KnownNumbers(idea, {source.paper: source.numbers}).missing_from(text, [source.paper]),
    )


def paper_note(label: str, source: RelevantPaper) -> PaperNote:
    """As reviews are shown it."""
    verified = source.quoted is not None and source.quoted.state == "verified"
    note = source.note
    return PaperNote(
        label=label,
        title=source.title,
        year=source.year,
        stance=note.stance if note else None,
        did=plain(note.did) if note else plain(source.abstract),
        results=plain(note.results) if note else "",
        context=plain(note.context) if note else "",
        quote=source.quoted.words if source.quoted and verified else "",
        similarity=source.similarity,
    )


def _given_quote(source: RelevantPaper) -> GivenQuote:
    note = source.note
    return GivenQuote(
        paper=source.paper,
        side=_SIDE[note.stance] if note else "neither",
        statement=f"{note.did} {note.results} {note.context}" if note else "",
        quoted=source.quoted,
    )


def _cited_title(label: str, paper: Paper) -> CitedTitle:
    year = paper.publication_date.year if paper.publication_date else None
    return CitedTitle(label=label, title=title_line(paper), year=year)


def _review_digest(assessment: Assessment, score: Score, labels: Mapping[PaperId, str]) -> ReviewDigest:
    def texts(kind: str) -> tuple[str, ...]:
        return tuple(relabel(one.text, labels) for one in assessment.points if one.kind == kind)

    return ReviewDigest(
        name=assessment.name,
        score=score.value,
        certainty=score.certainty or "low",
        support=texts("support"),
        contradictions=texts("contradiction"),
        suggestions=texts("suggestion"),
    )
