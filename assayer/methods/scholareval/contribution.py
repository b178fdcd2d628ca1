"""Contribution: dimensions → queries → relevance → augmentation, relevance → comparison → synthesis (6 levels)."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Literal, TypeVar

from assayer.errors import AssayerError
from assayer.evidence import Evidence, Quoted, check_quote, labelled, marker, plain, point
from assayer.flow import Failed, attempt, each, together
from assayer.library import Library
from assayer.methods.scholareval import tasks
from assayer.methods.scholareval.assessments import leading_points, overall, rating, unreviewed
from assayer.methods.scholareval.gathering import batches, evidence_of
from assayer.methods.scholareval.options import Options
from assayer.methods.scholareval.schemas import (
    ComparedPaper,
    ComparisonQuestion,
    Dimension,
    DimensionReview,
    DimensionsQuestion,
    FitLevel,
    Labelled,
    QueriesQuestion,
    RelevanceQuestion,
    Standing,
    SynthesisQuestion,
    Verdict,
)
from assayer.models import Absent, Assessment, Citation, Hit, Paper, PaperId, Part, Point, Reading
from assayer.ports import Llm
from assayer.run import Run
from assayer.tasks import ask

__all__ = ["Contribution"]

Out = TypeVar("Out")

_STAGES = 5
_RANK_CONSTANT = 60
"""Of reciprocal rank fusion over queries (Cormack, Clarke and Büttcher, 2009)."""

_STANCE: dict[Standing, Literal[-1, 0, 1] | None] = {
    "already_there": -1,
    "overlaps": 0,
    "goes_beyond": 1,
    "not_touched": None,
}
_SILENCE = Absent(reason="The corpus does not cover this field: what it does not contain says nothing about novelty.")
_SILENCE_BEYOND = Absent(
    reason="The corpus does not cover this field, and what a few searches beyond it did not find says nothing about "
    "novelty."
)


@dataclass(frozen=True)
class _Compared:
    """One paper along one dimension."""

    paper: PaperId
    title: str
    year: int | None
    verdict: Verdict
    quoted: Quoted | None

    @property
    def touches(self) -> bool:
        return self.verdict.verdict != "not_touched"


class Contribution:
    """The contribution module of one evaluation. Texts and labels leave it as markers."""

    def __init__(self, llm: Llm, library: Library, run: Run, options: Options, idea: str, fit: FitLevel) -> None:
        self._llm, self._library, self._run, self._options = llm, library, run, options
        self._idea, self._corpus_fit = idea, fit
        self.papers: dict[PaperId, Paper] = {}
        self._nearness: dict[PaperId, float] = {}
        """Cosine with the idea of every paper met so far."""
        self._lost: list[AssayerError] = []
        """What went wrong on the way to the comparisons: papers may be missing from them."""

    @property
    def _fit(self) -> FitLevel:
        return self._library.level(self._corpus_fit)

    async def evaluate(self) -> Part:
        question = DimensionsQuestion(idea=self._idea, limit=self._options.dimensions)
        dimensions = (await ask(self._llm, tasks.DIMENSIONS, question, self._run)).dimensions
        self._run.journal.drop(
            "dimension",
            "less central than those compared",
            max(0, len(dimensions) - self._options.dimensions),
        )
        dimensions = dimensions[: self._options.dimensions]
        self._tell(1)
        candidates = await self._discover(dimensions)
        self._tell(2)
        relevance = await self._judge(candidates)
        seeds = [paper for paper in candidates if relevance.get(paper.id, 0) >= self._options.seed_score]
        added = await self._augment(seeds, candidates)
        relevance |= await self._judge(added)
        self._tell(3)
        closest = self._closest([*candidates, *added], relevance)
        compared = await self._compare(dimensions, closest)
        self._tell(4)
        assessments = await self._synthesise(dimensions, compared)
        self._tell(5)
        return Part(
            name="contribution",
            title="Contribution",
            score=overall(assessments, "dimension"),
            summary=leading_points(assessments),
            assessments=tuple(assessments),
        )

    def _tell(self, stage: int) -> None:
        self._run.tell("contribution", stage, _STAGES)

    async def _discover(self, dimensions: Sequence[Dimension]) -> list[Paper]:
        """Candidates from the queries of every statement, fused by reciprocal rank."""
        outcomes = await each(dimensions, self._search)
        ranked = [hits for found in self._keep(outcomes, "search for a dimension") for hits in found]
        weights: dict[PaperId, float] = {}
        papers: dict[PaperId, Paper] = {}
        for hits in ranked:
            for rank, hit in enumerate(hits, start=1):
                papers[hit.paper.id] = hit.paper
                weights[hit.paper.id] = weights.get(hit.paper.id, 0.0) + 1 / (_RANK_CONSTANT + rank)
        order = sorted(papers, key=lambda one: (-weights[one], one))
        return await self._near([papers[one] for one in order])

    async def _search(self, dimension: Dimension) -> list[list[Hit]]:
        statements = tuple(
            Labelled(label=f"S{number}", text=text) for number, text in enumerate(dimension.statements, start=1)
        )
        question = QueriesQuestion(idea=self._idea, dimension=dimension.name, statements=statements)
        answer = await ask(self._llm, tasks.QUERIES, question, self._run)
        queries = [query for one in answer.queries for query in one.queries if query.strip()]
        return await self._library.search(queries, self._options.hits) if queries else []

    async def _near(self, papers: Sequence[Paper]) -> list[Paper]:
        """At most `candidates`; in a corpus that does not cover the field only those near in absolute terms."""
        least = getattr(self._options.admission, self._fit)
        await self._measure(papers)
        near = [paper for paper in papers if self._nearness.get(paper.id, 0.0) >= least]
        self._run.journal.drop(
            "candidate paper",
            "too far from the idea, in a corpus that does not cover the field",
            len(papers) - len(near),
        )
        chosen = near[: self._options.candidates]
        self._run.journal.drop(
            "candidate paper", "ranked below the candidates judged for relevance", len(near) - len(chosen)
        )
        return chosen

    async def _judge(self, papers: Sequence[Paper]) -> dict[PaperId, int]:
        """Relevance 0 to 5 of each paper; papers of a failed batch are missing, not zero."""
        evidence = evidence_of(papers, self._run, self._options.evidence_chars, self._nearness)
        batched = batches(evidence, self._options.relevance_batch, self._options.reading_batch_chars * 2)

        async def judge(batch: tuple[Evidence, ...]) -> dict[PaperId, int]:
            question = RelevanceQuestion(idea=self._idea, evidence=batch)
            answer = await ask(self._llm, tasks.RELEVANCE, question, self._run)
            shown = {item.label: item.paper_id for item in batch}
            return {shown[one.label]: one.score for one in answer.judgements}

        outcomes = await each(batched, judge)
        judged = self._keep(outcomes, "candidate paper", [len(batch) for batch in batched])
        return {paper: score for scores in judged for paper, score in scores.items()}

    def _keep(self, outcomes: Sequence[Out | Failed], what: str, sizes: Sequence[int] | None = None) -> list[Out]:
        self._lost += [outcome.error for outcome in outcomes if isinstance(outcome, Failed)]
        return self._run.keep(outcomes, what, sizes)

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
        await self._measure(list(found.values()))
        return await self._near(sorted(found.values(), key=self._distance))

    async def _measure(self, papers: Sequence[Paper]) -> None:
        new = [paper.id for paper in papers if paper.id not in self._nearness]
        self._nearness |= await self._library.similarity(self._idea, new)

    def _distance(self, paper: Paper) -> tuple[float, PaperId]:
        return -self._nearness.get(paper.id, 0.0), paper.id

    def _closest(self, papers: Sequence[Paper], relevance: Mapping[PaperId, int]) -> list[Paper]:
        relevant = [paper for paper in papers if relevance.get(paper.id, 0) >= self._options.seed_score]
        judged = sum(paper.id in relevance for paper in papers)
        self._run.journal.drop("candidate paper", "judged not relevant to the contribution", judged - len(relevant))
        order = sorted(relevant, key=lambda paper: (-relevance[paper.id], *self._distance(paper)))
        chosen = order[: self._options.compared]
        self._run.journal.drop("candidate paper", "relevant, but ranked below those compared", len(order) - len(chosen))
        self.papers |= {paper.id: paper for paper in chosen}
        return chosen

    async def _compare(self, dimensions: Sequence[Dimension], papers: Sequence[Paper]) -> dict[str, list[_Compared]]:
        """Verdicts by dimension label, papers in order."""
        labelled_dimensions = tuple(
            Labelled(label=f"D{number}", text=f"{one.name}: {' '.join(one.statements)}")
            for number, one in enumerate(dimensions, start=1)
        )
        evidence = evidence_of(papers, self._run, self._options.evidence_chars, self._nearness)
        batched = batches(evidence, self._options.comparison_batch, self._options.reading_batch_chars)

        async def compare(batch: tuple[Evidence, ...]) -> list[tuple[str, _Compared]]:
            question = ComparisonQuestion(idea=self._idea, dimensions=labelled_dimensions, evidence=batch)
            answer = await ask(self._llm, tasks.COMPARISON, question, self._run)
            shown = {item.label: item for item in batch}
            return [
                (verdict.dimension, _compared(shown[paper.label], verdict))
                for paper in answer.comparisons
                for verdict in paper.verdicts
            ]

        outcomes = await each(batched, compare)
        found: dict[str, list[_Compared]] = {one.label: [] for one in labelled_dimensions}
        for batch in self._keep(outcomes, "candidate paper", [len(batch) for batch in batched]):
            for label, compared in batch:
                found[label].append(compared)
        return found

    async def _synthesise(
        self, dimensions: Sequence[Dimension], compared: Mapping[str, list[_Compared]]
    ) -> list[Assessment]:
        touching = {one.paper for found in compared.values() for one in found if one.touches}
        everything = {one.paper for found in compared.values() for one in found}
        self._run.journal.drop("candidate paper", "compared, but touches no dimension", len(everything - touching))
        pairs = [(one, compared[f"D{number}"]) for number, one in enumerate(dimensions, start=1)]
        outcomes = await each(pairs, lambda pair: self._assess(*pair, shown=touching))
        self._run.keep(outcomes, "dimension")
        return [
            unreviewed(dimension.name, " ".join(dimension.statements), outcome.error)
            if isinstance(outcome, Failed)
            else outcome
            for (dimension, _), outcome in zip(pairs, outcomes, strict=True)
        ]

    async def _assess(self, dimension: Dimension, compared: Sequence[_Compared], shown: Set[PaperId]) -> Assessment:
        readings = tuple(_shown(one) for one in compared if one.paper in shown)
        name, statement = plain(dimension.name), plain(" ".join(dimension.statements))
        touching = [one for one in compared if one.touches]
        reason = self._no_question(touching)
        if reason is not None:
            return Assessment(name=name, statement=statement, score=reason, points=(), readings=readings)
        question = SynthesisQuestion(
            idea=self._idea,
            dimension=dimension,
            compared=tuple(_noted(f"P{number}", one) for number, one in enumerate(touching, start=1)),
            untouching=len(compared) - len(touching),
            fit=self._fit,
        )
        review = await attempt(ask(self._llm, tasks.SYNTHESIS, question, self._run))
        if isinstance(review, Failed):
            self._run.keep([review], "review of a dimension")
            absent = Absent(reason=f"Not reviewed: {review.error.reason}.")
            return Assessment(name=name, statement=statement, score=absent, points=(), readings=readings)
        return Assessment(
            name=name,
            statement=statement,
            score=_SILENCE if self._fit == "poor" else rating(review.score, review.rationale),
            points=_points(review, touching),
            readings=readings,
        )

    def _no_question(self, touching: Sequence[_Compared]) -> Absent | None:
        """Why a dimension that no paper touches cannot be judged: silence is no sign of novelty when the corpus
        does not cover the field, or when part of the search was lost."""
        if touching:
            return None
        if self._lost:
            return Absent(reason=f"Not judged: part of the search for papers was lost, as {self._lost[0].reason}.")
        if self._fit == "good":
            return None
        return _SILENCE if self._fit == self._corpus_fit else _SILENCE_BEYOND


def _compared(evidence: Evidence, verdict: Verdict) -> _Compared:
    return _Compared(
        paper=evidence.paper_id,
        title=evidence.title,
        year=evidence.year,
        verdict=verdict,
        quoted=check_quote(verdict.quote, evidence.shown),
    )


def _shown(compared: _Compared) -> Reading:
    quoted = compared.quoted
    return Reading(
        label=marker(compared.paper),
        stance=_STANCE[compared.verdict.verdict],
        text=plain(compared.verdict.reason),
        quote=Citation(label=marker(compared.paper), quote=quoted.words, quote_state=quoted.state) if quoted else None,
    )


def _noted(label: str, compared: _Compared) -> ComparedPaper:
    verified = compared.quoted is not None and compared.quoted.state == "verified"
    return ComparedPaper(
        label=label,
        title=compared.title,
        year=compared.year,
        verdict=compared.verdict.verdict,
        reason=plain(compared.verdict.reason),
        quote=compared.quoted.words if compared.quoted and verified else "",
    )


def _points(review: DimensionReview, compared: Sequence[_Compared]) -> tuple[Point, ...]:
    papers = labelled(one.paper for one in compared)
    quotes = {one.paper: one.quoted for one in compared if one.quoted}
    return (
        *(point("strength", one.text, papers, quotes) for one in review.strengths),
        *(point("weakness", one.text, papers, quotes) for one in review.weaknesses),
        *(point("suggestion", one.text, papers, quotes) for one in review.suggestions),
    )
