"""Soundness: methods → query → evidence → per-paper reading → per-method review → summary (5 levels)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from assayer.errors import AssayerError
from assayer.evidence import Evidence, Quoted, check_quote, labelled, marker, paper_of, plain, point, relabel
from assayer.flow import Failed, attempt, each
from assayer.library import Library
from assayer.methods.scholareval import tasks
from assayer.methods.scholareval.assessments import overall, rating, unreviewed
from assayer.methods.scholareval.gathering import batches, evidence_of
from assayer.methods.scholareval.options import Options
from assayer.methods.scholareval.schemas import (
    FitLevel,
    Method,
    MethodReview,
    MethodsQuestion,
    Note,
    PaperReading,
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
    Citation,
    Paper,
    PaperId,
    Part,
    Passage,
    Point,
    Reading,
    Score,
    Summary,
)
from assayer.ports import Llm
from assayer.run import Run
from assayer.tasks import ask

__all__ = ["Soundness"]

_STANCE: dict[Stance, Literal[-1, 0, 1]] = {"contradicts": -1, "neutral": 0, "supports": 1}


@dataclass(frozen=True)
class _Read:
    """One relevant paper: what the reader said, and whether the quote stands in the text it was shown."""

    paper: PaperId
    title: str
    year: int | None
    similarity: float | None
    reading: PaperReading
    quoted: Quoted | None


class Soundness:
    """The soundness module of one evaluation. Texts and labels leave it as markers."""

    def __init__(self, llm: Llm, library: Library, run: Run, options: Options, idea: str, fit: FitLevel) -> None:
        self._llm, self._library, self._run, self._options = llm, library, run, options
        self._idea, self._corpus_fit = idea, fit
        self.papers: dict[PaperId, Paper] = {}

    @property
    def _fit(self) -> FitLevel:
        return self._library.level(self._corpus_fit)

    async def evaluate(self) -> Part:
        question = MethodsQuestion(idea=self._idea, limit=self._options.methods)
        methods = (await ask(self._llm, tasks.METHODS, question, self._run)).methods
        self._run.journal.drop(
            "method", "less important than the methods reviewed", max(0, len(methods) - self._options.methods)
        )
        methods = methods[: self._options.methods]
        done = 0

        async def assess(method: Method) -> Assessment:
            nonlocal done
            assessment = await self._assess(method)
            done += 1
            self._run.tell("soundness", done, len(methods) + 1)
            return assessment

        outcomes = await each(methods, assess)
        self._run.keep(outcomes, "method")
        assessments = [
            unreviewed(method.name, method.description, outcome.error) if isinstance(outcome, Failed) else outcome
            for method, outcome in zip(methods, outcomes, strict=True)
        ]
        summary = await self._summary(assessments)
        self._run.tell("soundness", len(methods) + 1, len(methods) + 1)
        return Part(
            name="soundness",
            title="Soundness",
            score=overall(assessments, "method"),
            summary=summary,
            assessments=tuple(assessments),
        )

    async def _assess(self, method: Method) -> Assessment:
        query = await ask(self._llm, tasks.QUERY, QueryQuestion(idea=self._idea, method=method), self._run)
        evidence = await self._evidence(method, query.query)
        batched = batches(evidence, self._options.reading_batch, self._options.reading_batch_chars)
        outcomes = await each(batched, lambda batch: self._read(method, batch))
        sizes = [len(batch) for batch in batched]
        reads = [one for batch in self._run.keep(outcomes, "paper for a method", sizes) for one in batch]
        readings = tuple(_shown(read) for read in reads)
        name, statement = plain(method.name), plain(method.description)
        if not reads:
            absent = self._nothing_read([one.error for one in outcomes if isinstance(one, Failed)])
            return Assessment(name=name, statement=statement, score=absent, points=(), readings=())
        review = await attempt(self._review(method, reads))
        if isinstance(review, Failed):
            self._run.keep([review], "review of a method")
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
            score=rating(review.score, review.rationale),
            points=_points(review, reads),
            readings=readings,
        )

    def _nothing_read(self, errors: Sequence[AssayerError]) -> Absent:
        if errors:
            return Absent(reason=f"Not reviewed: its papers could not be read, as {errors[0].reason}.")
        elsewhere = "" if self._fit == "good" else "; the corpus does not cover this field well"
        return Absent(reason=f"No paper that bears on this method was found{elsewhere}.")

    async def _evidence(self, method: Method, query: str) -> list[Evidence]:
        """The papers of the best passages and the papers those passages cite, the nearest first."""
        passages = await self._library.snippets(query, self._options.snippets)
        found = {passage.paper.id: passage.paper for passage in passages}
        cited = dict.fromkeys(one for passage in passages for one in passage.cites if one not in found)
        found |= {paper.id: paper for paper in await self._library.papers(list(cited))}
        nearness = await self._library.similarity(f"{method.name}. {method.description}", list(found))
        least = getattr(self._options.admission, self._fit)
        near = [paper for paper in found.values() if nearness.get(paper.id, 0.0) >= least]
        self._run.journal.drop(
            "paper for a method",
            "too far from the method, in a corpus that does not cover the field",
            len(found) - len(near),
        )
        near.sort(key=lambda paper: (-nearness.get(paper.id, 0.0), paper.id))
        chosen = near[: self._options.papers_per_method]
        self._run.journal.drop(
            "paper for a method", "ranked below the papers read for a method", len(near) - len(chosen)
        )
        self.papers |= {paper.id: paper for paper in chosen}
        texts = await self._library.full_texts(chosen)
        by_paper: dict[PaperId, list[Passage]] = {}
        for passage in passages:
            by_paper.setdefault(passage.paper.id, []).append(passage)
        return evidence_of(chosen, self._run, self._options.evidence_chars, nearness, by_paper, texts)

    async def _read(self, method: Method, batch: tuple[Evidence, ...]) -> list[_Read]:
        question = ReadingQuestion(idea=self._idea, method=method, evidence=batch)
        answer = await ask(self._llm, tasks.READING, question, self._run)
        shown = {item.label: item for item in batch}
        relevant = [reading for reading in answer.readings if reading.relevant]
        self._run.journal.drop(
            "paper reading", "the paper does not bear on the method", len(answer.readings) - len(relevant)
        )
        return [
            _Read(
                paper=shown[reading.label].paper_id,
                title=shown[reading.label].title,
                year=shown[reading.label].year,
                similarity=shown[reading.label].similarity,
                reading=reading,
                quoted=check_quote(reading.quote, shown[reading.label].shown),
            )
            for reading in relevant
        ]

    async def _review(self, method: Method, reads: Sequence[_Read]) -> MethodReview:
        question = ReviewQuestion(
            idea=self._idea,
            method=method,
            notes=tuple(_note(f"P{number}", read) for number, read in enumerate(reads, start=1)),
            fit=self._fit,
        )
        return await ask(self._llm, tasks.REVIEW, question, self._run)

    async def _summary(self, assessments: Sequence[Assessment]) -> Summary | Absent:
        reviewed = [(one, one.score.value) for one in assessments if isinstance(one.score, Score)]
        if not reviewed:
            return Absent(reason="No method could be reviewed.")
        cited = dict.fromkeys(
            citation.label for one, _ in reviewed for given in one.points for citation in given.citations
        )
        quotes = _all_quotes(one for one, _ in reviewed)
        papers = labelled(map(paper_of, cited))
        labels = {paper: label for label, paper in papers.items()}
        question = SummaryQuestion(
            idea=self._idea,
            reviews=tuple(_digest(one, score, labels) for one, score in reviewed),
            labels=tuple(papers),
        )
        outcome = await attempt(ask(self._llm, tasks.SUMMARY, question, self._run))
        if isinstance(outcome, Failed):
            self._run.keep([outcome], "summary of soundness")
            return Absent(reason=f"Not written: {outcome.error.reason}.")
        return Summary(
            strengths=tuple(point("strength", one.text, papers, quotes) for one in outcome.strengths),
            weaknesses=tuple(point("weakness", one.text, papers, quotes) for one in outcome.weaknesses),
            suggestions=tuple(point("suggestion", one.text, papers, quotes) for one in outcome.suggestions),
        )


def _shown(read: _Read) -> Reading:
    text = f"{read.reading.method} {read.reading.results} {read.reading.context}"
    return Reading(
        label=marker(read.paper),
        stance=_STANCE[read.reading.stance],
        text=plain(text),
        quote=Citation(label=marker(read.paper), quote=read.quoted.words, quote_state=read.quoted.state)
        if read.quoted
        else None,
    )


def _note(label: str, read: _Read) -> Note:
    verified = read.quoted is not None and read.quoted.state == "verified"
    return Note(
        label=label,
        title=read.title,
        year=read.year,
        stance=read.reading.stance,
        method=plain(read.reading.method),
        results=plain(read.reading.results),
        context=plain(read.reading.context),
        quote=read.quoted.words if read.quoted and verified else "",
        similarity=read.similarity,
    )


def _points(review: MethodReview, reads: Sequence[_Read]) -> tuple[Point, ...]:
    papers = labelled(read.paper for read in reads)
    quotes = {read.paper: read.quoted for read in reads if read.quoted}
    return (
        *(point("support", one.text, papers, quotes) for one in review.support),
        *(point("contradiction", one.text, papers, quotes) for one in review.contradictions),
        *(point("suggestion", one.text, papers, quotes) for one in review.suggestions),
    )


def _all_quotes(assessments: Iterable[Assessment]) -> dict[PaperId, Quoted]:
    """For the summary: a verified quote of each paper if any method has one."""
    quotes: dict[PaperId, Quoted] = {}
    for citation in (reading.quote for one in assessments for reading in one.readings):
        if citation is None or citation.quote is None or citation.quote_state == "none":
            continue
        paper = paper_of(citation.label)
        if paper not in quotes or quotes[paper].state == "not_found":
            quotes[paper] = Quoted(words=citation.quote, state=citation.quote_state)
    return quotes


def _digest(assessment: Assessment, score: float, labels: Mapping[PaperId, str]) -> ReviewDigest:
    def texts(kind: str) -> tuple[str, ...]:
        return tuple(relabel(one.text, labels) for one in assessment.points if one.kind == kind)

    return ReviewDigest(
        name=assessment.name,
        score=score,
        support=texts("support"),
        contradictions=texts("contradiction"),
        suggestions=texts("suggestion"),
    )
