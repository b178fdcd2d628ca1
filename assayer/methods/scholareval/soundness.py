"""Soundness: methods → query → evidence → per-paper reading → per-method review → summary (5 levels)."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from assayer.citing.claim_numbers import KnownNumbers, numbers_in
from assayer.citing.claim_quotes import GivenQuote, Side, given_by_points, quoted_point
from assayer.citing.evidence import Evidence, Quoted, check_quote, citation_of, evidence_batches
from assayer.citing.labels import labelled, marker, paper_of, plain, relabel
from assayer.errors import AssayerError
from assayer.literature.library import Library, field_coverage, near_beyond_corpus
from assayer.llm import Llm, ask
from assayer.methods.scholareval import tasks
from assayer.methods.scholareval.aggregation import mean_score, score_or_absent, unreviewed_assessment
from assayer.methods.scholareval.options import ScholarEvalOptions
from assayer.methods.scholareval.paper_evidence import evidence_from_papers
from assayer.methods.scholareval.schemas import (
    MethodReview,
    MethodsQuestion,
    PaperNote,
    PaperReading,
    ProposedMethod,
    QueryQuestion,
    ReadingQuestion,
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
    Passage,
    Point,
    Reading,
    Score,
    Summary,
)
from assayer.run.run import Run
from assayer.run.structured_concurrency import Failed, attempt, each

__all__ = ["SoundnessModule"]

_STANCE: dict[Stance, Literal[-1, 0, 1]] = {"contradicts": -1, "neutral": 0, "supports": 1}
_SIDE: dict[Stance, Side] = {"contradicts": "against", "neutral": "neither", "supports": "for"}


@dataclass(frozen=True)
class _RelevantPaper:
    """One relevant paper: its reading, and whether the quote was found in the text that was shown."""

    paper: PaperId
    title: str
    year: int | None
    similarity: float | None
    reading: PaperReading
    quoted: Quoted | None
    numbers: frozenset[Decimal]
    """Of what was shown of the paper."""


class SoundnessModule:
    """The soundness module of one evaluation. Texts and labels leave it as markers."""

    def __init__(
        self, llm: Llm, library: Library, run: Run, options: ScholarEvalOptions, idea: str, fit: FitLevel
    ) -> None:
        self._llm, self._library, self._run, self._options = llm, library, run, options
        self._idea, self._corpus_fit = idea, fit
        self.papers: dict[PaperId, Paper] = {}
        self._numbers: dict[PaperId, frozenset[Decimal]] = {}
        """Of what any method was shown of each paper."""

    async def evaluate(self) -> Part:
        question = MethodsQuestion(idea=self._idea, limit=self._options.methods)
        methods = (await ask(self._llm, tasks.METHODS, question, self._run)).methods
        self._run.journal.record_dropped(
            "method", "less important than the methods reviewed", max(0, len(methods) - self._options.methods)
        )
        methods = methods[: self._options.methods]
        done = 0

        async def assess(method: ProposedMethod) -> Assessment:
            nonlocal done
            assessment = await self._assess_method(method)
            done += 1
            self._run.report_progress("soundness", done, len(methods) + 1)
            return assessment

        outcomes = await each(methods, assess)
        self._run.keep_successes(outcomes, "method")
        assessments = [
            unreviewed_assessment(method.name, method.description, outcome.error)
            if isinstance(outcome, Failed)
            else outcome
            for method, outcome in zip(methods, outcomes, strict=True)
        ]
        summary = await self._summarise(assessments)
        self._run.report_progress("soundness", len(methods) + 1, len(methods) + 1)
        return Part(
            name="soundness",
            title="Soundness",
            score=mean_score(assessments, "method"),
            summary=summary,
            assessments=tuple(assessments),
        )

    async def _assess_method(self, method: ProposedMethod) -> Assessment:
        query = await ask(self._llm, tasks.QUERY, QueryQuestion(idea=self._idea, method=method), self._run)
        passages = await self._library.snippets(query.query, self._options.snippets)
        # By this search alone: what other searches have found by now depends on which was first.
        fit = field_coverage(self._corpus_fit, near_beyond_corpus(passages))
        evidence = await self._find_evidence(method, passages, fit)
        batched = evidence_batches(evidence, self._options.reading_batch, self._options.reading_batch_chars)
        outcomes = await each(batched, lambda batch: self._read_papers(method, batch))
        sizes = [len(batch) for batch in batched]
        relevant = [one for batch in self._run.keep_successes(outcomes, "paper for a method", sizes) for one in batch]
        readings = tuple(_reading(source, numbers_in(self._idea)) for source in relevant)
        name, statement = plain(method.name), plain(method.description)
        if not relevant:
            absent = self._no_relevant_paper([one.error for one in outcomes if isinstance(one, Failed)], fit)
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
            score=score_or_absent(review.score, review.rationale),
            points=self._points(review, relevant),
            readings=readings,
        )

    def _no_relevant_paper(self, errors: Sequence[AssayerError], fit: FitLevel) -> Absent:
        if errors:
            return Absent(reason=f"Not reviewed: its papers could not be read because {errors[0].reason}.")
        elsewhere = "" if fit == "good" else "; the corpus does not cover this field well"
        return Absent(reason=f"No paper relevant to this method was found{elsewhere}.")

    async def _find_evidence(
        self, method: ProposedMethod, passages: Sequence[Passage], fit: FitLevel
    ) -> list[Evidence]:
        """The papers of the best passages and the papers those passages cite, the nearest first."""
        found = {passage.paper.id: passage.paper for passage in passages}
        cited = dict.fromkeys(one for passage in passages for one in passage.cites if one not in found)
        found |= {paper.id: paper for paper in await self._library.papers(list(cited))}
        nearness = await self._library.similarity(f"{method.name}. {method.description}", list(found))
        least = getattr(self._options.admission, fit)
        near = [paper for paper in found.values() if nearness.get(paper.id, 0.0) >= least]
        self._run.journal.record_dropped(
            "paper for a method",
            "too far from the method, in a corpus that does not cover the field",
            len(found) - len(near),
        )
        near.sort(key=lambda paper: (-nearness.get(paper.id, 0.0), paper.id))
        chosen = near[: self._options.papers_per_method]
        self._run.journal.record_dropped(
            "paper for a method", "ranked below the papers read for a method", len(near) - len(chosen)
        )
        self.papers |= {paper.id: paper for paper in chosen}
        texts = await self._library.full_texts(chosen)
        by_paper: dict[PaperId, list[Passage]] = {}
        for passage in passages:
            by_paper.setdefault(passage.paper.id, []).append(passage)
        return evidence_from_papers(chosen, self._run, self._options.evidence_chars, nearness, by_paper, texts)

    async def _read_papers(self, method: ProposedMethod, batch: tuple[Evidence, ...]) -> list[_RelevantPaper]:
        question = ReadingQuestion(idea=self._idea, method=method, evidence=batch)
        answer = await ask(self._llm, tasks.READING, question, self._run)
        shown = {item.label: item for item in batch}
        relevant = [reading for reading in answer.readings if reading.relevant]
        self._run.journal.record_dropped(
            "paper reading", "the paper is not relevant to the method", len(answer.readings) - len(relevant)
        )
        for item in batch:
            self._numbers[item.paper_id] = self._numbers.get(item.paper_id, frozenset()) | item.numbers
        return [
            _RelevantPaper(
                paper=shown[reading.label].paper_id,
                title=shown[reading.label].title,
                year=shown[reading.label].year,
                similarity=shown[reading.label].similarity,
                reading=reading,
                quoted=check_quote(reading.quote, shown[reading.label]),
                numbers=shown[reading.label].numbers,
            )
            for reading in relevant
        ]

    async def _review_method(
        self, method: ProposedMethod, relevant: Sequence[_RelevantPaper], fit: FitLevel
    ) -> MethodReview:
        question = ReviewQuestion(
            idea=self._idea,
            method=method,
            notes=tuple(_paper_note(f"P{number}", source) for number, source in enumerate(relevant, start=1)),
            fit=fit,
        )
        return await ask(self._llm, tasks.REVIEW, question, self._run)

    async def _summarise(self, assessments: Sequence[Assessment]) -> Summary | Absent:
        reviewed = [(one, one.score.value) for one in assessments if isinstance(one.score, Score)]
        if not reviewed:
            return Absent(reason="No method could be reviewed.")
        cited = dict.fromkeys(
            citation.label for one, _ in reviewed for given in one.points for citation in given.citations
        )
        given = given_by_points(point for one, _ in reviewed for point in one.points)
        numbers = KnownNumbers(numbers_in(self._idea), self._numbers)
        papers = labelled(map(paper_of, cited))
        labels = {paper: label for label, paper in papers.items()}
        question = SummaryQuestion(
            idea=self._idea,
            reviews=tuple(_review_digest(one, score, labels) for one, score in reviewed),
            labels=tuple(papers),
        )
        outcome = await attempt(ask(self._llm, tasks.SUMMARY, question, self._run))
        if isinstance(outcome, Failed):
            self._run.keep_successes([outcome], "summary of soundness")
            return Absent(reason=f"Not written: {outcome.error.reason}.")
        return Summary(
            strengths=tuple(quoted_point("strength", one.text, papers, given, numbers) for one in outcome.strengths),
            weaknesses=tuple(quoted_point("weakness", one.text, papers, given, numbers) for one in outcome.weaknesses),
            suggestions=tuple(
                quoted_point("suggestion", one.text, papers, given, numbers) for one in outcome.suggestions
            ),
        )

    def _points(self, review: MethodReview, relevant: Sequence[_RelevantPaper]) -> tuple[Point, ...]:
        papers = labelled(source.paper for source in relevant)
        given = [_given_quote(source) for source in relevant]
        numbers = KnownNumbers(numbers_in(self._idea), {source.paper: source.numbers for source in relevant})
        return (
            *(quoted_point("support", one.text, papers, given, numbers) for one in review.support),
            *(quoted_point("contradiction", one.text, papers, given, numbers) for one in review.contradictions),
            *(quoted_point("suggestion", one.text, papers, given, numbers) for one in review.suggestions),
        )


def _reading(source: _RelevantPaper, idea: Set[Decimal]) -> Reading:
    text = plain(f"{source.reading.method} {source.reading.results} {source.reading.context}")
    return Reading(
        label=marker(source.paper),
        stance=_STANCE[source.reading.stance],
        text=text,
        quote=citation_of(source.paper, source.quoted) if source.quoted else None,
        numbers_not_found=KnownNumbers(idea, {source.paper: source.numbers}).missing_from(text, [source.paper]),
    )


def _paper_note(label: str, source: _RelevantPaper) -> PaperNote:
    verified = source.quoted is not None and source.quoted.state == "verified"
    return PaperNote(
        label=label,
        title=source.title,
        year=source.year,
        stance=source.reading.stance,
        method=plain(source.reading.method),
        results=plain(source.reading.results),
        context=plain(source.reading.context),
        quote=source.quoted.words if source.quoted and verified else "",
        similarity=source.similarity,
    )


def _given_quote(source: _RelevantPaper) -> GivenQuote:
    reading = source.reading
    return GivenQuote(
        paper=source.paper,
        side=_SIDE[reading.stance],
        statement=f"{reading.method} {reading.results} {reading.context}",
        quoted=source.quoted,
    )


def _review_digest(assessment: Assessment, score: float, labels: Mapping[PaperId, str]) -> ReviewDigest:
    def texts(kind: str) -> tuple[str, ...]:
        return tuple(relabel(one.text, labels) for one in assessment.points if one.kind == kind)

    return ReviewDigest(
        name=assessment.name,
        score=score,
        support=texts("support"),
        contradictions=texts("contradiction"),
        suggestions=texts("suggestion"),
    )
