"""Contribution: dimensions and queries → look → comparison → augmentation, look → comparison → synthesis (6 levels)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from assayer.citing.claim_numbers import KnownNumbers, numbers_in
from assayer.citing.claim_quotes import GivenQuote, Side, quoted_point
from assayer.citing.evidence import Evidence, evidence_batches
from assayer.citing.labels import labelled, marker, plain
from assayer.errors import AssayerError
from assayer.literature.library import Library, field_coverage, near_beyond_corpus
from assayer.llm import Llm, ask
from assayer.methods.scholareval import tasks
from assayer.methods.scholareval.aggregation import leading_points, mean_score, score_or_absent, unreviewed_assessment
from assayer.methods.scholareval.candidate_order import fused, in_turn, reranked
from assayer.methods.scholareval.first_look import FirstLooker
from assayer.methods.scholareval.method_reading import RelevantPaper
from assayer.methods.scholareval.options import ScholarEvalOptions
from assayer.methods.scholareval.paper_comparison import PaperComparison
from assayer.methods.scholareval.paper_evidence import evidence_from_papers
from assayer.methods.scholareval.read_for_methods import ReadForMethods
from assayer.methods.scholareval.schemas import (
    ComparisonQuestion,
    ContributionDimension,
    DimensionReview,
    DimensionsQuestion,
    LabelledText,
    SynthesisQuestion,
)
from assayer.methods.scholareval.soundness import paper_note
from assayer.models import Absent, Assessment, FitLevel, Hit, Paper, PaperId, Part, Point, Reading
from assayer.ports import Reranker
from assayer.run.run import Run
from assayer.run.structured_concurrency import Failed, attempt, each, together

__all__ = ["ContributionModule"]

Out = TypeVar("Out")

_STAGES = 5

_UNTOUCHED = "Its text says nothing about this."
_NOT_COVERED = Absent(
    reason="The corpus does not cover this field: what is missing from it says nothing about novelty."
)
_NOT_COVERED_NOR_FOUND = Absent(
    reason="The corpus does not cover this field, and what a few searches beyond it did not find says nothing about "
    "novelty."
)


class _Compared(NamedTuple):
    touching: Mapping[str, list[PaperComparison]]
    """By the dimensions' labels, papers in order."""
    papers: list[PaperId]
    """All that were compared, whether they touch anything or not."""

    @property
    def seeds(self) -> list[PaperId]:
        return list(dict.fromkeys(one.paper for found in self.touching.values() for one in found))


class ContributionModule:
    """The contribution module of one evaluation. Texts and labels leave it as markers."""

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
        """`shared` brings what is read for the methods; None where nothing will be."""
        self._llm, self._library, self._run, self._options = llm, library, run, options
        self._shared = shared
        self._idea, self._corpus_fit, self._reranker = idea, fit, reranker
        self._fit = fit
        """How well the field is covered by the corpus and this module's own searches, once they are done."""
        self.papers: dict[PaperId, Paper] = {}
        self._similarity: dict[PaperId, float] = {}
        """Cosine with the idea of every paper met so far."""
        self._search_errors: list[AssayerError] = []
        """What went wrong on the way to the comparisons: papers may be missing from them."""

    async def evaluate(self) -> Part:
        self._report_progress(0)
        question = DimensionsQuestion(idea=self._idea, limit=self._options.dimensions)
        dimensions = (await ask(self._llm, tasks.DIMENSIONS, question, self._run)).dimensions
        self._run.journal.record_dropped(
            "dimension",
            "less central than those compared",
            max(0, len(dimensions) - self._options.dimensions),
        )
        dimensions = dimensions[: self._options.dimensions]
        parts = tuple(
            LabelledText(label=f"D{number}", text=f"{one.name}: {' '.join(one.statements)}")
            for number, one in enumerate(dimensions, start=1)
        )
        self._report_progress(1)
        candidates = await self._find_candidates(dimensions)
        self._report_progress(2)
        compared = await self._compare(parts, await self._opened(parts, candidates, self._options.looked_at))
        self._report_progress(3)
        added = await self._augment(compared.seeds, candidates)
        more = await self._compare(parts, await self._opened(parts, added, self._options.augmented))
        self._report_progress(4)
        assessments = await self._review_dimensions(dimensions, parts, _joined(compared, more))
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
        """Of each dimension the best in turn: by its queries' ranks, and by the reranker where there is one."""
        outcomes = await each(dimensions, self._search)
        found = self._keep_answers(outcomes, "search for a dimension")
        hits = [hit for one in found for ranked in one for hit in ranked]
        self._fit = field_coverage(self._corpus_fit, near_beyond_corpus(hits))
        papers = {hit.paper.id: hit.paper for hit in hits}
        searched = [one for one, outcome in zip(dimensions, outcomes, strict=True) if not isinstance(outcome, Failed)]
        orders = []
        for dimension, ranked in zip(searched, found, strict=True):
            order = [papers[one] for one in fused([[hit.paper.id for hit in some] for some in ranked])]
            orders.append(await reranked(self._reranker, " ".join(dimension.statements), order))
        return await self._admitted([papers[one] for one in in_turn(orders, len(papers))])

    async def _search(self, dimension: ContributionDimension) -> list[list[Hit]]:
        queries = [query for query in dimension.queries if query.strip()]
        return await self._library.search(queries, self._options.hits) if queries else []

    async def _opened(self, parts: tuple[LabelledText, ...], papers: Sequence[Paper], looked_at: int) -> list[Paper]:
        """What a first look at the titles lets pass."""
        chosen = list(papers[:looked_at]) if self._options.looked_at else list(papers)
        self._run.journal.record_dropped(
            "candidate paper", "ranked below the titles looked at", len(papers) - len(chosen)
        )
        if self._options.looked_at:
            looker = FirstLooker(self._llm, self._run, self._idea, "contribution", "candidate paper")
            chosen = await looker.worth_opening(parts, chosen, self._similarity, self._options.opened)
        compared = chosen[: self._options.compared]
        self._run.journal.record_dropped("candidate paper", "ranked below those compared", len(chosen) - len(compared))
        self.papers |= {paper.id: paper for paper in compared}
        return compared

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
        self._run.journal.record_dropped("candidate paper", "ranked below the candidates kept", len(near) - len(chosen))
        return chosen

    def _keep_answers(
        self, outcomes: Sequence[Out | Failed], what: str, sizes: Sequence[int] | None = None
    ) -> list[Out]:
        self._search_errors += [outcome.error for outcome in outcomes if isinstance(outcome, Failed)]
        return self._run.keep_successes(outcomes, what, sizes)

    async def _augment(self, ids: Sequence[PaperId], known: Sequence[Paper]) -> list[Paper]:
        """Neighbours and references of the papers that touch the contribution, as far as they are not yet known, the
        nearest to the idea first."""
        if not ids or not self._options.augmented:
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

    async def _compare(self, parts: tuple[LabelledText, ...], papers: Sequence[Paper]) -> _Compared:
        evidence = evidence_from_papers(papers, self._run, self._options.evidence_chars, self._similarity)
        if "comparison" in self._options.without:
            bare = [PaperComparison.of(item, None) for item in evidence]
            return _Compared({part.label: bare for part in parts}, [one.paper for one in bare])
        batched = evidence_batches(evidence, self._options.comparison_batch, self._options.reading_batch_chars)

        async def compare(batch: tuple[Evidence, ...]) -> list[tuple[str, PaperComparison]]:
            question = ComparisonQuestion(idea=self._idea, parts=parts, evidence=batch)
            answer = await ask(self._llm, tasks.COMPARISON, question, self._run)
            shown = {item.label: item for item in batch}
            return [
                (verdict.dimension, PaperComparison.of(shown[paper.label], verdict))
                for paper in answer.comparisons
                for verdict in paper.verdicts
            ]

        outcomes = await each(batched, compare)
        touching: dict[str, list[PaperComparison]] = {part.label: [] for part in parts}
        for found in self._keep_answers(outcomes, "candidate paper", [len(batch) for batch in batched]):
            for label, compared in found:
                touching[label].append(compared)
        answered = [
            item.paper_id
            for batch, outcome in zip(batched, outcomes, strict=True)
            if not isinstance(outcome, Failed)
            for item in batch
        ]
        return _Compared(touching, answered)

    async def _review_dimensions(
        self, dimensions: Sequence[ContributionDimension], parts: Sequence[LabelledText], compared: _Compared
    ) -> list[Assessment]:
        self._run.journal.record_dropped(
            "candidate paper", "compared, but relevant to no dimension", len(compared.papers) - len(compared.seeds)
        )
        pairs = [(one, compared.touching[part.label]) for one, part in zip(dimensions, parts, strict=True)]
        outcomes = await each(pairs, lambda pair: self._review_dimension(*pair, compared=compared))
        self._run.keep_successes(outcomes, "dimension")
        return [
            unreviewed_assessment(dimension.name, " ".join(dimension.statements), outcome.error)
            if isinstance(outcome, Failed)
            else outcome
            for (dimension, _), outcome in zip(pairs, outcomes, strict=True)
        ]

    async def _review_dimension(
        self, dimension: ContributionDimension, touching: Sequence[PaperComparison], compared: _Compared
    ) -> Assessment:
        readings = self._readings(touching, compared.seeds)
        name, statement = plain(dimension.name), plain(" ".join(dimension.statements))
        reason = self._reason_not_to_judge(touching)
        if reason is not None:
            return Assessment(name=name, statement=statement, score=reason, points=(), readings=readings)
        read = await self._shared.beside({one.paper for one in touching}) if self._shared else ()
        question = SynthesisQuestion(
            idea=self._idea,
            dimension=dimension,
            compared=tuple(one.for_synthesis(f"P{number}") for number, one in enumerate(touching, start=1)),
            untouching=len(compared.papers) - len(touching),
            read=tuple(paper_note(f"P{number}", one) for number, one in enumerate(read, start=len(touching) + 1)),
            fit=self._fit,
            day=self._run.cutoff,
        )
        review = await attempt(ask(self._llm, tasks.SYNTHESIS, question, self._run))
        if isinstance(review, Failed):
            self._run.keep_successes([review], "review of a dimension")
            absent = Absent(reason=f"Not reviewed: {review.error.reason}.")
            return Assessment(name=name, statement=statement, score=absent, points=(), readings=readings)
        return Assessment(
            name=name,
            statement=statement,
            score=_NOT_COVERED
            if self._fit == "poor"
            else score_or_absent(review.score, review.rationale, review.certainty),
            points=self._points(review, touching, read),
            readings=readings,
        )

    def _readings(self, touching: Sequence[PaperComparison], shown: Sequence[PaperId]) -> tuple[Reading, ...]:
        """Of every paper that touches any dimension; those that do not touch this one say so."""
        by_paper = {one.paper: one for one in touching}
        idea = numbers_in(self._idea)
        return tuple(
            by_paper[paper].reading(idea)
            if paper in by_paper
            else Reading(label=marker(paper), stance=None, text=_UNTOUCHED)
            for paper in shown
        )

    def _points(
        self, review: DimensionReview, compared: Sequence[PaperComparison], read: Sequence[RelevantPaper]
    ) -> tuple[Point, ...]:
        papers = labelled([*(one.paper for one in compared), *(one.paper for one in read)])
        given = [
            *(one.given_quote() for one in compared),
            *(quote for one in read for quote in _quotes_on_both_sides(one)),
        ]
        known = {one.paper: one.numbers for one in read} | {one.paper: one.numbers for one in compared}
        numbers = KnownNumbers(numbers_in(self._idea), known)
        shown = {one.paper: one.shown for one in read} | {one.paper: one.shown for one in compared}
        return (
            *(quoted_point("strength", one.text, papers, given, numbers, shown) for one in review.strengths),
            *(quoted_point("weakness", one.text, papers, given, numbers, shown) for one in review.weaknesses),
            *(quoted_point("suggestion", one.text, papers, given, numbers, shown) for one in review.suggestions),
        )

    def _reason_not_to_judge(self, touching: Sequence[PaperComparison]) -> Absent | None:
        """Why a dimension that no paper touches cannot be judged: silence is no sign of novelty when the corpus
        does not cover the field, or when part of the search was lost."""
        if touching:
            return None
        if self._search_errors:
            return Absent(
                reason=f"Not judged: part of the search for papers failed because {self._search_errors[0].reason}."
            )
        if self._fit == "good":
            return None
        return _NOT_COVERED if self._fit == self._corpus_fit else _NOT_COVERED_NOR_FOUND


def _joined(one: _Compared, other: _Compared) -> _Compared:
    touching = {label: [*found, *other.touching[label]] for label, found in one.touching.items()}
    return _Compared(touching, [*one.papers, *other.papers])


def _quotes_on_both_sides(source: RelevantPaper) -> list[GivenQuote]:
    """It was quoted for a method: what that says of the contribution is the reviewer's to tell."""
    if source.note is None:
        return []
    said = f"{source.note.did} {source.note.results}"
    sides: tuple[Side, ...] = ("for", "against")
    return [GivenQuote(paper=source.paper, side=side, statement=said, quoted=source.quoted) for side in sides]
