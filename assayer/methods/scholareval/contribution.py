"""Contribution module, in six stages: dimensions and queries → title screening → comparison → more papers, with title
screening → comparison → synthesis."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

from assayer.citing.claim_numbers import collect_numbers
from assayer.citing.evidence import Evidence, ask_about_all, batch_evidence
from assayer.citing.labels import build_marker, label_papers, strip_citations
from assayer.errors import AssayerError
from assayer.evaluation_context import EvaluationContext
from assayer.literature.library import list_ids_beyond_corpus, rate_field_coverage
from assayer.methods.points import PointWriter
from assayer.methods.scholareval import tasks
from assayer.methods.scholareval.aggregation import (
    build_score,
    build_unreviewed_assessment,
    compute_mean_score,
    select_leading_points,
)
from assayer.methods.scholareval.candidate_order import (
    fuse_rankings,
    interleave_rankings,
    keep_near_papers,
    rerank_papers,
)
from assayer.methods.scholareval.first_look import shortlist_by_title
from assayer.methods.scholareval.options import ScholarEvalOptions
from assayer.methods.scholareval.paper_comparison import PaperComparison
from assayer.methods.scholareval.paper_evidence import build_evidence
from assayer.methods.scholareval.schemas import (
    ComparisonQuestion,
    ContributionDimension,
    DimensionReview,
    DimensionsQuestion,
    LabelledText,
    PaperVerdicts,
    SynthesisQuestion,
)
from assayer.methods.scholareval.soundness_readings import SoundnessReadings
from assayer.models import Absent, Assessment, FitLevel, Hit, Paper, PaperId, Part, Point, Reading
from assayer.run.concurrency import Failed, gather_all, gather_settled

Out = TypeVar("Out")

_STAGES = 5

_UNTOUCHED = "Its text says nothing about this."
_NOT_COVERED = Absent(
    reason="The corpus does not cover this field, so the lack of earlier work in it says nothing about novelty."
)
_PARTLY_COVERED = Absent(
    reason="The corpus covers this field only in part, so the lack of earlier work in it says nothing about novelty."
)
_NOT_COVERED_NOR_FOUND = Absent(
    reason="The corpus does not cover this field, and a few searches elsewhere found nothing, which does not show "
    "novelty either."
)


class _Comparisons(NamedTuple):
    by_dimension: Mapping[str, list[PaperComparison]]
    """Comparisons, keyed by dimension label, in the order of the papers."""
    papers: list[PaperId]
    """All papers that were compared, including those that touch no dimension."""

    @property
    def seeds(self) -> list[PaperId]:
        return list(dict.fromkeys(item.paper for comparisons in self.by_dimension.values() for item in comparisons))


class ContributionModule:
    """The contribution module for one evaluation. Its texts cite papers by markers."""

    def __init__(
        self, context: EvaluationContext[ScholarEvalOptions], fit: FitLevel, readings: SoundnessReadings
    ) -> None:
        """`readings` supplies the papers that the soundness module read for the methods."""
        self._context, self._readings_for_methods = context, readings
        self._library, self._run, self._options = context.library, context.run, context.options
        self._idea, self._numbers = context.text, collect_numbers(context.text)
        self._corpus_fit = self._fit = fit
        """Coverage of the field by the corpus. `_fit` also takes this module's own searches into account once they
        finish."""
        self.papers: dict[PaperId, Paper] = {}
        self._similarity: dict[PaperId, float] = {}
        """Cosine similarity between the idea and every paper found so far."""
        self._search_errors: list[AssayerError] = []
        """Errors before the comparisons, which may therefore lack papers."""

    async def evaluate(self) -> Part:
        self._report_progress(0)
        question = DimensionsQuestion(idea=self._idea, limit=self._options.dimensions)
        dimensions = (await self._context.ask(tasks.DIMENSIONS, question)).dimensions
        self._run.journal.record_dropped(
            "dimension",
            "less central than those compared",
            max(0, len(dimensions) - self._options.dimensions),
        )
        dimensions = dimensions[: self._options.dimensions]
        parts = tuple(
            LabelledText(label=f"D{number}", text=f"{dimension.name}: {' '.join(dimension.statements)}")
            for number, dimension in enumerate(dimensions, start=1)
        )
        self._report_progress(1)
        candidates = await self._find_candidates(dimensions)
        self._report_progress(2)
        comparisons = await self._compare_papers(
            parts, await self._screen_titles(parts, candidates, self._options.looked_at)
        )
        self._report_progress(3)
        added_papers = await self._find_related_papers(comparisons.seeds, candidates)
        opened_papers = await self._screen_titles(parts, added_papers, self._options.augmented)
        for_methods = await self._list_papers_read_for_methods(
            [*comparisons.papers, *(paper.id for paper in opened_papers)]
        )
        further_comparisons = await self._compare_papers(parts, [*opened_papers, *for_methods])
        self._report_progress(4)
        assessments = await self._review_dimensions(
            dimensions, parts, _combine_comparisons(comparisons, further_comparisons)
        )
        self._report_progress(5)
        return Part(
            name="contribution",
            title="Contribution",
            score=compute_mean_score(assessments, "dimension"),
            summary=select_leading_points(assessments),
            assessments=tuple(assessments),
        )

    async def _list_papers_read_for_methods(self, compared_papers: Sequence[PaperId]) -> list[Paper]:
        """Return the nearest papers that were read for the methods but not compared yet: a paper near a method may also
        be near what the idea claims as new."""
        nearest = await self._readings_for_methods.select_excluding([self.papers[paper] for paper in compared_papers])
        papers = await self._keep_nearest(nearest)
        self.papers |= {paper.id: paper for paper in papers}
        return papers

    def _report_progress(self, stage: int) -> None:
        self._run.report_progress("contribution", stage, _STAGES)

    async def _find_candidates(self, dimensions: Sequence[ContributionDimension]) -> list[Paper]:
        """Search for each dimension, and return the best papers for each in turn, ranked by the dimension's queries and
        by the reranker if there is one."""
        outcomes = await gather_settled(dimensions, self._search_dimension)
        rankings_by_dimension = self._keep_answers(outcomes, "search for a dimension")
        hits = [hit for item in rankings_by_dimension for query_rankings in item for hit in query_rankings]
        self._fit = rate_field_coverage(self._corpus_fit, list_ids_beyond_corpus(hits))
        papers = {hit.paper.id: hit.paper for hit in hits}
        searched_dimensions = [
            item for item, outcome in zip(dimensions, outcomes, strict=True) if not isinstance(outcome, Failed)
        ]
        reranker, journal = self._context.backends.reranker, self._run.journal

        async def order_candidates(dimension: ContributionDimension, query_rankings: list[list[Hit]]) -> list[PaperId]:
            fused_order = fuse_rankings([[hit.paper.id for hit in item] for item in query_rankings])
            return await rerank_papers(
                reranker, " ".join(dimension.statements), [papers[item] for item in fused_order], journal
            )

        orders = await gather_all(
            order_candidates(*pair) for pair in zip(searched_dimensions, rankings_by_dimension, strict=True)
        )
        return await self._keep_nearest([papers[item] for item in interleave_rankings(orders, len(papers))])

    async def _search_dimension(self, dimension: ContributionDimension) -> list[list[Hit]]:
        queries = [query for query in dimension.queries if query.strip()]
        return await self._library.search(queries, self._options.hits) if queries else []

    async def _screen_titles(
        self, parts: tuple[LabelledText, ...], papers: Sequence[Paper], max_titles: int
    ) -> list[Paper]:
        """Return the papers that pass the title screening, up to the maximum number compared."""
        screened = list(papers[:max_titles]) if self._options.looked_at else list(papers)
        self._run.journal.record_dropped(
            "candidate paper", "ranked below the titles that were screened", len(papers) - len(screened)
        )
        if self._options.looked_at:
            screened = await shortlist_by_title(self._context, "contribution", parts, screened, self._similarity)
        compared_papers = screened[: self._options.compared]
        self._run.journal.record_dropped(
            "candidate paper", "ranked below those compared", len(screened) - len(compared_papers)
        )
        self.papers |= {paper.id: paper for paper in compared_papers}
        return compared_papers

    async def _keep_nearest(self, papers: Sequence[Paper]) -> list[Paper]:
        """Return up to `candidates` papers. If the corpus does not cover the field, papers below a minimum similarity
        are left out."""
        await self._measure_similarity(papers)
        min_similarity = self._options.least_similarity_in_poor_corpus
        by_id = {paper.id: paper for paper in papers}
        near_papers = [by_id[paper] for paper in keep_near_papers(by_id, self._similarity, self._fit, min_similarity)]
        self._run.journal.record_dropped(
            "candidate paper",
            "not similar enough to the idea, and the corpus does not cover the field",
            len(papers) - len(near_papers),
        )
        kept_papers = near_papers[: self._options.candidates]
        self._run.journal.record_dropped(
            "candidate paper", "ranked below the candidates kept", len(near_papers) - len(kept_papers)
        )
        return kept_papers

    def _keep_answers(
        self, outcomes: Sequence[Out | Failed], noun: str, sizes: Sequence[int] | None = None
    ) -> list[Out]:
        """Return the successful answers. Errors are recorded in the journal, and kept as a reason not to judge
        novelty."""
        self._search_errors += [outcome.error for outcome in outcomes if isinstance(outcome, Failed)]
        return self._run.keep_successes(outcomes, noun, sizes)

    async def _find_related_papers(self, ids: Sequence[PaperId], known_papers: Sequence[Paper]) -> list[Paper]:
        """Return new papers around those that touch the contribution: their neighbours and references, nearest to the
        idea first."""
        if not ids or not self._options.augmented:
            return []
        neighbours, references = await gather_all(
            [
                self._library.neighbours(ids, self._options.neighbours),
                self._library.references(ids, self._options.references),
            ]
        )
        known_ids = {paper.id for paper in known_papers}
        added_papers = {
            paper.id: paper
            for item in ids
            for paper in [*neighbours.get(item, []), *references.get(item, [])]
            if paper.id not in known_ids
        }
        await self._measure_similarity(list(added_papers.values()))
        return await self._keep_nearest(sorted(added_papers.values(), key=self._compute_sort_key))

    async def _measure_similarity(self, papers: Sequence[Paper]) -> None:
        new_ids = [paper.id for paper in papers if paper.id not in self._similarity]
        self._similarity |= await self._library.similarity(self._idea, new_ids)

    def _compute_sort_key(self, paper: Paper) -> tuple[float, PaperId]:
        return -self._similarity.get(paper.id, 0.0), paper.id

    async def _compare_papers(self, parts: tuple[LabelledText, ...], papers: Sequence[Paper]) -> _Comparisons:
        evidence = build_evidence(
            papers, self._run, self._options.evidence_chars, self._similarity, whole_abstracts=False
        )
        batches = batch_evidence(evidence, self._options.comparison_batch)

        async def ask_about(papers: tuple[Evidence, ...]) -> Sequence[PaperVerdicts]:
            question = ComparisonQuestion(parts=parts, evidence=papers)
            return (await self._context.ask(tasks.COMPARISON, question)).comparisons

        async def compare_batch(batch: tuple[Evidence, ...]) -> list[tuple[str, PaperComparison]]:
            evidence_by_label = {item.label: item for item in batch}
            return [
                (verdict.dimension, PaperComparison.from_verdict(evidence_by_label[paper.label], verdict))
                for paper in await ask_about_all(batch, ask_about)
                for verdict in paper.verdicts
            ]

        outcomes = await gather_settled(batches, compare_batch)
        by_dimension: dict[str, list[PaperComparison]] = {part.label: [] for part in parts}
        for labelled_comparisons in self._keep_answers(outcomes, "candidate paper", [len(batch) for batch in batches]):
            for label, comparison in labelled_comparisons:
                by_dimension[label].append(comparison)
        answered_papers = [
            item.paper_id
            for batch, outcome in zip(batches, outcomes, strict=True)
            if not isinstance(outcome, Failed)
            for item in batch
        ]
        return _Comparisons(by_dimension, answered_papers)

    async def _review_dimensions(
        self, dimensions: Sequence[ContributionDimension], parts: Sequence[LabelledText], comparisons: _Comparisons
    ) -> list[Assessment]:
        self._run.journal.record_dropped(
            "candidate paper",
            "compared, but relevant to no dimension",
            len(comparisons.papers) - len(comparisons.seeds),
        )
        pairs = [(item, comparisons.by_dimension[part.label]) for item, part in zip(dimensions, parts, strict=True)]
        outcomes = await gather_settled(pairs, lambda pair: self._review_dimension(*pair, comparisons=comparisons))
        self._run.keep_successes(outcomes, "dimension")
        return [
            build_unreviewed_assessment(dimension.name, " ".join(dimension.statements), outcome.error)
            if isinstance(outcome, Failed)
            else outcome
            for (dimension, _), outcome in zip(pairs, outcomes, strict=True)
        ]

    async def _review_dimension(
        self,
        dimension: ContributionDimension,
        dimension_comparisons: Sequence[PaperComparison],
        comparisons: _Comparisons,
    ) -> Assessment:
        readings = self._build_readings(dimension_comparisons, comparisons.seeds)
        name, statement = strip_citations(dimension.name), strip_citations(" ".join(dimension.statements))
        reason = self._explain_not_judging(dimension_comparisons)
        if reason is not None:
            return Assessment(name=name, statement=statement, score=reason, points=(), readings=readings)
        question = SynthesisQuestion(
            idea=self._idea,
            dimension=dimension,
            compared=tuple(
                item.build_compared_paper(f"P{number}") for number, item in enumerate(dimension_comparisons, start=1)
            ),
            untouching=len(comparisons.papers) - len(dimension_comparisons),
            fit=self._fit,
            day=self._run.cutoff,
        )
        review = await self._context.try_to_ask(tasks.SYNTHESIS, question, "review of a dimension")
        if isinstance(review, Failed):
            return build_unreviewed_assessment(name, statement, review.error, readings)
        return Assessment(
            name=name,
            statement=statement,
            score=_NOT_COVERED
            if self._fit == "poor"
            else build_score(review.score, review.rationale, review.certainty),
            points=self._build_points(review, dimension_comparisons),
            readings=readings,
        )

    def _build_readings(
        self, comparisons: Sequence[PaperComparison], paper_ids: Sequence[PaperId]
    ) -> tuple[Reading, ...]:
        """Return a reading for every paper that touches any dimension. If a paper does not touch this dimension, its
        reading says so."""
        by_paper = {item.paper: item for item in comparisons}
        return tuple(
            by_paper[paper].build_reading(self._numbers)
            if paper in by_paper
            else Reading(label=build_marker(paper), stance=None, text=_UNTOUCHED)
            for paper in paper_ids
        )

    def _build_points(self, review: DimensionReview, comparisons: Sequence[PaperComparison]) -> tuple[Point, ...]:
        papers, evidence_by_paper = (
            label_papers(item.paper for item in comparisons),
            {item.paper: item.shown for item in comparisons},
        )
        return PointWriter(
            papers, [item.build_given_quote() for item in comparisons], self._numbers, evidence_by_paper
        ).build_all_points(review)

    def _explain_not_judging(self, comparisons: Sequence[PaperComparison]) -> Absent | None:
        """Return why a dimension cannot be judged, or None if it can. If no paper touches it, that does not show
        novelty when the corpus does not cover the field or part of the search failed."""
        if comparisons:
            return None
        if self._search_errors:
            return Absent(
                reason=f"Not judged: part of the search for papers failed because {self._search_errors[0].reason}."
            )
        if self._fit == "good":
            return None
        if self._fit != self._corpus_fit:
            return _NOT_COVERED_NOR_FOUND
        return _PARTLY_COVERED if self._fit == "partial" else _NOT_COVERED


def _combine_comparisons(first: _Comparisons, second: _Comparisons) -> _Comparisons:
    by_dimension = {
        label: [*comparisons, *second.by_dimension[label]] for label, comparisons in first.by_dimension.items()
    }
    return _Comparisons(by_dimension, [*first.papers, *second.papers])
