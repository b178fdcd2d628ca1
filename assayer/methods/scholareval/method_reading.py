"""Find and read papers for an idea's methods: search for each method, screen by title, and read each paper once for all
methods."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from assayer.citing.evidence import Evidence, Quoted, ask_about_all, batch_evidence, check_quote
from assayer.errors import AssayerError
from assayer.evaluation_context import EvaluationContext
from assayer.literature.library import list_ids_beyond_corpus, rate_field_coverage
from assayer.methods.scholareval import tasks
from assayer.methods.scholareval.candidate_order import (
    fuse_rankings,
    interleave_rankings,
    keep_near_papers,
    rerank_papers,
)
from assayer.methods.scholareval.first_look import shortlist_by_title
from assayer.methods.scholareval.options import ScholarEvalOptions
from assayer.methods.scholareval.paper_evidence import build_evidence, group_passages_by_paper
from assayer.methods.scholareval.schemas import LabelledText, MethodNote, PaperReading, ProposedMethod, ReadingQuestion
from assayer.models import FitLevel, Paper, PaperId, Passage
from assayer.run.concurrency import Failed, gather_settled


@dataclass(frozen=True)
class RelevantPaper:
    """A note on one method, taken from a paper, and whether its quote was found in the text shown."""

    shown: Evidence
    """The paper as shown in the prompt."""
    note: MethodNote
    quoted: Quoted | None

    @property
    def paper(self) -> PaperId:
        return self.shown.paper_id


class MethodCandidates(NamedTuple):
    """Search results for one method."""

    order: list[PaperId]
    """The papers found, most promising first."""
    passages: Sequence[Passage]
    nearness: Mapping[PaperId, float]
    """Cosine similarity between each paper and the method's description."""
    fit: FitLevel
    """Coverage of the field according to this search alone. Results of concurrent searches would depend on which
    finishes first."""


class MethodNotes(NamedTuple):
    """Result of reading the papers: notes, keyed by the methods' labels, and errors."""

    notes: Mapping[str, list[RelevantPaper]]
    errors: list[AssayerError]


class MethodReader:
    """Finds and reads the papers for one evaluation's methods."""

    def __init__(self, context: EvaluationContext[ScholarEvalOptions], fit: FitLevel) -> None:
        self._context, self._corpus_fit = context, fit
        self._library, self._run, self._options = context.library, context.run, context.options
        self.papers: dict[PaperId, Paper] = {}
        self.shown: dict[PaperId, Evidence] = {}

    async def search(self, method: ProposedMethod) -> MethodCandidates:
        """Search for a method: the papers with the best passages for each query, and the papers cited in those
        passages."""
        queries = [query for query in method.queries if query.strip()]
        by_query = await self._library.snippets(queries, self._options.snippets) if queries else []
        passages = [passage for papers_by_id in by_query for passage in papers_by_id]
        fit = rate_field_coverage(self._corpus_fit, list_ids_beyond_corpus(passages))
        papers_by_id = {passage.paper.id: passage.paper for passage in passages}
        cited_ids = dict.fromkeys(cite for passage in passages for cite in passage.cites if cite not in papers_by_id)
        papers_by_id |= {paper.id: paper for paper in await self._library.papers(list(cited_ids))}
        nearness = await self._library.similarity(f"{method.name}. {method.description}", list(papers_by_id))
        near_papers = keep_near_papers(papers_by_id, nearness, fit, self._options.least_similarity_in_poor_corpus)
        self._run.journal.record_dropped(
            "paper for a method",
            "not similar enough to the method, and the corpus does not cover the field",
            len(papers_by_id) - len(near_papers),
        )
        by_nearness = sorted(near_papers, key=lambda paper: (-nearness.get(paper, 0.0), paper))
        admitted_ids = set(near_papers)
        rankings = [
            [item.paper.id for item in reranked_papers if item.paper.id in admitted_ids] for reranked_papers in by_query
        ]
        likely = [papers_by_id[item] for item in fuse_rankings([by_nearness, *rankings])]
        query = f"{method.name}. {method.description}"
        reranked_papers = await rerank_papers(self._context.backends.reranker, query, likely, self._run.journal)
        order = reranked_papers[: self._options.papers_per_method]
        self._run.journal.record_dropped(
            "paper for a method", "ranked below the candidates of a method", len(near_papers) - len(order)
        )
        self.papers |= {paper: papers_by_id[paper] for paper in order}
        return MethodCandidates(order, passages, nearness, fit)

    async def read(
        self, parts: tuple[LabelledText, ...], candidates_by_method: Mapping[str, MethodCandidates]
    ) -> MethodNotes:
        """Read each paper that passes the title screening, once for all methods."""
        nearness: dict[PaperId, float] = {}
        passages = group_passages_by_paper(
            passage for item in candidates_by_method.values() for passage in item.passages
        )
        for item in candidates_by_method.values():
            for paper in item.order:
                nearness[paper] = max(nearness.get(paper, -1.0), item.nearness.get(paper, 0.0))
        papers = await self._screen_titles(parts, [item.order for item in candidates_by_method.values()], nearness)
        texts = await self._library.full_texts(papers) if papers else {}
        evidence = build_evidence(
            papers, self._run, self._options.evidence_chars, nearness, passages, texts, whole_abstracts=False
        )
        batches = batch_evidence(evidence, self._options.reading_batch, self._options.reading_batch_chars)
        outcomes = await gather_settled(batches, lambda batch: self._read_papers(parts, batch))
        sizes = [len(batch) for batch in batches]
        notes: dict[str, list[RelevantPaper]] = {part.label: [] for part in parts}
        for batch in self._run.keep_successes(outcomes, "paper read for the methods", sizes):
            for label, note in batch:
                notes[label].append(note)
        return MethodNotes(notes, [outcome.error for outcome in outcomes if isinstance(outcome, Failed)])

    async def _screen_titles(
        self, parts: tuple[LabelledText, ...], orders: Sequence[Sequence[PaperId]], nearness: Mapping[PaperId, float]
    ) -> list[Paper]:
        options = self._options
        all_papers = {paper for order in orders for paper in order}
        candidates = interleave_rankings(orders, options.looked_at or len(all_papers))
        self._run.journal.record_dropped(
            "paper for the methods", "ranked below the titles that were screened", len(all_papers) - len(candidates)
        )
        papers = [self.papers[candidate] for candidate in candidates]
        if not options.looked_at:
            return papers
        return await shortlist_by_title(self._context, "soundness", parts, papers, nearness)

    async def _read_papers(
        self, parts: tuple[LabelledText, ...], batch: tuple[Evidence, ...]
    ) -> list[tuple[str, RelevantPaper]]:
        evidence_by_label = {item.label: item for item in batch}

        async def ask_about(papers: tuple[Evidence, ...]) -> Sequence[PaperReading]:
            return (await self._context.ask(tasks.READING, ReadingQuestion(parts=parts, evidence=papers))).readings

        readings = await ask_about_all(batch, ask_about)
        self._run.journal.record_dropped(
            "paper reading", "not relevant to any method", sum(not reading.notes for reading in readings)
        )
        self.shown |= {item.paper_id: item for item in batch}
        return [
            (
                note.method,
                RelevantPaper(
                    evidence_by_label[reading.label], note, check_quote(note.quote, evidence_by_label[reading.label])
                ),
            )
            for reading in readings
            for note in reading.notes
        ]


def label_methods(methods: Sequence[ProposedMethod]) -> tuple[LabelledText, ...]:
    """Return the methods as shown in prompts, labelled from `M1`."""
    return tuple(
        LabelledText(label=f"M{number}", text=f"{method.name} ({method.kind})\n{method.description}")
        for number, method in enumerate(methods, start=1)
    )
