"""Contribution: dimensions → queries → relevance → augmentation, relevance → comparison → synthesis (6 levels)."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeVar

from assayer.citing.claim_numbers import KnownNumbers, numbers_in
from assayer.citing.claim_quotes import GivenQuote, Side, quoted_point
from assayer.citing.evidence import Evidence, Quoted, check_quote, citation_of, evidence_batches
from assayer.citing.labels import labelled, marker, plain
from assayer.errors import AssayerError
from assayer.literature.library import Library, field_coverage, near_beyond_corpus
from assayer.llm import Llm, ask
from assayer.methods.scholareval import tasks
from assayer.methods.scholareval.aggregation import leading_points, mean_score, score_or_absent, unreviewed_assessment
from assayer.methods.scholareval.options import ScholarEvalOptions
from assayer.methods.scholareval.paper_evidence import evidence_from_papers
from assayer.methods.scholareval.schemas import (
    ComparedPaper,
    ComparisonQuestion,
    ContributionDimension,
    DimensionReview,
    DimensionsQuestion,
    LabelledText,
    NoveltyStanding,
    NoveltyVerdict,
    QueriesQuestion,
    RelevanceQuestion,
    SynthesisQuestion,
)
from assayer.models import Absent, Assessment, FitLevel, Hit, Paper, PaperId, Part, Point, Reading
from assayer.run.run import Run
from assayer.run.structured_concurrency import Failed, attempt, each, together

__all__ = ["ContributionModule"]

Out = TypeVar("Out")

_STAGES = 5
_RANK_CONSTANT = 60
"""Of reciprocal rank fusion over queries (Cormack, Clarke and Büttcher, 2009)."""

_STANCE: dict[NoveltyStanding, Literal[-1, 0, 1] | None] = {
    "already_there": -1,
    "overlaps": 0,
    "goes_beyond": 1,
    "not_touched": None,
}
_SIDE: dict[NoveltyStanding, Side] = {
    "already_there": "against",
    "overlaps": "against",
    "goes_beyond": "for",
    "not_touched": "neither",
}
_NOT_COVERED = Absent(
    reason="The corpus does not cover this field: what is missing from it says nothing about novelty."
)
_NOT_COVERED_NOR_FOUND = Absent(
    reason="The corpus does not cover this field, and what a few searches beyond it did not find says nothing about "
    "novelty."
)


@dataclass(frozen=True)
class _PaperComparison:
    """One paper along one dimension."""

    paper: PaperId
    title: str
    year: int | None
    verdict: NoveltyVerdict
    quoted: Quoted | None
    numbers: frozenset[Decimal]
    """Of what was shown of the paper."""

    @property
    def touches_dimension(self) -> bool:
        return self.verdict.verdict != "not_touched"


class ContributionModule:
    """The contribution module of one evaluation. Texts and labels leave it as markers."""

    def __init__(
        self, llm: Llm, library: Library, run: Run, options: ScholarEvalOptions, idea: str, fit: FitLevel
    ) -> None:
        self._llm, self._library, self._run, self._options = llm, library, run, options
        self._idea, self._corpus_fit = idea, fit
        self._fit = fit
        """How well the field is covered by the corpus and this module's own searches, once they are done."""
        self.papers: dict[PaperId, Paper] = {}
        self._similarity: dict[PaperId, float] = {}
        """Cosine with the idea of every paper met so far."""
        self._search_errors: list[AssayerError] = []
        """What went wrong on the way to the comparisons: papers may be missing from them."""

    async def evaluate(self) -> Part:
        question = DimensionsQuestion(idea=self._idea, limit=self._options.dimensions)
        dimensions = (await ask(self._llm, tasks.DIMENSIONS, question, self._run)).dimensions
        self._run.journal.record_dropped(
            "dimension",
            "less central than those compared",
            max(0, len(dimensions) - self._options.dimensions),
        )
        dimensions = dimensions[: self._options.dimensions]
        self._report_progress(1)
        candidates = await self._find_candidates(dimensions)
        self._report_progress(2)
        relevance = await self._judge_relevance(candidates)
        seeds = [paper for paper in candidates if relevance.get(paper.id, 0) >= self._options.seed_score]
        added = await self._augment(seeds, candidates)
        relevance |= await self._judge_relevance(added)
        self._report_progress(3)
        closest = self._choose_for_comparison([*candidates, *added], relevance)
        compared = await self._compare(dimensions, closest)
        self._report_progress(4)
        assessments = await self._review_dimensions(dimensions, compared)
        self._report_progress(5)
        return Part(
            name="contribution",
            title="Contribution",
            score=mean_score(assessments, "dimension"),
            summary=leading_points(assessments),
            assessments=tuple(assessments),
        )

    def _report_progress(self, stage: int) -> None:
        self._run.report_progress("contribution", stage, _STAGES)

    async def _find_candidates(self, dimensions: Sequence[ContributionDimension]) -> list[Paper]:
        """Candidates from the queries of every statement, fused by reciprocal rank."""
        outcomes = await each(dimensions, self._search_dimension)
        ranked = [hits for found in self._keep_answers(outcomes, "search for a dimension") for hits in found]
        self._fit = field_coverage(self._corpus_fit, near_beyond_corpus(hit for hits in ranked for hit in hits))
        weights: dict[PaperId, float] = {}
        papers: dict[PaperId, Paper] = {}
        for hits in ranked:
            for rank, hit in enumerate(hits, start=1):
                papers[hit.paper.id] = hit.paper
                weights[hit.paper.id] = weights.get(hit.paper.id, 0.0) + 1 / (_RANK_CONSTANT + rank)
        order = sorted(papers, key=lambda one: (-weights[one], one))
        return await self._admitted([papers[one] for one in order])

    async def _search_dimension(self, dimension: ContributionDimension) -> list[list[Hit]]:
        statements = tuple(
            LabelledText(label=f"S{number}", text=text) for number, text in enumerate(dimension.statements, start=1)
        )
        question = QueriesQuestion(idea=self._idea, dimension=dimension.name, statements=statements)
        answer = await ask(self._llm, tasks.QUERIES, question, self._run)
        queries = [query for one in answer.queries for query in one.queries if query.strip()]
        return await self._library.search(queries, self._options.hits) if queries else []

    async def _admitted(self, papers: Sequence[Paper]) -> list[Paper]:
        """At most `candidates`; in a corpus that does not cover the field only those near in absolute terms."""
        least = getattr(self._options.admission, self._fit)
        await self._measure_similarity(papers)
        near = [paper for paper in papers if self._similarity.get(paper.id, 0.0) >= least]
        self._run.journal.record_dropped(
            "candidate paper",
            "too far from the idea, in a corpus that does not cover the field",
            len(papers) - len(near),
        )
        chosen = near[: self._options.candidates]
        self._run.journal.record_dropped(
            "candidate paper", "ranked below the candidates judged for relevance", len(near) - len(chosen)
        )
        return chosen

    async def _judge_relevance(self, papers: Sequence[Paper]) -> dict[PaperId, int]:
        """Relevance 0 to 5 of each paper; papers of a failed batch are missing, not zero."""
        evidence = evidence_from_papers(papers, self._run, self._options.evidence_chars, self._similarity)
        batched = evidence_batches(evidence, self._options.relevance_batch, self._options.reading_batch_chars * 2)

        async def judge(batch: tuple[Evidence, ...]) -> dict[PaperId, int]:
            question = RelevanceQuestion(idea=self._idea, evidence=batch)
            answer = await ask(self._llm, tasks.RELEVANCE, question, self._run)
            shown = {item.label: item.paper_id for item in batch}
            return {shown[one.label]: one.score for one in answer.judgements}

        outcomes = await each(batched, judge)
        judged = self._keep_answers(outcomes, "candidate paper", [len(batch) for batch in batched])
        return {paper: score for scores in judged for paper, score in scores.items()}

    def _keep_answers(
        self, outcomes: Sequence[Out | Failed], what: str, sizes: Sequence[int] | None = None
    ) -> list[Out]:
        self._search_errors += [outcome.error for outcome in outcomes if isinstance(outcome, Failed)]
        return self._run.keep_successes(outcomes, what, sizes)

    async def _augment(self, seeds: Sequence[Paper], known: Sequence[Paper]) -> list[Paper]:
        """Neighbours and references of the seeds that are not yet known, the nearest to the idea first."""
        ids = [paper.id for paper in seeds]
        if not ids:
            return []
        neighbours, references = await together(
            [
                self._library.neighbours(ids, self._options.neighbours),
                self._library.references(ids, self._options.references),
            ]
        )
        seen = {paper.id for paper in known}
        found = {
            paper.id: paper
            for one in ids
            for paper in [*neighbours.get(one, []), *references.get(one, [])]
            if paper.id not in seen
        }
        await self._measure_similarity(list(found.values()))
        return await self._admitted(sorted(found.values(), key=self._nearest_first))

    async def _measure_similarity(self, papers: Sequence[Paper]) -> None:
        new = [paper.id for paper in papers if paper.id not in self._similarity]
        self._similarity |= await self._library.similarity(self._idea, new)

    def _nearest_first(self, paper: Paper) -> tuple[float, PaperId]:
        return -self._similarity.get(paper.id, 0.0), paper.id

    def _choose_for_comparison(self, papers: Sequence[Paper], relevance: Mapping[PaperId, int]) -> list[Paper]:
        relevant = [paper for paper in papers if relevance.get(paper.id, 0) >= self._options.seed_score]
        judged = sum(paper.id in relevance for paper in papers)
        self._run.journal.record_dropped(
            "candidate paper", "judged not relevant to the contribution", judged - len(relevant)
        )
        order = sorted(relevant, key=lambda paper: (-relevance[paper.id], *self._nearest_first(paper)))
        chosen = order[: self._options.compared]
        self._run.journal.record_dropped(
            "candidate paper", "relevant, but ranked below those compared", len(order) - len(chosen)
        )
        self.papers |= {paper.id: paper for paper in chosen}
        return chosen

    async def _compare(
        self, dimensions: Sequence[ContributionDimension], papers: Sequence[Paper]
    ) -> dict[str, list[_PaperComparison]]:
        """Verdicts by dimension label, papers in order."""
        labelled_dimensions = tuple(
            LabelledText(label=f"D{number}", text=f"{one.name}: {' '.join(one.statements)}")
            for number, one in enumerate(dimensions, start=1)
        )
        evidence = evidence_from_papers(papers, self._run, self._options.evidence_chars, self._similarity)
        batched = evidence_batches(evidence, self._options.comparison_batch, self._options.reading_batch_chars)

        async def compare(batch: tuple[Evidence, ...]) -> list[tuple[str, _PaperComparison]]:
            question = ComparisonQuestion(idea=self._idea, dimensions=labelled_dimensions, evidence=batch)
            answer = await ask(self._llm, tasks.COMPARISON, question, self._run)
            shown = {item.label: item for item in batch}
            return [
                (verdict.dimension, _paper_comparison(shown[paper.label], verdict))
                for paper in answer.comparisons
                for verdict in paper.verdicts
            ]

        outcomes = await each(batched, compare)
        found: dict[str, list[_PaperComparison]] = {one.label: [] for one in labelled_dimensions}
        for batch in self._keep_answers(outcomes, "candidate paper", [len(batch) for batch in batched]):
            for label, compared in batch:
                found[label].append(compared)
        return found

    async def _review_dimensions(
        self, dimensions: Sequence[ContributionDimension], compared: Mapping[str, list[_PaperComparison]]
    ) -> list[Assessment]:
        touching_papers = {one.paper for found in compared.values() for one in found if one.touches_dimension}
        everything = {one.paper for found in compared.values() for one in found}
        self._run.journal.record_dropped(
            "candidate paper", "compared, but relevant to no dimension", len(everything - touching_papers)
        )
        pairs = [(one, compared[f"D{number}"]) for number, one in enumerate(dimensions, start=1)]
        outcomes = await each(pairs, lambda pair: self._review_dimension(*pair, shown=touching_papers))
        self._run.keep_successes(outcomes, "dimension")
        return [
            unreviewed_assessment(dimension.name, " ".join(dimension.statements), outcome.error)
            if isinstance(outcome, Failed)
            else outcome
            for (dimension, _), outcome in zip(pairs, outcomes, strict=True)
        ]

    async def _review_dimension(
        self, dimension: ContributionDimension, compared: Sequence[_PaperComparison], shown: Set[PaperId]
    ) -> Assessment:
        readings = tuple(_reading(one, numbers_in(self._idea)) for one in compared if one.paper in shown)
        name, statement = plain(dimension.name), plain(" ".join(dimension.statements))
        touching_papers = [one for one in compared if one.touches_dimension]
        reason = self._reason_not_to_judge(touching_papers)
        if reason is not None:
            return Assessment(name=name, statement=statement, score=reason, points=(), readings=readings)
        question = SynthesisQuestion(
            idea=self._idea,
            dimension=dimension,
            compared=tuple(_compared_paper(f"P{number}", one) for number, one in enumerate(touching_papers, start=1)),
            untouching=len(compared) - len(touching_papers),
            fit=self._fit,
        )
        review = await attempt(ask(self._llm, tasks.SYNTHESIS, question, self._run))
        if isinstance(review, Failed):
            self._run.keep_successes([review], "review of a dimension")
            absent = Absent(reason=f"Not reviewed: {review.error.reason}.")
            return Assessment(name=name, statement=statement, score=absent, points=(), readings=readings)
        return Assessment(
            name=name,
            statement=statement,
            score=_NOT_COVERED if self._fit == "poor" else score_or_absent(review.score, review.rationale),
            points=self._points(review, touching_papers),
            readings=readings,
        )

    def _points(self, review: DimensionReview, compared: Sequence[_PaperComparison]) -> tuple[Point, ...]:
        papers = labelled(one.paper for one in compared)
        given = [_given_quote(one) for one in compared]
        numbers = KnownNumbers(numbers_in(self._idea), {one.paper: one.numbers for one in compared})
        return (
            *(quoted_point("strength", one.text, papers, given, numbers) for one in review.strengths),
            *(quoted_point("weakness", one.text, papers, given, numbers) for one in review.weaknesses),
            *(quoted_point("suggestion", one.text, papers, given, numbers) for one in review.suggestions),
        )

    def _reason_not_to_judge(self, touching_papers: Sequence[_PaperComparison]) -> Absent | None:
        """Why a dimension that no paper touches cannot be judged: silence is no sign of novelty when the corpus
        does not cover the field, or when part of the search was lost."""
        if touching_papers:
            return None
        if self._search_errors:
            return Absent(
                reason=f"Not judged: part of the search for papers failed because {self._search_errors[0].reason}."
            )
        if self._fit == "good":
            return None
        return _NOT_COVERED if self._fit == self._corpus_fit else _NOT_COVERED_NOR_FOUND


def _paper_comparison(evidence: Evidence, verdict: NoveltyVerdict) -> _PaperComparison:
    return _PaperComparison(
        paper=evidence.paper_id,
        title=evidence.title,
        year=evidence.year,
        verdict=verdict,
        quoted=check_quote(verdict.quote, evidence),
        numbers=evidence.numbers,
    )


def _reading(compared: _PaperComparison, idea: Set[Decimal]) -> Reading:
    quoted, text = compared.quoted, plain(compared.verdict.reason)
    return Reading(
        label=marker(compared.paper),
        stance=_STANCE[compared.verdict.verdict],
        text=text,
        quote=citation_of(compared.paper, quoted) if quoted else None,
        numbers_not_found=KnownNumbers(idea, {compared.paper: compared.numbers}).missing_from(text, [compared.paper]),
    )


def _compared_paper(label: str, compared: _PaperComparison) -> ComparedPaper:
    verified = compared.quoted is not None and compared.quoted.state == "verified"
    return ComparedPaper(
        label=label,
        title=compared.title,
        year=compared.year,
        verdict=compared.verdict.verdict,
        reason=plain(compared.verdict.reason),
        quote=compared.quoted.words if compared.quoted and verified else "",
    )


def _given_quote(compared: _PaperComparison) -> GivenQuote:
    verdict = compared.verdict
    return GivenQuote(
        paper=compared.paper, side=_SIDE[verdict.verdict], statement=verdict.reason, quoted=compared.quoted
    )
